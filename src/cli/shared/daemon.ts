// Requests to the running daemon, over the control socket in its data folder. Loaded late: sessions wait for `serve`, which asks none.
import { existsSync, readFileSync } from 'node:fs';
import type { RequestOptions } from 'node:http';
import { dirname } from 'node:path';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import type { Config } from '../../config.js';
import { codeOf } from '../../core/errors.js';
import { CONTROL_TOKEN_HEADER, FILE_TYPE, IDENTITY_PATH, USER_HEADER } from '../../http/caller.js';
import type { Call } from '../../http/in-process.js';
import {
  controlSocketPath,
  controlToken,
  controlTokenPath,
  identityOf,
} from '../../parts/admin/admin-listeners.js';
import { apiOver } from './api.js';
import { CommandError, cliActor } from './command.js';

const TIMEOUT_MS = 10_000;
/** A change may wait for a locked database, or for one that fails over. */
const CHANGE_TIMEOUT_MS = 60_000;
/** A daemon that takes longer to say who it is counts as hung, and the command uses the database. */
const IDENTITY_TIMEOUT_MS = 2_000;

/** The API of the running daemon. Its calls throw like `askDaemon`. */
export const daemonApi = (config: Config) => apiOver((call) => callDaemon(config, call));

export function callDaemon(config: Config, { path, params, query, ...sent }: Call) {
  const filled = path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(params[name] ?? ''));
  const timeout = sent.content ? 0 : sent.method === 'GET' ? TIMEOUT_MS : CHANGE_TIMEOUT_MS;
  return askDaemon(config, { path: `/api/v1${filled}?${query}`, timeout }, sent);
}

/** @throws CommandError when no daemon runs, or when this user may not connect to it */
export async function askDaemon({ dataDir }: Config, to: RequestOptions, sent: Partial<Call>) {
  const socketPath = controlSocketPath(dataDir);
  if (socketPath === null)
    throw new CommandError(
      `The path ${dataDir} is too long for a Unix socket, so the daemon has no control socket. Use a shorter dataDir.`,
    );
  const answer = await exchange({ ...to, socketPath }, sent).catch((error: Error) => {
    throw new CommandError(noAnswer(dataDir, codeOf(error) ?? error.message));
  });
  if (answer.status === 401) throw tokenRefused(dataDir);
  return answer;
}

/** The control socket answers 401 to a command that does not send the daemon's token. */
function tokenRefused(dataDir: string): CommandError {
  const file = controlTokenPath(dataDir);
  let why = 'is not that of the running daemon. Another daemon may have written it: restart this one.';
  try {
    readFileSync(file);
  } catch (error) {
    why = `cannot be read (${codeOf(error)}). Run the command as root or as the user of the daemon.`;
  }
  return new CommandError(`The daemon of ${dataDir} has refused the command: the token in ${file} ${why}`);
}

function noAnswer(dataDir: string, code: string): string {
  if (['ENOENT', 'ECONNREFUSED', 'ENOTDIR'].includes(code))
    return `No daemon is running for ${dataDir}, and this command needs one. Start it: systemctl start pulsegate, or pulsegate serve.\nIf it is running, give its configuration with --config FILE.`;
  if (code === 'EACCES' || code === 'EPERM')
    return `Permission denied: cannot connect to the daemon of ${dataDir}. Run the command as root or as the user of the daemon.`;
  return `The daemon of ${dataDir} did not respond (${code}).`;
}

/** Whether a running daemon has this version and this database, and answers. */
export async function isDaemonOf(config: Config): Promise<boolean> {
  const socketPath = controlSocketPath(config.dataDir);
  if (socketPath === null || !existsSync(socketPath)) return false;
  const to = { socketPath, path: IDENTITY_PATH, timeout: IDENTITY_TIMEOUT_MS };
  const answer = await exchange(to, { method: 'GET' }).catch(() => undefined);
  return answer !== undefined && answer.body === identityOf(config);
}

/** Sends a request, and reads the JSON of its response; '' without a body, and a stream of anything else. */
async function exchange(to: RequestOptions, { method, body, content, ifMatch }: Partial<Call>) {
  // Loaded here, because most commands without a daemon need no network. Kept code (bin/load.js) cannot import.
  const { request } = process.getBuiltinModule('node:http');
  return new Promise<{ status: number; body: unknown }>((resolve, reject) => {
    const headers = {
      [CONTROL_TOKEN_HEADER]: controlToken(dirname(to.socketPath ?? '')),
      [USER_HEADER]: encodeURIComponent(cliActor().name),
      ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(content === undefined ? {} : { 'content-type': FILE_TYPE }),
    };
    const sent = request({ ...to, method, headers }, (response) => {
      const { statusCode: status = 500, headers: received } = response;
      if (received['content-disposition'] !== undefined) {
        sent.setTimeout(0);
        return resolve({ status, body: response });
      }
      text(response).then((json) => resolve({ status, body: json && JSON.parse(json) }), reject);
    });
    sent.on('timeout', () => sent.destroy(Object.assign(new Error('timeout'), { code: 'ETIMEDOUT' })));
    sent.on('error', reject);
    if (content) pipeline(content, sent).catch(reject);
    else sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}
