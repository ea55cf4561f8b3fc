// Sends requests to the running daemon over the control socket in its data folder. Only the daemon knows live sessions.
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Config } from '../config.js';
import { USER_HEADER } from '../http/caller.js';
import { controlSocketPath } from '../parts/control-socket.js';
import { cliActor } from './actor.js';
import { CommandError } from './command.js';

const TIMEOUT_MS = 10_000;

/** A request to /api/v1; `path` is relative to it. */
export interface DaemonRequest {
  readonly method?: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly body?: unknown;
}

/**
 * Returns the response body.
 * @throws CommandError when no daemon runs, when this user may not connect to it, and for every status from 400
 */
export async function requestDaemon({ dataDir }: Config, request: DaemonRequest): Promise<unknown> {
  const response = await send(dataDir, request).catch((error: NodeJS.ErrnoException) => {
    if (error instanceof CommandError) throw error;
    if (isNotRunning(error)) throw new CommandError(NOT_RUNNING(dataDir));
    if (error.code === 'EACCES' || error.code === 'EPERM') {
      const todo = 'Run the command as root or as the user of the daemon.';
      throw new CommandError(`Permission denied: cannot connect to the daemon of ${dataDir}. ${todo}`);
    }
    throw new CommandError(`The daemon of ${dataDir} did not respond (${error.code ?? error.message}).`);
  });
  if (response.status < 400) return response.body;
  throw new CommandError(
    `The daemon refused the request: ${problemText(response.body) ?? `status ${response.status}`}.`,
  );
}

/** Like `requestDaemon`, but returns undefined when no daemon runs or the request fails. */
export async function requestDaemonIfRunning({ dataDir }: Config, request: DaemonRequest): Promise<unknown> {
  const response = await send(dataDir, request).catch(() => undefined);
  return response && response.status < 400 ? response.body : undefined;
}

const NOT_RUNNING = (dataDir: string): string =>
  `No daemon is running for ${dataDir}, so there are no sessions. Start it: systemctl start pulsegate, or pulsegate serve.\n` +
  'If it is running, give its configuration with --config FILE.';

const isNotRunning = ({ code }: NodeJS.ErrnoException): boolean =>
  code === 'ENOENT' || code === 'ECONNREFUSED' || code === 'ENOTDIR';

async function send(
  dataDir: string,
  { method = 'GET', path, body }: DaemonRequest,
): Promise<{ status: number; body: unknown }> {
  const socketPath = controlSocketPath(dataDir);
  if (socketPath === null) {
    const text = `The path ${dataDir} is too long for a Unix socket, so the daemon has no control socket. Use a shorter dataDir.`;
    throw new CommandError(text);
  }
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        socketPath,
        method,
        path: `/api/v1${path}`,
        timeout: TIMEOUT_MS,
        headers: {
          [USER_HEADER]: encodeURIComponent(cliActor().name),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
      },
      (response) => {
        text(response).then(
          (content) => resolve({ status: response.statusCode ?? 500, body: content && JSON.parse(content) }),
          reject,
        );
      },
    );
    sent.on('timeout', () => sent.destroy(Object.assign(new Error('timeout'), { code: 'ETIMEDOUT' })));
    sent.on('error', reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** The detail or title of a problem document (RFC 9457). */
function problemText(body: unknown): string | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  const { detail, title } = body as { detail?: unknown; title?: unknown };
  return [detail, title].find((each) => typeof each === 'string') as string | undefined;
}
