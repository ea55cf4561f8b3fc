// Shared schemas of routes: times, ids, counts, pages.
import { z } from 'zod';
import { isWireDate, WIRE_DATE_RANGE } from '../../core/wire-date.js';
import { fault } from './field-errors.js';

/** A time in an answer: ISO 8601 in UTC with `Z`: `2026-11-20T21:00:00Z` (fractions allowed). */
export const Time = z.iso
  .datetime()
  .meta({ id: 'Time', description: 'ISO 8601 in UTC, for example 2026-11-20T21:00:00Z.' });

/** A time in a request: ISO 8601 with `Z` or an offset, in the years 0001 to 9999 of UTC. */
export const TimeIn = z.iso
  .datetime({ offset: true })
  .refine((text) => isWireDate(Date.parse(text)), fault('time', { range: WIRE_DATE_RANGE }))
  .meta({
    id: 'TimeIn',
    description:
      'ISO 8601 with Z or an offset, for example 2026-11-20T21:00:00+08:00; years 0001 to 9999 in UTC.',
  });

export const Day = z.iso.date().meta({ id: 'Day', description: 'A calendar day, for example 2026-11-20.' });

/** Of a request it becomes lower case, as ids are stored. */
export const Guid = z.guid().toLowerCase().meta({ id: 'Guid', description: 'GUID, 8-4-4-4-12 hexadecimal.' });

export const Count = z.int().min(0).meta({ id: 'Count' });
export const Bytes = z.int().min(0).meta({ id: 'Bytes', description: 'A number of bytes.' });
export const BytesPerSecond = z.number().min(0).meta({ id: 'BytesPerSecond' });

/** `?online=true`. Accepts only `true` and `false`; any other value is 400. */
export const Flag = z.stringbool({ truthy: ['true'], falsy: ['false'], case: 'sensitive' });

/** Opaque: `nextCursor` of the previous page. */
export const Cursor = z.string().min(1, { abort: true }).max(2_000, { abort: true });

/**
 * One page of a list. A reader sees "37 of 10,214": `matched` is the number of objects that match the search and filters, and
 * `total` the number of all objects.
 */
export function pageOf<T extends z.ZodType>(item: T) {
  return z.object({ items: z.array(item), matched: Count, total: Count, nextCursor: Cursor.nullable() });
}

/** A page of a list that is not counted, because it may have millions of rows. */
export function openPageOf<T extends z.ZodType>(item: T) {
  return z.object({ items: z.array(item), nextCursor: Cursor.nullable() });
}

/** With a new password: whether the API tokens of its user are revoked too, which otherwise go on working. */
export const RevokeTokens = z.boolean().default(true);

export const IdParams = z.object({ id: Guid });

/** The time range of a chart. It determines the length of the steps. */
export const Range = z.enum(['hour', 'day', 'month']).meta({
  id: 'Range',
  description:
    'hour: the last 60 minutes in steps of 1 minute; day: 24 hours in steps of 10 minutes; month: 30 days in steps of 6 hours.',
});
