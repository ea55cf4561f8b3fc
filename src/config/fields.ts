// Values of the configuration: durations, sizes and rates, secrets; all of it as plain data for output, and what differs in two. And
// the types of the values of keys: each registers a description of the allowed values for error messages.

import { inspect } from 'node:util';
import { z } from 'zod';
import { isHost, isHttpUrl, NAME_OR_WILDCARD } from '../core/endpoints.js';

/** The unit of a number. It becomes the suffix of the key (`idleTimeout: 5m` → `idleTimeoutMs: 300000`). */
type Unit = 'Ms' | 'Bytes';

/** A parsed duration or size, until `nameUnits` renames its key. `text` is the original spelling. */
class Quantity<U extends Unit = Unit> {
  constructor(
    readonly unit: U,
    readonly value: number,
    readonly text: string,
  ) {}
}

const MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const BYTES = { B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3, TiB: 1024 ** 4 } as const;

/** `250ms`, `10s`, `5m`, `24h`, `30d` in milliseconds; null when `text` is not a duration. */
export const parseDuration = (text: string): number | null => parse(text, /^(\d{1,12})(ms|s|m|h|d)$/, MS);

/** `512B`, `64KiB`, `10MiB`, `1GiB`, `1TiB` in bytes; null when `text` is not a size. */
export const parseSize = (text: string): number | null =>
  parse(text, /^(\d{1,12})(B|KiB|MiB|GiB|TiB)$/, BYTES);

function parse(text: string, form: RegExp, factors: Readonly<Record<string, number>>): number | null {
  const [, digits = '', unit = ''] = form.exec(text) ?? [];
  const value = Number(digits) * (factors[unit] ?? Number.NaN);
  return Number.isSafeInteger(value) ? value : null;
}

type Named<K extends string, V> =
  NonNullable<V> extends Quantity<infer U> ? (K extends `${string}${U}` ? K : `${K}${U}`) : K;

/** `T` with every quantity as a plain number under a key that ends in its unit. */
export type WithUnits<T> = T extends Quantity
  ? number
  : T extends string | number | boolean | null | undefined | Opaque
    ? T
    : T extends readonly (infer E)[]
      ? WithUnits<E>[]
      : { [K in keyof T as K extends string ? Named<K, T[K]> : K]: WithUnits<T[K]> };

/** A class instance that `nameUnits` does not change, such as a Secret. */
interface Opaque {
  readonly opaque: true;
}

/**
 * Renames the keys of quantities in plain objects and lists, at any depth: `{ wait: 5s }` → `{ waitMs: 5000 }`.
 * A key that already ends in its unit (`maxBytes`) keeps its name.
 */
export function nameUnits<T>(value: T): WithUnits<T>;
export function nameUnits(value: unknown): unknown {
  if (value instanceof Quantity) return value.value;
  if (Array.isArray(value)) return value.map((item: unknown) => nameUnits(item));
  if (!isPlainObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      item instanceof Quantity && !key.endsWith(item.unit) ? `${key}${item.unit}` : key,
      nameUnits(item),
    ]),
  );
}

/** Whether `value` is a plain `{}` object, not a list and not a class instance. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

export const HIDDEN = '(hidden)';

export class Secret {
  readonly opaque = true;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** The text. Call this only to compare or send it. */
  reveal(): string {
    return this.#text;
  }

  toString(): string {
    return HIDDEN;
  }

  toJSON(): string {
    return HIDDEN;
  }

  [inspect.custom](): string {
    return HIDDEN;
  }
}

/** Plain data without secrets. */
export function toPlain(value: unknown): unknown {
  if (value instanceof Secret) return value.toJSON();
  if (value instanceof Quantity) return value.text;
  if (Array.isArray(value)) return value.map(toPlain);
  if (!isPlainObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, toPlain(item)]));
}

/** Sorted paths such as `['socks.port', 'agents.reporter.timeout']`. A list counts as one value, and so does an added or removed group. */
export function changedKeys(before: unknown, after: unknown, path = ''): string[] {
  if (isPlainObject(before) && isPlainObject(after)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
    return names.flatMap((name) =>
      changedKeys(before[name], after[name], path === '' ? name : `${path}.${name}`),
    );
  }
  return JSON.stringify(normalize(before)) === JSON.stringify(normalize(after)) ? [] : [path];
}

/** Makes equal values compare equal: `60s` and `1m`, keys in another order, secrets by their text. */
function normalize(value: unknown): unknown {
  if (value instanceof Quantity) return value.value;
  if (value instanceof Secret) return value.reveal();
  if (Array.isArray(value)) return value.map(normalize);
  if (!isPlainObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, item]) => [key, normalize(item)] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

/** The description of a key for error messages. It replaces the messages of zod, which are not written for operators. */
export interface About {
  readonly allowed: string;
  /** Error messages and logs must not show the value. */
  readonly secret?: true;
}

export const about = z.registry<About>();

// setTimeout accepts at most 2^31-1 ms, a little less than 25 days.
const LONGEST_TIMER = '24d';

/** A duration from `min` to `max`, such as '10s'. */
export function duration({ min = '1ms', max = LONGEST_TIMER }: { min?: string; max?: string } = {}) {
  return quantity('Ms', parseDuration, min, max, 'a duration such as 250ms, 10s, 5m, 24h or 30d');
}

/** A size from `min` to `max`, such as '64KiB'. */
export function size({ min = '1B', max = '1GiB' }: { min?: string; max?: string } = {}) {
  return quantity('Bytes', parseSize, min, max, 'a size such as 512B, 64KiB or 10MiB');
}

function quantity<U extends Unit>(
  unit: U,
  parse: (text: string) => number | null,
  min: string,
  max: string,
  form: string,
) {
  const lowest = parse(min);
  const highest = parse(max);
  if (lowest === null || highest === null) throw new TypeError(`invalid bounds: ${min} to ${max}`);
  const schema = z.string().transform((text, context) => {
    const value = parse(text);
    if (value !== null && value >= lowest && value <= highest) return new Quantity(unit, value, text);
    context.addIssue({ code: 'custom' });
    return z.NEVER;
  });
  return schema.register(about, { allowed: `${form}, from ${min} to ${max}` });
}

export const whole = (min: number, max: number, allowed = `a whole number from ${min} to ${max}`) =>
  z.int().check(z.gte(min), z.lte(max)).register(about, { allowed });

/** `auto`, which is the default, or a whole number from 1. */
export const autoOr = (max: number) =>
  z
    .union([z.literal('auto'), whole(1, max)])
    .register(about, { allowed: `auto, or a whole number from 1 to ${max}` })
    .default('auto');

export const listenPort = () => whole(0, 65_535, 'a port from 0 to 65535 (0 picks a free port)');

export const flag = () => z.boolean().register(about, { allowed: 'true or false' });

export function oneOf<const T extends readonly [string, ...string[]]>(...names: T) {
  return z.enum(names).register(about, { allowed: names.join(', ').replace(/, ([^,]*)$/, ' or $1') });
}

/** Text of 1 to 4096 characters, not secret. `form` restricts it further; `allowed` describes it for error messages. */
export const text = (allowed: string, form: RegExp = /^[^\0]+$/su) =>
  z.string().check(z.minLength(1), z.maxLength(4096), z.regex(form)).register(about, { allowed });

export const textThat = (allowed: string, accepts: (text: string) => boolean) =>
  z.string().check(z.maxLength(4096), z.refine(accepts)).register(about, { allowed });

/** Secret text of 1 to 4096 characters, parsed as a `Secret`. `form` restricts it further. */
export function secret(allowed = 'a text of 1 to 4096 characters', form = /./s) {
  return z
    .string()
    .check(z.maxLength(4096), z.regex(form))
    .transform((value) => new Secret(value))
    .register(about, { allowed, secret: true });
}

export const CONNECTION_FORM = 'a text such as postgres://pulsegate:PASSWORD@db.example:5432/pulsegate';

/** A PostgreSQL connection string. Secret, because it may contain a password. */
export const connectionString = () => secret(CONNECTION_FORM, /^postgres(ql)?:\/\/[^\0\r\n]*$/);

const LISTEN_HOSTS_FORM =
  'an address or host name, or a list of them (localhost means both loopback addresses)';

/** One address or host name to listen on, or a list of them; always parsed as a list. */
export function listenHosts() {
  const host = textThat(LISTEN_HOSTS_FORM, isHost);
  return z
    .union([host, z.array(host).min(1)])
    .transform((hosts) => [...new Set([hosts].flat())])
    .register(about, { allowed: LISTEN_HOSTS_FORM });
}

/** A host name that clients may send in the Host header, or `*.name`. */
export const servedHost = () =>
  text('a host name such as console.example, or *.example for every name below it', NAME_OR_WILDCARD);

/** An http or https URL without credentials. */
export const httpUrl = () =>
  textThat('an http:// or https:// URL without a user name or password in it', isHttpUrl);

/** Reports a value that does not fit others. `allowed` completes "allowed: …". */
export const report = (context: z.RefinementCtx, path: (string | number)[], allowed: string): void =>
  context.addIssue({ code: 'custom', path, message: allowed });

/** A value that need not be given; null when it is not. */
export const orNull = <S extends z.ZodType>(schema: S) => schema.nullable().default(null);

/** A group of keys. Unknown keys are errors. */
export const section = <S extends z.core.$ZodLooseShape>(shape: S) => z.strictObject(shape);
