// Calls operations of /api/v1. Types of input and answer are those of the routes.
import type { Readable } from 'node:stream';
import type { z } from 'zod';
import type { Problem } from '../../http/api/problem.js';
import type { Call } from '../../http/in-process.js';
import type { Operation } from '../../parts/admin/command-api.js';
import { CommandError } from './command.js';

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
  /** Reads a list; one of any length in pages, until it has `limit` items or all: the last page with the items of all pages. */
  list<Name extends ListName>(name: Name, query: QueryOf<Name>): Promise<Answer<Name>>;
}

/** Lists of any length. */
const PAGED = ['GET /accounts', 'GET /sessions'] as const;
type PagedName = (typeof PAGED)[number];
const isPaged = (name: string): name is PagedName => (PAGED as readonly string[]).includes(name);
/** Most items of one page of the daemon. */
const PAGE_SIZE = 1_000;

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

/** The API of what answers its calls. @param ofAll what all its calls say of refusals */
export function apiOver(
  send: (call: Call) => Promise<{ status: number; body: unknown }>,
  ofAll: Refusals = {},
): Api {
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
  const list = async <Name extends ListName>(name: Name, given: { readonly limit?: number }) => {
    if (!isPaged(name)) return call(name, { query: given });
    const { limit = Infinity, ...query } = given;
    const items: ItemOf<PagedName>[] = [];
    for (let cursor: string | undefined; ; ) {
      const ofPage = { ...query, limit: Math.min(PAGE_SIZE, limit - items.length), cursor };
      const input = { query: ofPage, isWhole: limit === Infinity };
      const page: Answer<PagedName> = await call<PagedName>(name, input);
      items.push(...page.items);
      if (page.nextCursor === null || items.length >= limit) return { ...page, items } as Answer<Name>;
      cursor = page.nextCursor;
    }
  };
  return { call, list };
}
