// A test HTTP server that acts as an agent, a model or a receiver of replies: records requests and sends the configured responses.
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  // biome-ignore lint/suspicious/noExplicitAny: whatever the daemon sent, for assertions
  readonly json: any;
}

/**
 * Answers a request. The server sends the result as JSON (an object) or as text, unless the function has sent a response itself.
 */
export type Answer = (request: Received, res: ServerResponse, req: IncomingMessage) => unknown;

export interface AgentServer {
  readonly url: string;
  readonly requests: Received[];
  /** Replaces the previous function. */
  answer: Answer;
}

export async function startAgentServer(t: Pick<TestContext, 'after'>, answer: Answer): Promise<AgentServer> {
  const server = createServer(async (req, res) => {
    let body = '';
    for await (const part of req) body += part;
    const { method = '', url: path = '', headers } = req;
    const received = { method, path, headers, body, json: body === '' ? null : JSON.parse(body) };
    agentServer.requests.push(received);
    const reply = await agentServer.answer(received, res, req);
    if (res.writableEnded || res.destroyed || reply === undefined) return;
    res.setHeader('content-type', typeof reply === 'string' ? 'text/plain' : 'application/json');
    res.end(typeof reply === 'string' ? reply : JSON.stringify(reply));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const agentServer: AgentServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: [],
    answer,
  };
  return agentServer;
}
