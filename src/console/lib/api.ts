// Every request to /api/v1 goes through `call`. The OpenAPI document gives its types, and every failure is an `ApiError`. And who is
// signed in, and what that user may: `Permitted` for a part of a page, `useMay` for everything else.
import type { Me, Operations, Problem, ProblemReason, Scope } from '../api-types.js';
import { OPERATIONS } from '../api-types.js';
import { cell, useCell } from './cell.js';

/** undefined: not known yet; null: nobody is signed in. */
export const me = cell<Me | null | undefined>(undefined);

/** The user whose session the daemon ended while the console was open. Forms keep their contents until somebody signs in again. */
export const lapsed = cell<Me | null>(null);

/** The signed-in user; after a session ended, the user of that session. */
const user = (): Me | null => me.get() ?? lapsed.get();

/** Signs the operator out and removes everything from the screen. */
export async function signOut(): Promise<void> {
  await call('signOut');
  forgetSession();
}

export function forgetSession(): void {
  lapsed.set(null);
  me.set(null);
}

/** Whether the daemon answered the last request. */
export const online = cell(true);

type Code = Problem['code'] | 'offline' | 'not-loaded';

export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: Code,
    readonly detail: string | null,
    readonly fields: NonNullable<Problem['errors']> = [],
    readonly reason: ProblemReason | null = null,
  ) {
    super(detail ?? code);
  }
}

type Part<N extends keyof Operations, K extends keyof Operations[N]> = Operations[N][K] extends undefined
  ? { readonly [P in K]?: undefined }
  : undefined extends Operations[N][K]
    ? { readonly [P in K]?: Operations[N][K] }
    : K extends 'query'
      ? { readonly [P in K]?: Operations[N][K] }
      : { readonly [P in K]: Operations[N][K] };

interface Options {
  /** Sent as If-Match: the daemon refuses the change when somebody else changed the object meanwhile. null: not sent. */
  readonly etag?: string | null;
  readonly signal?: AbortSignal;
  /** Media type of a body that is not JSON. */
  readonly type?: string;
}

export type Input<N extends keyof Operations> = Part<N, 'params'> &
  Part<N, 'query'> &
  Part<N, 'body'> &
  Options;

type Arguments<N extends keyof Operations> =
  Record<string, never> extends Input<N> ? [Input<N>?] : [Input<N>];

/** Calls one operation. Throws ApiError for every failure, and AbortError when `signal` aborts. */
export async function call<N extends keyof Operations>(
  name: N,
  ...input: Arguments<N>
): Promise<Operations[N]['answer']> {
  return (await callWithEtag(name, ...input)).answer;
}

/** An object as the daemon has it, and the version to send with a change of it. */
export interface Version<T> {
  readonly answer: T;
  readonly etag: string | null;
}

/** Like `call`, and also returns the `ETag` of the answer. A change takes it as `etag`. */
export async function callWithEtag<N extends keyof Operations>(
  name: N,
  ...[input]: Arguments<N>
): Promise<Version<Operations[N]['answer']>> {
  const [method] = OPERATIONS[name];
  const given = (input ?? {}) as Loose;
  const headers: Record<string, string> = { accept: 'application/json' };
  if (given.etag != null) headers['if-match'] = given.etag;
  const init: RequestInit = { method, headers, credentials: 'same-origin', cache: 'no-store' };
  if (given.signal) init.signal = given.signal;
  if (given.body !== undefined) {
    headers['content-type'] = given.type ?? 'application/json';
    init.body = given.type ? (given.body as Blob | string) : JSON.stringify(given.body);
  }
  const response = await send(urlOf(name, given), init);
  const text = await response.text();
  if (response.ok) {
    const answer = (text === '' ? undefined : JSON.parse(text)) as Operations[N]['answer'];
    return { answer, etag: response.headers.get('etag') };
  }
  const error = toError(response.status, text);
  if (error.status === 401 && name !== 'signIn') {
    lapsed.set(user());
    me.set(null);
  }
  // The form that sent the request waits, and keeps what was typed.
  if (error.code === 'confirmation-required' && (await askToConfirm()))
    return callWithEtag(name, ...([input] as Arguments<N>));
  throw error;
}

interface Loose extends Options {
  readonly params?: Record<string, string>;
  readonly query?: Record<string, unknown>;
  readonly body?: unknown;
}

export function urlOf(name: keyof Operations, input: Pick<Loose, 'params' | 'query'>): string {
  const path = OPERATIONS[name][1].replace(/\{(\w+)\}/g, (_, key: string) =>
    encodeURIComponent(input.params?.[key] ?? ''),
  );
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(input.query ?? {})) {
    if (value !== undefined && value !== '') query.set(key, String(value));
  }
  const text = query.toString();
  return text === '' ? path : `${path}?${text}`;
}

async function send(url: string, init: RequestInit): Promise<Response> {
  try {
    const response = await fetch(url, init);
    online.set(true);
    return response;
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    online.set(false);
    throw new ApiError(0, 'offline', null);
  }
}

function toError(status: number, text: string): ApiError {
  try {
    // Of a refusal by /api/v1/settings/whitelist, a text in Chinese, the status says as much in both languages.
    const { code = codeOf(status), detail = null, errors, reason } = JSON.parse(text) as Partial<Problem>;
    return new ApiError(status, code, detail, errors, reason);
  } catch {
    return new ApiError(status, codeOf(status), null);
  }
}

const CODES: Readonly<Record<number, Code>> = {
  401: 'signed-out',
  403: 'forbidden',
  404: 'not-found',
  429: 'too-many-requests',
  503: 'unavailable',
};

const codeOf = (status: number): Code => CODES[status] ?? (status >= 500 ? 'internal' : 'bad-request');

/** The question for the password again, before what outlasts this console session. One dialog answers it for every request. */
interface Question {
  readonly answered: Promise<boolean>;
  readonly settle: (isConfirmed: boolean) => void;
}

/** The open question; null: none. */
export const confirmation = cell<Question | null>(null);

/** Asks for the password or a code. Resolves with false when the user cancels. Requests at the same time share one question. */
export function askToConfirm(): Promise<boolean> {
  const open = confirmation.get();
  if (open) return open.answered;
  let settle: Question['settle'] = () => {};
  const answered = new Promise<boolean>((resolve) => {
    settle = (isConfirmed) => {
      confirmation.set(null);
      resolve(isConfirmed);
    };
  });
  confirmation.set({ answered, settle });
  return answered;
}

/** An operation of the API, or the scope that one field of an operation needs. */
export type Right = keyof Operations | Scope;

export function may(right: Right): boolean {
  const { operations = [], scopes = [] } = user() ?? {};
  // The names of scopes have a colon, those of operations have none.
  if (right.includes(':')) return scopes === null || scopes.includes(right as Scope);
  return operations.includes(right);
}

/** Like `may`, and renders the component again when somebody else signs in. */
export function useMay(right?: Right): boolean {
  useUser();
  return right === undefined || may(right);
}

/** Returns the signed-in user; after a session ended, the user of that session. */
export function useUser(): Me | null {
  useCell(me);
  return user();
}
