// The pages of all lists, and their cursors: the only module that writes and reads them. To clients they are opaque.
import { z } from 'zod';
import { guidOf } from '../../core/ids.js';
import type { RecordPlace } from '../../core/trace/session-record.js';
import { Cursor, fault } from '../api/schemas.js';
import { pageOfSorted, type SortedPlace, type SortValue } from '../api/sorted-page.js';

const MAX_PAGE = 1_000;

interface Cursors<Place> {
  /** `limit` and `cursor` of a list's query. A text that is no cursor of this kind is refused. */
  readonly PageQuery: z.ZodObject<{
    limit: z.ZodDefault<z.ZodCoercedNumber>;
    cursor: z.ZodOptional<z.ZodString>;
  }>;
  /** Returns the place that a cursor of `PageQuery` names; null: the page begins with the first item. */
  placeOf(cursor: string | undefined): Place | null;
  /** Returns the cursor of the page that begins after a place; null: none follows. */
  cursorOf(place: Place | null): string | null;
  /** Makes a page of `found`, which was read with `limit` + 1: the extra item tells whether another page follows. */
  page<Item>(
    found: readonly Item[],
    limit: number,
    placeOf: (last: Item) => Place,
  ): { readonly items: Item[]; readonly nextCursor: string | null };
}

/** @param read returns null for a text that `write` cannot have made */
function cursorsOf<Place>(
  read: (text: string) => Place | null,
  write: (place: Place) => string,
): Cursors<Place> {
  const cursorOf = (place: Place | null) => (place === null ? null : write(place));
  return {
    PageQuery: z.object({
      limit: z.coerce.number().int().min(1).max(MAX_PAGE).default(100),
      cursor: Cursor.refine((text) => read(text) !== null, fault('cursor')).optional(),
    }),
    placeOf: (cursor) => (cursor === undefined ? null : read(cursor)),
    cursorOf,
    page(found, limit, placeOf) {
      const items = found.slice(0, limit);
      const last = items.at(-1);
      return {
        items,
        nextCursor: cursorOf(found.length > limit && last !== undefined ? placeOf(last) : null),
      };
    },
  };
}

/** Lists by the number of a row or line. */
export const numberCursors = cursorsOf<number>((text) => {
  const place = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(place) ? place : null;
}, String);

/** Lists by an ordered GUID. */
export const idCursors = cursorsOf<string>(guidOf, (id) => id);

/** Conversations: by the time of the last use, then by key. */
export const conversationCursors = cursorsOf<{ readonly lastUsedAt: number; readonly key: string }>(
  (text) => {
    const [, at, key] = /^(\d{1,15})~(.+)$/.exec(text) ?? [];
    return at === undefined || key === undefined ? null : { lastUsedAt: Number(at), key };
  },
  ({ lastUsedAt, key }) => `${lastUsedAt}~${key}`,
);

/** Records of sessions: by their start, then by their number. */
export const recordCursors = cursorsOf<RecordPlace>(
  (text) => {
    const [, startedAt, id] = /^(\d{1,15})~(\d{1,15})$/.exec(text) ?? [];
    return startedAt === undefined ? null : { startedAt: Number(startedAt), id: Number(id) };
  },
  ({ startedAt, id }) => `${startedAt}~${id}`,
);

/** Lists in memory, which are sorted by any of their fields: the value of the last item, and its id. */
export const sortedCursors = cursorsOf<SortedPlace>(
  (text) => {
    try {
      const [value, id] = JSON.parse(Buffer.from(text, 'base64url').toString()) as unknown[];
      const isValue = value === null || typeof value === 'string' || typeof value === 'number';
      return isValue && typeof id === 'string' ? { value, id } : null;
    } catch {
      return null;
    }
  },
  ({ value, id }) => Buffer.from(JSON.stringify([value, id])).toString('base64url'),
);

export type SortKeys<Item, Deps> = Readonly<Record<string, (item: Item, deps: Deps) => SortValue>>;

/** The values of `sort`: a key; with a leading minus descending. */
export function sortBy<Name extends string>(keys: Readonly<Record<Name, unknown>>) {
  const names = Object.keys(keys) as [Name, ...Name[]];
  return z.enum([...names, ...names.map((name) => `-${name}` as const)]);
}

/** Returns one page of `items`, sorted by `sort` of `sortBy`. */
export function pageSortedBy<Item, Deps>(
  items: readonly Item[],
  query: { readonly sort: string; readonly limit: number; readonly cursor?: string | undefined },
  keys: SortKeys<Item, Deps>,
  deps: Deps,
  idOf: (item: Item) => string,
) {
  const { sort, limit, cursor } = query;
  const descending = sort.startsWith('-');
  const keyOf = keys[descending ? sort.slice(1) : sort] ?? (() => null);
  const after = sortedCursors.placeOf(cursor);
  const { next, ...page } = pageOfSorted(items, {
    limit,
    after,
    descending,
    valueOf: (item) => keyOf(item, deps),
    idOf,
  });
  return { ...page, nextCursor: sortedCursors.cursorOf(next) };
}
