// Calls operations of /api/v1: of the running daemon, over the control socket in its data folder, else in this process on the
// opened database. Types of input and answer are those of the routes.
import { existsSync, readFileSync } from 'node:fs';
import type { RequestOptions } from 'node:http';
import { dirname } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import type { z } from 'zod';
import type { Config, Loaded } from '../../config.js';
import { codeOf } from '../../core/errors.js';
import type { Problem } from '../../http/api/problem.js';
import {
  CONTROL_TOKEN_HEADER,
  FILE_TYPE,
  IDENTITY_PATH,
  RESTART_PATH,
  USER_HEADER,
} from '../../http/caller.js';
import type { Call } from '../../http/in-process.js';
import type { RestartState } from '../../http/plain-routes.js';
import {
  controlSocketPath,
  controlToken,
  controlTokenPath,
  identityOf,
} from '../../parts/admin/admin-listeners.js';
import type { Operation } from '../../parts/admin/command-api.js';
import type { Core } from '../../parts/core.js';
import { CommandError, cliActor, once } from './command.js';
import { openDatabase } from './store.js';

const TIMEOUT_MS = 10_000;
/** A change may wait for a locked database, or for one that fails over. */
const CHANGE_TIMEOUT_MS = 60_000;
/** A daemon that takes longer to say who it is counts as hung, and the command uses the database. */
const IDENTITY_TIMEOUT_MS = 2_000;

/** The daemon lets the program on disk check its configuration and the database. */
const RESTART_CHECK_TIMEOUT_MS = 90_000;

export type { RestartState };

/** `GET /tokens`: method and path below /api/v1. */
type NameOf<Route> = Route extends { endpoint: `${infer Method} /api/v1${infer Path}` }
  ? `${Method} ${Path}`
  : never;
type Operations = { readonly [Route in Operation as NameOf<Route>]: Route };

/** What a caller may give: also lists that nobody may change. */
type Given<Value> = Value extends readonly (infer Item)[]
  ? readonly Given<Item>[]
  : Value extends object
    ? { readonly [Name in keyof Value]: Given<Value[Name]> }
    : Value;
type Optional<Fields> = { readonly [Name in keyof Fields]: Fields[Name] | undefined };
type InputOf<Request> = (Request extends { params: infer Params } ? { params: z.input<Params> } : unknown) &
  (Request extends { query: infer Query } ? { query?: Optional<z.input<Query>> } : unknown) &
  (Request extends { body: infer Body } ? { body: Given<z.input<Body>> } : unknown) &
  (Request extends { raw: unknown } ? { content: Readable } : unknown) & { ifMatch?: string };
type AnswerOf<Responses> = Responses[keyof Responses] extends { schema: infer Schema }
  ? z.output<Schema>
  : Responses[keyof Responses] extends { contentType: string }
    ? Readable
    : undefined;

export type Answer<Name extends keyof Operations> = AnswerOf<Operations[Name]['responses']>;

export type ItemOf<Name extends keyof Operations> =
  Answer<Name> extends { readonly items: readonly (infer Item)[] } ? Item : never;
/** Operations whose answer is a list. */
export type ListName = {
  [Name in keyof Operations]: Answer<Name> extends { readonly items: readonly unknown[] } ? Name : never;
}[keyof Operations];

export interface Api {
  /** @throws Refused for every status from 400, CommandError when no answer comes */
  call<Name extends keyof Operations>(
    name: Name,
    ...input: object extends InputOf<Operations[Name]['request']>
      ? [input?: InputOf<Operations[Name]['request']>]
      : [input: InputOf<Operations[Name]['request']>]
  ): Promise<Answer<Name>>;
  /** Reads a list, in pages, until it has `limit` items or all. Returns the last page with the items of all pages. */
  list<Name extends 'GET /accounts' | 'GET /sessions'>(
    name: Name,
    query: InputOf<Operations[Name]['request']>['query'],
    limit?: number,
  ): Promise<Answer<Name>>;
}

/** Most items of one page of the daemon. */
const PAGE_SIZE = 1_000;

/** An operation that was refused. */
export class Refused extends CommandError {
  constructor(
    readonly problem: Partial<z.infer<typeof Problem>>,
    status = 400,
  ) {
    const [wrong] = problem.errors ?? [];
    const detail = problem.detail ?? problem.title ?? `status ${status}`;
    super(
      wrong
        ? `${wrong.path.replace(/^(body|query|path)\./, '')}: ${wrong.message}.`
        : `${detail.charAt(0).toUpperCase()}${detail.slice(1)}.`,
    );
  }
}

/**
 * Says refusals in a command's own words: `texts` by the code of the reason, by the wrong field with and without the code of its
 * error, or by the code of the problem.
 */
export async function worded<Answer>(
  answer: Promise<Answer>,
  texts: Readonly<Record<string, string | CommandError>>,
): Promise<Answer> {
  return answer.catch((error: unknown) => {
    if (!(error instanceof Refused)) throw error;
    const { reason, errors: [wrong] = [], code } = error.problem;
    const keys = [reason?.code, wrong && `${wrong.path} ${wrong.code}`, wrong?.path, code];
    const found = keys.find((key) => key !== undefined && Object.hasOwn(texts, key));
    const said = found === undefined ? error : texts[found];
    throw typeof said === 'string' ? new CommandError(said) : said;
  });
}

/** How often `unlessChangedMeanwhile` begins again. */
const MAX_TRIES = 10;

/** Returns the result of `change`, which reads and changes a version; it begins again when another change came in between. */
export async function unlessChangedMeanwhile<Result>(
  change: () => Promise<Result>,
  tries = MAX_TRIES,
): Promise<Result> {
  return change().catch((error: unknown) => {
    const isChanged = error instanceof Refused && error.problem.code === 'changed-meanwhile';
    if (!isChanged || tries === 1) throw error;
    return unlessChangedMeanwhile(change, tries - 1);
  });
}

/** What a command works with, each opened by its first use. */
export interface Opened extends Api {
  /** The API of the database, also when the daemon runs. */
  database(): Promise<Api>;
  /** The database, for work that a command does by itself. */
  core(): Promise<Core>;
  /** Closes the database, if it is open. */
  close(): Promise<void>;
}

/**
 * Its `call` asks the running daemon, if it has this version and this database and answers; otherwise the database, which is
 * created only with `mayCreate`. Errors of its writes that the answer does not contain go to `onError`.
 * All throw CommandError when there is no database, and StartError like openCore.
 */
export function openLazily(
  load: () => Promise<Loaded>,
  mayCreate: () => boolean,
  onError: (error: unknown) => void,
): Opened {
  let opened: Promise<Core> | undefined;
  const core = once(async () => {
    opened = openDatabase(await load(), mayCreate());
    return opened;
  });
  const database = once(async () => {
    const { openCommandApi } = await import('../../parts/admin/command-api.js');
    return apiOver(await openCommandApi(await core(), (await load()).config, cliActor().name, onError));
  });
  const api = once(async () => {
    const { config } = await load();
    return (await isDaemonOf(config)) ? daemonApi(config) : database();
  });
  return {
    call: (async (...given: Parameters<Api['call']>) => (await api()).call(...given)) as Api['call'],
    list: async (...given) => (await api()).list(...given),
    database,
    core,
    close: async () => (await opened?.catch(() => undefined))?.store.close(),
  };
}

/** The API of the running daemon. Its calls throw CommandError when none runs, or when this user may not connect to it. */
export function daemonApi(config: Config): Api {
  return apiOver(async ({ path, params, query, ...sent }) => {
    const filled = path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(params[name] ?? ''));
    const timeout = sent.content ? 0 : sent.method === 'GET' ? TIMEOUT_MS : CHANGE_TIMEOUT_MS;
    return askDaemon(config, { path: `/api/v1${filled}?${query}`, timeout }, sent);
  });
}

/** Asks the running daemon to restart. @throws CommandError with the reason why it does not, and as daemonApi */
export async function restartDaemon(config: Config): Promise<RestartState> {
  const to = { path: RESTART_PATH, timeout: RESTART_CHECK_TIMEOUT_MS };
  const { status, body } = await askDaemon(config, to, { method: 'POST' });
  const state = Object(body) as RestartState;
  if (status === 409)
    throw new CommandError(`The daemon is not restarted, and continues as before.\n${state.problem}`);
  if (state.instance === undefined) throw new CommandError(NO_RESTART);
  return state;
}

/** Null while the daemon does not answer: its program is being replaced. */
export async function restartState(config: Config): Promise<RestartState | null> {
  const socketPath = controlSocketPath(config.dataDir) ?? '';
  const to = { socketPath, path: RESTART_PATH, timeout: IDENTITY_TIMEOUT_MS };
  const answer = await exchange(to, { method: 'GET' }).catch(() => null);
  return answer && (Object(answer.body) as RestartState);
}

/** @throws CommandError when no daemon runs, or when this user may not connect to it */
async function askDaemon({ dataDir }: Config, to: RequestOptions, sent: Partial<Call>) {
  const socketPath = controlSocketPath(dataDir);
  if (socketPath === null) throw new CommandError(TOO_LONG(dataDir));
  const answer = await exchange({ ...to, socketPath }, sent).catch(
    ({ code, message }: NodeJS.ErrnoException) => {
      if (['ENOENT', 'ECONNREFUSED', 'ENOTDIR'].includes(code ?? ''))
        throw new CommandError(NOT_RUNNING(dataDir));
      if (code === 'EACCES' || code === 'EPERM') throw new CommandError(NOT_PERMITTED(dataDir));
      throw new CommandError(`The daemon of ${dataDir} did not respond (${code ?? message}).`);
    },
  );
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

const NO_RESTART =
  'The running daemon is of a version that cannot do this. Restart it: systemctl restart pulsegate';
const TOO_LONG = (dataDir: string): string =>
  `The path ${dataDir} is too long for a Unix socket, so the daemon has no control socket. Use a shorter dataDir.`;
const NOT_RUNNING = (dataDir: string): string =>
  `No daemon is running for ${dataDir}, and this command needs one. Start it: systemctl start pulsegate, or pulsegate serve.\n` +
  'If it is running, give its configuration with --config FILE.';
const NOT_PERMITTED = (dataDir: string): string =>
  `Permission denied: cannot connect to the daemon of ${dataDir}. Run the command as root or as the user of the daemon.`;

async function isDaemonOf(config: Config): Promise<boolean> {
  const socketPath = controlSocketPath(config.dataDir);
  if (socketPath === null || !existsSync(socketPath)) return false;
  const asked = exchange(
    { socketPath, path: IDENTITY_PATH, timeout: IDENTITY_TIMEOUT_MS },
    { method: 'GET' },
  );
  const answer = await asked.catch(() => undefined);
  return answer !== undefined && answer.body === identityOf(config);
}

// biome-ignore lint/suspicious/noExplicitAny: the types of an answer are those of its operation
function apiOver(send: (call: Call) => Promise<{ status: number; body: any }>): Api {
  const call = async (name: string, input: Omit<Partial<Call>, 'query'> & { query?: object } = {}) => {
    const [method = '', path = ''] = name.split(' ');
    const { params = {}, query = {}, ...sent } = input;
    const search = new URLSearchParams();
    for (const [key, value] of Object.entries(query)) if (value !== undefined) search.set(key, String(value));
    const answer = await send({ method, path, params, query: search, ...sent });
    if (answer.status < 400) return answer.body;
    throw new Refused(Object(answer.body) as Refused['problem'], answer.status);
  };
  const list = async (name: string, query: object, limit = Infinity) => {
    const items: unknown[] = [];
    for (let cursor: string | undefined; ; ) {
      const size = Math.min(PAGE_SIZE, limit - items.length);
      const page = await call(name, {
        query: { ...query, limit: size, cursor },
        isWhole: limit === Infinity,
      });
      items.push(...page.items);
      if (page.nextCursor === null || items.length >= limit) return { ...page, items };
      cursor = page.nextCursor;
    }
  };
  return { call, list } as Api;
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
