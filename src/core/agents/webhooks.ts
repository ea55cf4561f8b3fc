// The rules of webhook requests: validation of the body, session key, idempotency key, response.
import { createHash } from 'node:crypto';
import { decoded, parseJson, UTF8_WITHOUT_MARK } from '../text.js';
import type { RunKind } from './runs.js';

export type JsonObject = Readonly<Record<string, unknown>>;

type JsonRefusal = 'not-utf8' | 'not-json' | 'not-an-object' | 'duplicate-key' | 'too-deep';

// Limits recursion over values.
const MAX_DEPTH = 64;

type ReadJson =
  | { readonly ok: true; readonly object: JsonObject }
  | { readonly ok: false; readonly reason: JsonRefusal };

/**
 * Parses a request body as one JSON object (RFC 8259). Refuses duplicate top-level keys: ambiguous which value applies. Keys such as
 * `__proto__` are plain keys: read the result with `field`.
 */
export function readJsonObject(bytes: Uint8Array): ReadJson {
  const text = decoded(bytes, UTF8_WITHOUT_MARK);
  if (text === null) return { ok: false, reason: 'not-utf8' };
  const value = parseJson(text);
  if (value === undefined) return { ok: false, reason: 'not-json' };
  if (!isObject(value)) return { ok: false, reason: 'not-an-object' };
  const fault = structureFault(text);
  return fault ? { ok: false, reason: fault } : { ok: true, object: value };
}

/** The object's own field; undefined when it is missing or null. */
export const field = (object: JsonObject, name: string): unknown =>
  Object.hasOwn(object, name) ? (object[name] ?? undefined) : undefined;

/** JSON text with sorted keys at every depth: equal values have equal text. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? 'null';
  const members = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key])}`);
  return `{${members.join(',')}}`;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether the object in `text` (valid JSON) is nested too deep or has a duplicate top-level key; null: neither. */
function structureFault(text: string): 'duplicate-key' | 'too-deep' | null {
  const seen = new Set<string>();
  let depth = 0;
  // In valid JSON only strings and brackets matter.
  for (const [token, colon] of text.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?|[[\]{}]/gs)) {
    if (token === '}' || token === ']') depth--;
    else if (token === '{' || token === '[') {
      if (++depth > MAX_DEPTH) return 'too-deep';
    } else if (depth === 1 && colon !== undefined) {
      const key: unknown = JSON.parse(token.slice(0, -colon.length));
      if (seen.has(String(key))) return 'duplicate-key';
      seen.add(String(key));
    }
  }
  return null;
}

export const HOOK_PATHS: Readonly<Record<string, RunKind>> = {
  '/hooks/wake': 'wake',
  '/hooks/agent': 'message',
};

const NAME = '[A-Za-z0-9][A-Za-z0-9._-]{0,63}';
export const AGENT_NAME = new RegExp(`^${NAME}$`);

/** The path of signed deliveries, which ends with the name of the agent. */
export const SIGNED_PATH = new RegExp(`^/hooks/agent/(${NAME})$`);

/** A request to /hooks from the HTTP server, before any validation. */
export interface HookRequest {
  readonly method: string;
  readonly path: string;
  /** Query without the question mark; empty when there is none. */
  readonly query: string;
  /** Address of the caller, without a port. */
  readonly source: string;
  /** Every value of a header, by its lower-case name. */
  header(name: string): readonly string[];
  /** Reads the body; null when it is longer than `maxBytes`. Call it at most once, after the token, if required, was verified. */
  readBody(maxBytes: number): Promise<Uint8Array | null>;
}

export interface HookAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Handles a request to /hooks. Never rejects: logs a failure and responds 500. */
export type HandleHook = (request: HookRequest) => Promise<HookAnswer>;

export const SESSION_KEY = /^[A-Za-z0-9._:-]{1,128}$/;
export const SESSION_KEY_FORM = '1 to 128 letters, digits, dots, colons, dashes and underscores';

interface HookBody {
  readonly agent: string;
  /** null for a wake. */
  readonly message: string | null;
  readonly sessionKey: string | null;
}

type ReadBody =
  | { readonly ok: true; readonly body: HookBody }
  | { readonly ok: false; readonly error: string };

/** Validates the fields of a body. Ignores unknown fields; null counts as absent. */
export function readHookBody(kind: RunKind, object: JsonObject): ReadBody {
  const agent = field(object, 'agent');
  const message = field(object, 'message');
  const sessionKey = field(object, 'sessionKey');
  if (agent === undefined) return bad('agent is required');
  if (typeof agent !== 'string' || agent === '') return bad('agent must be a non-empty string');
  if (kind === 'wake') {
    if (sessionKey !== undefined) return bad('sessionKey is not accepted by /hooks/wake');
    return { ok: true, body: { agent, message: null, sessionKey: null } };
  }
  if (message === undefined) return bad('message is required');
  if (typeof message !== 'string') return bad('message must be a string');
  const fault = messageFault(message);
  if (fault) return bad(fault);
  if (sessionKey === undefined) return { ok: true, body: { agent, message, sessionKey: null } };
  if (typeof sessionKey !== 'string' || !SESSION_KEY.test(sessionKey)) {
    return bad(`sessionKey must be ${SESSION_KEY_FORM}`);
  }
  return { ok: true, body: { agent, message, sessionKey } };
}

/** Why a text is not a valid message (blank, or not storable in every database); null when it is valid. */
export function messageFault(message: string): string | null {
  if (message.trim() === '') return 'message must not be blank';
  if (!message.isWellFormed()) return 'message must be well-formed Unicode';
  if (message.includes('\0')) return 'message must not contain U+0000';
  return null;
}

/**
 * The session key of a message: the fixed key of the agent, or else the caller's key, or else a new one. Null when the caller's key
 * differs from the fixed key.
 */
export function chooseSession(
  fixed: string | null,
  requested: string | null,
  newId: () => string,
): string | null {
  if (fixed !== null) return requested === null || requested === fixed ? fixed : null;
  return requested ?? `hook:${newId()}`;
}

type ReadKey =
  | { readonly ok: true; readonly key: string | null }
  | { readonly ok: false; readonly error: string };

// The draft "The Idempotency-Key HTTP Header Field" specifies a string; only visible ASCII passes every proxy unchanged.
export const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,255}$/;

/** The idempotency key from the header or the body field `idempotencyKey`; two different keys are refused. */
export function readIdempotencyKey(headers: readonly string[], object: JsonObject): ReadKey {
  const inBody = field(object, 'idempotencyKey');
  const keys = new Set<unknown>(headers);
  if (inBody !== undefined) keys.add(inBody);
  if (keys.size > 1) return bad('two different idempotency keys were given');
  const [key] = keys;
  if (key === undefined) return { ok: true, key: null };
  if (typeof key !== 'string' || !IDEMPOTENCY_KEY.test(key)) {
    return bad('the idempotency key must be 1 to 255 visible ASCII characters');
  }
  return { ok: true, key };
}

/** Digest of a request: its path and its canonical body without the idempotency key. */
export function requestDigest(path: string, object: JsonObject): string {
  const content = Object.fromEntries(Object.entries(object).filter(([name]) => name !== 'idempotencyKey'));
  return createHash('sha256')
    .update(`${path}\n${canonicalJson(content)}`)
    .digest('hex');
}

function bad(error: string): { ok: false; error: string } {
  return { ok: false, error };
}
