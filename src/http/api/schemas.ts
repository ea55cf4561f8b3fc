// Shared schemas of routes (times, ids, counts, pages), and the errors of single fields: a code with its values for programs, which have their own texts, and an English text.
import { z } from 'zod';
import { ADDRESS_TEXTS } from '../../core/accounts/access/address-list.js';
import { SCHEDULE_RULE } from '../../core/accounts/access/schedule.js';
import { GAME_RULE_TEXTS } from '../../core/heartbeats/payload-matcher.js';
import { fillText } from '../../core/text.js';
import { isWireDate, WIRE_DATE_RANGE } from '../../core/time/wire-date.js';

/** Braces in a text contain the name of a value. */
export const FIELD_TEXTS = {
  missing: 'is missing',
  unknown: 'is unknown; the fields are {allowed}',
  'unknown-near': 'is unknown; did you mean {nearest}?',
  'none-allowed': 'is unknown; there are no fields here',
  type: 'must be of type {expected}',
  'too-short': 'must have at least {min} characters',
  'too-long': 'must have at most {max} characters',
  'too-small': 'must be {min} or more',
  'too-large': 'must be {max} or less',
  'too-few': 'must have at least {min} entries',
  'too-many': 'must have at most {max} entries',
  option: 'must be one of {allowed}',
  format: 'is not of the form {format}',
  time: 'must be a time in the range {range}',
  'time-zone': 'is not a known time zone',
  'past-time': 'is in the past',
  username: 'must be 1 to 255 bytes of UTF-8 without control characters',
  password: 'must be 1 to 255 bytes of UTF-8 and not only white space',
  'short-password': 'must have at least {min} characters',
  'admin-username': 'cannot be used',
  'not-storable': 'contains characters that cannot be stored',
  'guard-reason': 'is what the guard writes when it suspends an account: use words of your own',
  blank: 'is blank, or contains characters that cannot be stored',
  tags: 'must be at most {max} tags of 1 to {maxCharacters} characters without commas, semicolons and control characters',
  ...ADDRESS_TEXTS,
  'budget-accounts': 'the budget has {left} accounts left',
  'budget-days': 'the budget has {left} days left',
  'budget-bytes': 'the budget has {left} bytes of traffic left',
  'budget-unbounded':
    'the budget limits days or traffic: set an expiry date, and a quota if traffic is limited',
  seller: 'is not a seller',
  schedule: `must be ${SCHEDULE_RULE}`,
  'egress-class': 'is not a class of the configuration (egress.classes)',
  plan: 'is not a known plan',
  'plan-name': 'must not begin or end with white space or contain control characters',
  'plan-twice': 'another plan has this name',
  pattern: 'must be a pattern such as player{001-120}, with at most {max} names',
  'one-of': 'give exactly one of {allowed}',
  proxy:
    'must be host:port, socks5://host:port, http://host:port, or with TLS socks5s:// or https://, then also with ?ca=/FILE or ?fingerprint=SHA-256',
  'exit-address': 'must be an address, or an IPv6 network such as 2001:db8::/64',
  'exit-family': 'leaves out every address of the exit',
  exit: 'is not a known exit, or not one that the seller of the account has been given',
  'pac-match':
    '{entry} is neither a host name such as example.com or *.example.com nor an address or a network',
  url: 'must be an http:// or https:// URL without a user name or password in it',
  'mail-address': 'must be an e-mail address',
  'chat-id': 'must be the number of a chat, or @ and the name of a channel',
  'secret-again': 'must be entered again, because its destination has changed',
  placeholder: 'may contain only these placeholders: {allowed}',
  host: 'must be a host name or an IP address that players can connect to',
  server: 'must be a host name or an IP address',
  destination: 'must be host:port or [IPv6 address]:port',
  ...GAME_RULE_TEXTS,
  'present-password': 'is not the current password',
  'account-password': 'is not the password of the account',
  'account-link': 'is not the link of the account',
  'one-time-code': 'is not the current code',
  cursor: 'is not a cursor of this list',
  'day-range': 'must make a range of 1 to {max} days with the last day',
} as const;

export type FieldCode = keyof typeof FIELD_TEXTS;
export type FieldValues = Readonly<Record<string, string | number>>;

/** An object that the OpenAPI document describes once, under its id. */
export const component = <Shape extends z.core.$ZodLooseShape>(id: string, shape: Shape) =>
  z.object(shape).meta({ id });

/** One error of a request. */
export const FieldError = component('FieldError', {
  /** The field with the error: `body.remarks`, `query.limit`. */
  path: z.string(),
  message: z.string(),
  code: z.enum(Object.keys(FIELD_TEXTS) as [FieldCode, ...FieldCode[]]),
  /** The values for the braces of the text. */
  values: z.record(z.string(), z.union([z.string(), z.number()])),
});

export type FieldFault = Readonly<z.infer<typeof FieldError>>;

export function fieldError(path: string, code: FieldCode, values: FieldValues = {}): FieldFault {
  return { path, message: fillText(FIELD_TEXTS[code], values), code, values };
}

/** For `refine`: the error of a value that fails the check. */
export const fault = (code: FieldCode, values: FieldValues = {}) => ({ params: { code, values } });

/** A text of an operator whose braces contain only these names. */
export function templateWith(names: readonly string[]) {
  const isKnown = (text: string) =>
    [...text.matchAll(/\{(\w+)\}/g)].every(([, name = '']) => names.includes(name));
  const allowed = names.map((name) => `{${name}}`).join(' ');
  return z.string().min(1).max(1_000).refine(isKnown, fault('placeholder', { allowed }));
}

/** What a message shows in place of the name of a format. */
const EXAMPLES: Readonly<Record<string, string>> = {
  datetime: '2026-11-20T21:00:00Z, 2026-11-20T21:00:00+08:00',
  date: '2026-11-20',
};

/**
 * Converts an issue of a schema into a field error. `where` is the part of the request. Parse with `reportInput`, so that a missing
 * value is recognized.
 */
export function fieldErrorOf(where: string, issue: z.core.$ZodIssue): FieldFault {
  const path = [where, ...issue.path].join('.');
  const of = (code: FieldCode, values?: FieldValues): FieldFault => fieldError(path, code, values);
  switch (issue.code) {
    case 'too_small':
      return of(SIZES[kindOf(issue.origin)].small, { min: Number(issue.minimum) });
    case 'too_big':
      return of(SIZES[kindOf(issue.origin)].big, { max: Number(issue.maximum) });
    case 'invalid_value':
      return of('option', { allowed: issue.values.map(String).join(', ') });
    case 'invalid_format':
      return of('format', {
        format:
          issue.format === 'regex' ? (issue.pattern ?? 'regex') : (EXAMPLES[issue.format] ?? issue.format),
      });
    case 'custom': {
      const { code, values } = (issue.params ?? {}) as Partial<Pick<FieldFault, 'code' | 'values'>>;
      return code === undefined
        ? { ...of('type', { expected: issue.message }), message: issue.message }
        : of(code, values);
    }
    case 'invalid_type':
      return issue.input === undefined ? of('missing') : of('type', { expected: issue.expected });
    case 'invalid_union':
      return issue.input === undefined ? of('missing') : of('type', { expected: 'another form' });
    default:
      return { ...of('type', { expected: issue.code }), message: issue.message };
  }
}

type Sized = 'text' | 'number' | 'list';
const SIZES = {
  text: { small: 'too-short', big: 'too-long' },
  number: { small: 'too-small', big: 'too-large' },
  list: { small: 'too-few', big: 'too-many' },
} as const satisfies Record<Sized, { small: FieldCode; big: FieldCode }>;

function kindOf(origin: string): Sized {
  if (origin === 'string') return 'text';
  return origin === 'array' || origin === 'set' ? 'list' : 'number';
}

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

/** The times of a filter: `from` is inside the range, `to` is not. */
export const TimeRange = { from: TimeIn.optional(), to: TimeIn.optional() };

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

const named = (id: string | undefined) => (id === undefined ? {} : { id });

/**
 * One page of a list. A reader sees "37 of 10,214": `matched` is the number of objects that match the search and filters, and
 * `total` the number of all objects.
 */
export const pageOf = <T extends z.ZodType>(item: T, id?: string) =>
  z
    .object({ items: z.array(item), matched: Count, total: Count, nextCursor: Cursor.nullable() })
    .meta(named(id));

/** A page of a list that is not counted, because it may have millions of rows. */
export const openPageOf = <T extends z.ZodType>(item: T, id?: string) =>
  z.object({ items: z.array(item), nextCursor: Cursor.nullable() }).meta(named(id));

/** A list without pages. */
export const listOf = <T extends z.ZodType>(item: T, id: string) =>
  z.object({ items: z.array(item) }).meta({ id });

/** With a new password: whether the API tokens of its user are revoked too, which otherwise go on working. */
export const RevokeTokens = z.boolean().default(true);

export const IdParams = z.object({ id: Guid });

/** The time range of a chart. It determines the length of the steps. */
export const Range = z.enum(['hour', 'day', 'month']).meta({
  id: 'Range',
  description:
    'hour: the last 60 minutes in steps of 1 minute; day: 24 hours in steps of 10 minutes; month: 30 days in steps of 6 hours.',
});
