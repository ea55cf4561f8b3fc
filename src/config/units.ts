// Values of the configuration: durations, sizes and rates, secrets; all of it as plain data for output, and what differs in two. Without
// the schema: what serves players loads it.
import { inspect } from 'node:util';

/** The unit of a number. It becomes the suffix of the key (`idleTimeout: 5m` → `idleTimeoutMs: 300000`). */
export type Unit = 'Ms' | 'Bytes';

/** A parsed duration or size, until `nameUnits` renames its key. `text` is the original spelling. */
export class Quantity<U extends Unit = Unit> {
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
export const toPlain = (value: unknown): unknown =>
  replaceIn(value, (each) =>
    each instanceof Secret ? each.toJSON() : each instanceof Quantity ? each.text : each,
  );

/** Replaces values in plain objects and lists, at any depth. @param replace returns the value itself where it is to stay */
export function replaceIn(value: unknown, replace: (value: unknown) => unknown): unknown {
  const replaced = replace(value);
  if (replaced !== value) return replaced;
  if (Array.isArray(value)) return value.map((item) => replaceIn(item, replace));
  if (!isPlainObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, replaceIn(item, replace)]));
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
