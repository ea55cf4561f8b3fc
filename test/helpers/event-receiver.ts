// A receiver of events: an HTTP server that keeps what it gets.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventually } from './eventually.js';
import type { Scope } from './suite.js';

export interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly json: { id: string; type: string; data: Record<string, unknown> };
}

/** @param statuses of the next answers, for notices that `matches` */
export async function startReceiver(
  t: Scope,
  statuses: number[] = [],
  matches: (notice: Received['json']) => boolean = () => true,
) {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += part;
    const json: Received['json'] = JSON.parse(body);
    received.push({ headers: request.headers, body, json });
    response.statusCode = (matches(json) ? statuses.shift() : undefined) ?? 204;
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const waitFor = async (type: string, count = 1) => {
    const ofType = () => received.filter(({ json }) => json.type === type);
    const shown = () => `no ${type}: ${JSON.stringify(received.map(({ json }) => json))}`;
    await eventually(() => assert.ok(ofType().length >= count, shown()));
    return ofType();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, received, waitFor };
}

/** Fails unless the delivery has the signature of Standard Webhooks by this `whsec_…`. */
export function assertSigned({ headers, body }: Received, secret: string): void {
  const { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': signature } = headers;
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  assert.equal(signature, `v1,${createHmac('sha256', key).update(`${id}.${at}.${body}`).digest('base64')}`);
  assert.ok(Math.abs(Number(at) - Date.now() / 1000) < 300);
}
