// The `socket` agent: writes the input to a Unix socket, ends its side, and reads the reply until the other side ends. A socket unit
// of systemd (Accept=yes) starts the agent's program for each connection, in a unit of its own.
import { connect } from 'node:net';
import type { Agent, AgentOutput } from '../../core/agents/runs.js';
import type { AgentSettings } from '../context.js';
import { callUntilStarted, collectReply, failed, tooLong } from './reply.js';

type SocketOptions = Pick<Extract<AgentSettings, { type: 'socket' }>, 'path' | 'maxReplyBytes'>;

/** `isStarted: false`: nobody accepted the connection. */
interface Result {
  readonly output: AgentOutput;
  readonly isStarted: boolean;
}

export function createSocketAgent(options: SocketOptions): Agent {
  return {
    async run(input, signal) {
      const request = JSON.stringify(input);
      const call = () => callSocket(options, request, signal);
      return (await callUntilStarted(call, ({ isStarted }) => !isStarted, signal)).output;
    },
  };
}

/** Never rejects: an aborted call is a failure. */
function callSocket({ path, maxReplyBytes }: SocketOptions, request: string, signal: AbortSignal) {
  return new Promise<Result>((resolve) => {
    const reply = collectReply(maxReplyBytes);
    const connection = connect({ path, signal });
    let isStarted = false;
    const end = (output: AgentOutput) => {
      resolve({ output, isStarted });
      connection.destroy();
    };
    connection.on('connect', () => {
      isStarted = true;
    });
    connection.on('data', (part) => {
      if (!reply.add(part)) end(failed(tooLong(maxReplyBytes)));
    });
    connection.on('end', () => {
      if (reply.isEmpty()) end(failed(`${path} closed the connection without a reply`));
      else end({ ok: true, reply: reply.text() });
    });
    connection.on('error', (error) => end(failed(faultOf(error, path))));
    connection.end(request);
  });
}

function faultOf(error: NodeJS.ErrnoException, path: string): string {
  switch (error.code) {
    case 'ENOENT':
      return `no such socket: ${path}`;
    case 'ECONNREFUSED':
      return `${path} refused the connection: it is no socket, or nothing listens on it`;
    case 'EACCES':
      return `${path}: permission denied: the daemon needs write permission for the socket (SocketGroup=)`;
    case 'EAGAIN':
      return `${path}: too many connections wait to be accepted`;
    // Linux resets a Unix socket whose other side was closed with bytes that nobody read.
    case 'ECONNRESET':
    case 'EPIPE':
      return `${path} closed the connection before the whole request was read: the agent did not start or ended early, or MaxConnections= is reached`;
    default:
      return `${path}: ${error.message}`;
  }
}
