// Calls operations of /api/v1: of the running daemon, else in this process on the opened database. Types of input and answer are those
// of the routes.
import type { Readable } from 'node:stream';
import type { z } from 'zod';
import type { Config, Loaded } from '../../config.js';
import { StartError } from '../../core/errors.js';
import type { Problem } from '../../http/api/problem.js';
import type { Call } from '../../http/in-process.js';
import type { Operation } from '../../parts/admin/command-api.js';
import type { Core } from '../../parts/core.js';
import { CommandError, cliActor, once } from './command.js';

/** Imported here because sessions wait for `serve`, which asks no daemon. */
const daemon = () => import('./daemon.js');
const TIMEOUT_MS = 10_000;
/** A change may wait for a locked database, or for one that fails over. */
const CHANGE_TIMEOUT_MS = 60_000;
/** `GET /tokens`: method and path below /api/v1. */
type NameOf<Route> = Route extends { endpoint: `${infer Method} /api/v1${infer Path}` }
  ? `${Method} ${Path}`
  : never;
type Operations = { readonly [Route in Operation as NameOf<Route>]: Route };

/** What a caller may give: also lists that nobody may change, and undefined for a field that is left out. */
type Given<Value> = Value extends readonly (infer Item)[]
  ? readonly Given<Item>[]
  : Value extends object
    ? {
        readonly [Name in keyof Value]:
          | Given<Value[Name]>
          | (undefined extends Value[Name] ? undefined : never);
      }
    : Value;
type AnswerOf<Success> = Success extends readonly [number, string, infer Body]
  ? Body extends z.ZodType
    ? z.output<Body>
    : Readable
  : undefined;

export type OperationName = keyof Operations;
type RequestOf<Name extends OperationName> = Operations[Name]['request'];
export type QueryOf<Name extends OperationName> =
  RequestOf<Name> extends { query: infer Query } ? Given<Partial<z.input<Query>>> : object;
export type BodyOf<Name extends OperationName> =
  RequestOf<Name> extends { body: infer Body } ? Given<z.input<Body>> : object;
export type Input<Name extends OperationName> = {
  readonly ifMatch?: string;
} & (RequestOf<Name> extends { params: infer Params } ? { params: z.input<Params> } : unknown) &
  (RequestOf<Name> extends { query: unknown } ? { query?: QueryOf<Name> } : unknown) &
  (RequestOf<Name> extends { body: unknown } ? { body: BodyOf<Name> } : unknown) &
  (RequestOf<Name> extends { raw: unknown } ? { content: Readable } : unknown);
export type Answer<Name extends OperationName> = AnswerOf<Operations[Name]['success']>;
export type ItemOf<Name extends OperationName> =
  Answer<Name> extends { readonly items: readonly (infer Item)[] } ? Item : never;
/** Operations whose answer is a page of a list of any length. */
type PagedName = 'GET /accounts' | 'GET /sessions';
/** Operations whose answer is a list. */
export type ListName = {
  [Name in OperationName]: Answer<Name> extends { readonly items: readonly unknown[] } ? Name : never;
}[OperationName];

/**
 * What a command says of refusals: by the code of the reason, by the wrong field with and without the code of its error, or by the
 * code of the problem.
 */
export type Refusals = Readonly<Record<string, string | CommandError>>;

export interface Api {
  /** @throws Refused for every status from 400 that `refusals` do not say, CommandError when no answer comes */
  call<Name extends OperationName>(
    name: Name,
    ...input: object extends Input<Name>
      ? [input?: Input<Name>, refusals?: Refusals]
      : [input: Input<Name>, refusals?: Refusals]
  ): Promise<Answer<Name>>;
  /** Reads a list, in pages, until it has `limit` items or all. Returns the last page with the items of all pages. */
  list<Name extends PagedName>(name: Name, query: QueryOf<Name>, limit?: number): Promise<Answer<Name>>;
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

/** What `refusals` say of a refused operation; otherwise the operation's own sentence. */
function inWords(refused: Refused, refusals: Refusals): CommandError {
  const { reason, errors: [wrong] = [], code } = refused.problem;
  const keys = [reason?.code, wrong && `${wrong.path} ${wrong.code}`, wrong?.path, code];
  const key = keys.find((each) => each !== undefined && Object.hasOwn(refusals, each));
  const said = key === undefined ? refused : (refusals[key] ?? refused);
  return typeof said === 'string' ? new CommandError(said) : said;
}

/** Returns the result of `change`, which reads and changes a version; it begins again when another change came in between. */
export async function unlessChangedMeanwhile<Result>(
  change: () => Promise<Result>,
  tries = 10,
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
 * created only with `mayCreate`. Errors of its writes that the answer does not contain go to `onError`. `refusals` apply to all calls.
 * All throw CommandError when there is no database, and StartError like openCore.
 */
export function openLazily(
  load: () => Promise<Loaded>,
  mayCreate: () => boolean,
  onError: (error: unknown) => void,
  refusals: Refusals,
): Opened {
  let opened: Promise<Core> | undefined;
  const core = once(async () => {
    opened = openDatabase(await load(), mayCreate());
    return opened;
  });
  const database = once(async () => {
    const { openCommandApi } = await import('../../parts/admin/command-api.js');
    const send = await openCommandApi(await core(), (await load()).config, cliActor().name, onError);
    return apiOver(send, refusals);
  });
  const api = once(async () => {
    const { config } = await load();
    const { isDaemonOf } = await daemon();
    return (await isDaemonOf(config)) ? daemonApi(config, refusals) : database();
  });
  return {
    call: (async (...given: Parameters<Api['call']>) => (await api()).call(...given)) as Api['call'],
    list: async (...given) => (await api()).list(...given),
    database,
    core,
    close: async () => (await opened?.catch(() => undefined))?.store.close(),
  };
}

/** Returns undefined when there is no database, and none may be created. @throws StartError like openCore */
async function openIfExists({ config }: Loaded, mayCreate: boolean): Promise<Core | undefined> {
  // Imported here because help, completion and `config check` need neither knex nor a database package.
  const { openCore } = await import('../../parts/core.js');
  return openCore(config, { mayCreate }).catch((error: unknown) => {
    if (error instanceof StartError && error.code === 'database-missing') return undefined;
    throw error;
  });
}

/** Creates a missing database only with `mayCreate`: a wrong folder or a forgotten `--config` would silently use an empty one. */
async function openDatabase(loaded: Loaded, mayCreate: boolean): Promise<Core> {
  const core = await openIfExists(loaded, mayCreate);
  if (core) return core;
  const { config, file } = loaded;
  const of = file ?? 'the built-in configuration';
  const [missing, create] =
    config.database.client === 'pg'
      ? [`The PostgreSQL database of ${of} has no Pulsegate tables.`, 'create the tables']
      : [`No database in ${config.dataDir} (dataDir of ${of}).`, 'create a new database'];
  throw new CommandError(
    `${missing}\nGive the daemon's configuration with --config FILE, or ${create}: pulsegate serve, or pulsegate account add NAME.`,
  );
}

/** Calls `work` with the database, and closes it; returns undefined when there is none. */
export async function withExistingCore<T>(
  loaded: Loaded,
  work: (core: Core) => Promise<T>,
): Promise<T | undefined> {
  const core = await openIfExists(loaded, false);
  return core && work(core).finally(() => core.store.close());
}

/** The API of the running daemon. Its calls throw CommandError when none runs, or when this user may not connect to it. */
export function daemonApi(config: Config, refusals: Refusals = {}): Api {
  const send = async ({ path, params, query, ...sent }: Call) => {
    const filled = path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(params[name] ?? ''));
    const timeout = sent.content ? 0 : sent.method === 'GET' ? TIMEOUT_MS : CHANGE_TIMEOUT_MS;
    const { askDaemon } = await daemon();
    return askDaemon(config, { path: `/api/v1${filled}?${query}`, timeout }, sent);
  };
  return apiOver(send, refusals);
}

function apiOver(send: (call: Call) => Promise<{ status: number; body: unknown }>, ofAll: Refusals): Api {
  type Sent = Omit<Partial<Call>, 'query'> & { query?: object };
  const call = async <Name extends OperationName>(name: Name, input: Sent = {}, refusals: Refusals = {}) => {
    const [method = '', path = ''] = name.split(' ');
    const { params = {}, query = {}, ...sent } = input;
    const search = new URLSearchParams();
    for (const [key, value] of Object.entries(query)) if (value !== undefined) search.set(key, String(value));
    const { status, body } = await send({ method, path, params, query: search, ...sent });
    // A daemon that answers has the version of this program: its types.
    if (status < 400) return body as Answer<Name>;
    throw inWords(new Refused(Object(body) as Refused['problem'], status), { ...ofAll, ...refusals });
  };
  const list = async <Name extends PagedName>(name: Name, query: object, limit = Infinity) => {
    const items: ItemOf<PagedName>[] = [];
    for (let cursor: string | undefined; ; ) {
      const size = Math.min(PAGE_SIZE, limit - items.length);
      const ofPage = { ...query, limit: size, cursor };
      const page: Answer<PagedName> = await call<PagedName>(name, {
        query: ofPage,
        isWhole: limit === Infinity,
      });
      items.push(...page.items);
      if (page.nextCursor === null || items.length >= limit) return { ...page, items } as Answer<Name>;
      cursor = page.nextCursor;
    }
  };
  return { call, list };
}
