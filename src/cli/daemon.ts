// Asks the running daemon, over the control socket in its data folder: live sessions are in its memory alone.
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Config } from '../config.js';
import { USER_HEADER } from '../http/caller.js';
import { controlSocketPath } from '../parts/control-socket.js';
import { cliActor } from './actor.js';
import { CommandError } from './command.js';

const TIMEOUT_MS = 10_000;

/** A request of /api/v1; `path` begins behind it. */
export interface Question {
  readonly method?: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly body?: unknown;
}

/**
 * The body of the daemon's answer.
 * @throws CommandError where no daemon runs, where this user may not ask it, and for every answer but a success
 */
export async function askDaemon({ dataDir }: Config, question: Question): Promise<unknown> {
  const answer = await ask(dataDir, question).catch((error: NodeJS.ErrnoException) => {
    if (error instanceof CommandError) throw error;
    if (isNobodyThere(error)) throw new CommandError(NOT_RUNNING(dataDir));
    if (error.code === 'EACCES' || error.code === 'EPERM') {
      const todo = 'Run the command as root or as the user that the daemon runs as.';
      throw new CommandError(`This user may not ask the daemon of ${dataDir}. ${todo}`);
    }
    throw new CommandError(`The daemon of ${dataDir} did not answer (${error.code ?? error.message}).`);
  });
  if (answer.status < 400) return answer.body;
  throw new CommandError(`The daemon refused: ${faultOf(answer.body) ?? `status ${answer.status}`}.`);
}

/** The same, but undefined where no daemon runs. */
export async function askDaemonIfThere({ dataDir }: Config, question: Question): Promise<unknown> {
  const answer = await ask(dataDir, question).catch(() => undefined);
  return answer && answer.status < 400 ? answer.body : undefined;
}

const NOT_RUNNING = (dataDir: string): string =>
  `No daemon runs on ${dataDir}, so there are no sessions. Start it: systemctl start pulsegate, or pulsegate serve.\n` +
  'If one runs, give its configuration with --config FILE.';

const isNobodyThere = ({ code }: NodeJS.ErrnoException): boolean =>
  code === 'ENOENT' || code === 'ECONNREFUSED' || code === 'ENOTDIR';

async function ask(
  dataDir: string,
  { method = 'GET', path, body }: Question,
): Promise<{ status: number; body: unknown }> {
  const socketPath = controlSocketPath(dataDir);
  if (socketPath === null) {
    const text = `The path ${dataDir} is too long for a socket, so the daemon cannot be asked. Choose a shorter dataDir.`;
    throw new CommandError(text);
  }
  return new Promise((resolve, reject) => {
    const asking = request(
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
    asking.on('timeout', () => asking.destroy(Object.assign(new Error('timeout'), { code: 'ETIMEDOUT' })));
    asking.on('error', reject);
    asking.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** What a problem (RFC 9457) says. */
function faultOf(body: unknown): string | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  const { detail, title } = body as { detail?: unknown; title?: unknown };
  return [detail, title].find((each) => typeof each === 'string') as string | undefined;
}
