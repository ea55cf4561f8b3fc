// Calls operations of /api/v1: of the running daemon, over the control socket in its data folder, else in this process on the
// opened database. Types of input and answer are those of the routes.
import { existsSync } from 'node:fs';
import type { RequestOptions } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import type { z } from 'zod';
import type { Config, Loaded } from '../../config.js';
import type { Problem } from '../../http/api/problem.js';
import { IDENTITY_PATH, USER_HEADER } from '../../http/caller.js';
import type { Call } from '../../http/in-process.js';
import type { Operation } from '../../parts/admin/command-api.js';
import { controlSocketPath, identityOf } from '../../parts/admin/control-socket.js';
import type { Core } from '../../parts/core.js';
import { cliActor } from './actor.js';
import { CommandError, once } from './command.js';
import { openDatabase } from './store.js';

const TIMEOUT_MS = 10_000;
/** A change may wait for a locked database, or for one that fails over. */
const CHANGE_TIMEOUT_MS = 60_000;
/** A daemon that takes longer to say who it is counts as hung, and the command uses the database. */
const IDENTITY_TIMEOUT_MS = 2_000;

/** The daemon applies changes of the database within a second. */
const FOLLOWED_WITHIN_MS = 1_000;
const FOLLOW_POLL_MS = 50;

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
  (Request extends { body: infer Body } ? { body: Given<z.input<Body>> } : unknown) & { ifMatch?: string };
type AnswerOf<Responses> = Responses[keyof Responses] extends { schema: infer Schema }
  ? z.output<Schema>
  : undefined;

export type Answer<Name extends keyof Operations> = AnswerOf<Operations[Name]['responses']>;

export interface Api {
  /** @throws Refused for every status from 400, CommandError when no answer comes */
  call<Name extends keyof Operations>(
    name: Name,
    ...input: object extends InputOf<Operations[Name]['request']>
      ? [input?: InputOf<Operations[Name]['request']>]
      : [input: InputOf<Operations[Name]['request']>]
  ): Promise<Answer<Name>>;
}

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
 * created only with `mayCreate`.
 * All throw CommandError when there is no database, and StartError like openCore.
 */
export function openLazily(load: () => Promise<Loaded>, mayCreate: () => boolean): Opened {
  let opened: Promise<Core> | undefined;
  const core = once(async () => {
    opened = openDatabase(await load(), mayCreate());
    return opened;
  });
  const database = once(async () => {
    const { openCommandApi } = await import('../../parts/admin/command-api.js');
    return apiOver(await openCommandApi(await core(), (await load()).config, cliActor().name));
  });
  const api = once(async () => {
    const { config } = await load();
    return (await isDaemonOf(config)) ? daemonApi(config) : database();
  });
  return {
    call: (async (...given: Parameters<Api['call']>) => (await api()).call(...given)) as Api['call'],
    database,
    core,
    close: async () => (await opened?.catch(() => undefined))?.store.close(),
  };
}

/**
 * Resolves when the running daemon, if there is one, has read the account that this command wrote in the database: the next command
 * may ask the daemon.
 */
export async function untilDaemonHas(
  id: string,
  run: Pick<Opened, 'database'>,
  { config }: Loaded,
): Promise<void> {
  const until = Date.now() + FOLLOWED_WITHIN_MS;
  const etagIn = ({ call }: Api) => call('GET /accounts/{id}', { params: { id } }).then(({ etag }) => etag);
  if (!(await isDaemonOf(config))) return;
  const [daemon, etag] = [daemonApi(config), await etagIn(await run.database())];
  // A new account is refused until the daemon has it.
  const arrived = () =>
    etagIn(daemon).then(
      (read) => read === etag,
      (error: unknown) => !(error instanceof Refused),
    );
  while (Date.now() < until && !(await arrived())) await pause(FOLLOW_POLL_MS);
}

/** The API of the running daemon. Its calls throw CommandError when none runs, or when this user may not connect to it. */
export function daemonApi({ dataDir }: Config): Api {
  return apiOver(async ({ path, params, query, ...sent }) => {
    const socketPath = controlSocketPath(dataDir);
    if (socketPath === null) throw new CommandError(TOO_LONG(dataDir));
    const filled = path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(params[name] ?? ''));
    const timeout = sent.method === 'GET' ? TIMEOUT_MS : CHANGE_TIMEOUT_MS;
    const to = { socketPath, path: `/api/v1${filled}?${query}`, timeout };
    return exchange(to, sent).catch(({ code, message }: NodeJS.ErrnoException) => {
      if (['ENOENT', 'ECONNREFUSED', 'ENOTDIR'].includes(code ?? ''))
        throw new CommandError(NOT_RUNNING(dataDir));
      if (code === 'EACCES' || code === 'EPERM') throw new CommandError(NOT_PERMITTED(dataDir));
      throw new CommandError(`The daemon of ${dataDir} did not respond (${code ?? message}).`);
    });
  });
}

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

function apiOver(send: (call: Call) => Promise<{ status: number; body: unknown }>): Api {
  const call = async (name: string, input: Partial<Call> & { query?: object } = {}) => {
    const [method = '', path = ''] = name.split(' ');
    const { params = {}, query = {}, body, ifMatch } = input;
    const search = new URLSearchParams();
    for (const [key, value] of Object.entries(query)) if (value !== undefined) search.set(key, String(value));
    const answer = await send({ method, path, params, query: search, body, ifMatch });
    if (answer.status < 400) return answer.body;
    throw new Refused(Object(answer.body) as Refused['problem'], answer.status);
  };
  return { call: call as Api['call'] };
}

/** Sends a request, and reads the JSON of its response; '' without a body. */
async function exchange(to: RequestOptions, { method, body, ifMatch }: Partial<Call>) {
  // Loaded here, because most commands without a daemon need no network. Kept code (bin/load.js) cannot import.
  const { request } = process.getBuiltinModule('node:http');
  return new Promise<{ status: number; body: unknown }>((resolve, reject) => {
    const headers = {
      [USER_HEADER]: encodeURIComponent(cliActor().name),
      ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    };
    const sent = request({ ...to, method, headers }, (response) => {
      text(response).then(
        (content) => resolve({ status: response.statusCode ?? 500, body: content && JSON.parse(content) }),
        reject,
      );
    });
    sent.on('timeout', () => sent.destroy(Object.assign(new Error('timeout'), { code: 'ETIMEDOUT' })));
    sent.on('error', reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}
