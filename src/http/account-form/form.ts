// The account form of CCProxy as its panels send it: `add=1&enable=1&username=…&userid=-1`, `edit=1&…&userid=NAME`,
// `delete=1&userid=NAME`. Values may be UTF-8 or GBK, and no client sends a Content-Type.
import { parse } from 'node:querystring';
import { networksOfRange } from '../../core/accounts/access/address-list.js';
import type { AccountLimits } from '../../core/accounts/usage/limits.js';
import { parseGeoRule } from '../../core/addresses/geo.js';
import { decoded, UTF8_WITHOUT_MARK } from '../../core/text.js';
import { zonedTime } from '../../core/time/time-zone.js';
import { parseWireDate } from '../../core/time/wire-date.js';
import { quoted, type Refusal, refusal } from '../answer.js';

/** The account fields of a form. Undefined: the form does not contain the field, and the account keeps its value. */
interface FormFields {
  readonly isEnabled?: boolean | undefined;
  /** In milliseconds since the epoch. */
  readonly expiresAt?: number | null | undefined;
  readonly allowedClients?: readonly string[] | undefined;
  readonly limits: Partial<AccountLimits>;
}

export type FormAction =
  | {
      readonly kind: 'add';
      readonly username: string;
      readonly password: string;
      readonly fields: FormFields;
    }
  | {
      readonly kind: 'edit';
      /** The present user name. */
      readonly user: string;
      readonly username: string | undefined;
      readonly password: string | undefined;
      readonly fields: FormFields;
    }
  | { readonly kind: 'delete'; readonly user: string };

/** CCProxy's forms have some twenty fields. A form with more fields than this is refused. */
const MAX_FIELDS = 100;

const SPACES = Buffer.from(' \t\r\n');

const gbk = new TextDecoder('gb18030', { fatal: true });

/** @param zone IANA time zone of `disabledate` and `disabletime` */
export function parseForm(
  body: Buffer,
  zone: string,
): { readonly ok: true; readonly action: FormAction } | Refusal {
  const values = decode(body);
  if (!(values instanceof Map)) return values;
  const of = (name: string): string | undefined => values.get(name);
  const user = of('userid') ?? '';
  if (of('delete') === '1') {
    if (user === '') return wrong('userid is missing; expected the name of the account to delete');
    return { ok: true, action: { kind: 'delete', user } };
  }
  const kind = of('add') === '1' ? 'add' : of('edit') === '1' ? 'edit' : null;
  if (kind === null) return wrong('expected add=1, edit=1 or delete=1');
  const fields = parseFields(of, kind, zone);
  if (!fields.ok) return fields;
  const username = of('username') || undefined;
  const password = of('password') || undefined;
  if (kind === 'edit') {
    if (user === '' || user === '-1')
      return wrong('userid is missing; expected the name of the account to edit');
    return { ok: true, action: { kind, user, username, password, fields: fields.value } };
  }
  if (username === undefined || password === undefined)
    return refusal('empty-credentials', 'username and password are needed');
  return { ok: true, action: { kind, username, password, fields: fields.value } };
}

type Read = (name: string) => string | undefined;
type Parsed<Value> = { readonly ok: true; readonly value: Value } | Refusal;

/** A box of a form that is not ticked is not sent: a new account without `enable` is disabled. An edit leaves what is not sent. */
function parseFields(of: Read, kind: 'add' | 'edit', zone: string): Parsed<FormFields> {
  if (of('usepassword') === '0') return wrong('usepassword is 0; an account always has a password');
  if (of('usemacaddress') === '1')
    return wrong('usemacaddress is 1; an account cannot be bound to a MAC address');
  const expiresAt = parseExpiry(of, kind, zone);
  if (!expiresAt.ok) return expiresAt;
  const allowedClients = parseAddresses(of);
  if (!allowedClients.ok) return allowedClients;
  const limits = parseLimits(of);
  if (!limits.ok) return limits;
  const enable = of('enable') ?? (kind === 'add' ? '0' : undefined);
  const isEnabled = of('enablesocks') === '0' ? false : enable === undefined ? undefined : enable === '1';
  return {
    ok: true,
    value: {
      isEnabled,
      expiresAt: expiresAt.value,
      allowedClients: allowedClients.value,
      limits: limits.value,
    },
  };
}

function parseExpiry(of: Read, kind: 'add' | 'edit', zone: string): Parsed<number | null | undefined> {
  const isOn = of('autodisable');
  if (isOn !== '1') return { ok: true, value: isOn === undefined && kind === 'edit' ? undefined : null };
  const [date = '', time = ''] = [of('disabledate')?.trim(), of('disabletime')?.trim()];
  const local = parseWireDate(`${date}T${time || '00:00:00'}`);
  if (local !== null && /^[\d-]+$/.test(date) && /^[\d:]*$/.test(time))
    return { ok: true, value: zonedTime(local, zone) };
  const found = quoted(`${date} ${time}`);
  return refusal(
    'malformed-date',
    `the end is ${found}; expected disabledate=YYYY-MM-DD and disabletime=HH:MM:SS`,
  );
}

/** One address, the first and the last with a dash between, or a country or network (ASN). */
function parseAddresses(of: Read): Parsed<readonly string[] | undefined> {
  const isOn = of('useipaddress');
  if (isOn === undefined) return { ok: true, value: undefined };
  if (isOn !== '1') return { ok: true, value: [] };
  const text = of('ipaddress')?.trim() ?? '';
  if (parseGeoRule(text) !== null) return { ok: true, value: [text] };
  const [first = '', last = first, ...more] = text.split('-').map((part) => part.trim());
  const networks = more.length > 0 ? null : networksOfRange(first, last);
  if (networks) return { ok: true, value: networks };
  return wrong(
    `ipaddress is ${quoted(text)}; expected an address, the first and the last with a dash between, asn:64500 or country:de`,
  );
}

/** `bandwidth` is bytes a second for both directions, or `up/down`. */
function parseLimits(of: Read): Parsed<Partial<AccountLimits>> {
  const connection = of('connection');
  const bandwidth = of('bandwidth');
  const limits: { -readonly [K in keyof AccountLimits]?: AccountLimits[K] } = {};
  if (connection) {
    const maxSessions = countOf(connection);
    if (maxSessions === undefined)
      return wrong(`connection is ${quoted(connection)}; expected -1 or a whole number from 1`);
    limits.maxSessions = maxSessions;
  }
  if (bandwidth) {
    const [up = '', down = up, ...more] = bandwidth.split('/');
    const [bytesUp, bytesDown] = [up, down].map(countOf);
    if (bytesUp === undefined || bytesDown === undefined || more.length > 0)
      return wrong(
        `bandwidth is ${quoted(bandwidth)}; expected -1 or bytes a second from 1, or both as up/down`,
      );
    limits.bytesPerSecondUp = bytesUp;
    limits.bytesPerSecondDown = bytesDown;
  }
  return { ok: true, value: limits };
}

/** Null for -1, which is no limit; undefined for an invalid number. */
function countOf(text: string): number | null | undefined {
  const trimmed = text.trim();
  if (trimmed === '-1') return null;
  const count = Number(trimmed);
  return /^\d+$/.test(trimmed) && count >= 1 && Number.isSafeInteger(count) ? count : undefined;
}

/** The values by name in lower case. A name that comes twice must have one value. */
function decode(body: Buffer): Map<string, string> | Refusal {
  let isUnreadable = false;
  const text = (escaped: string): string => {
    const bytes = bytesOf(escaped);
    const found = decoded(bytes, UTF8_WITHOUT_MARK) ?? decoded(bytes, gbk);
    isUnreadable ||= found === null;
    return found ?? '';
  };
  // One character a byte, so that `bytesOf` returns the bytes that were sent.
  const parsed = parse(withoutSpaces(body).toString('latin1'), '&', '=', {
    decodeURIComponent: text,
    maxKeys: MAX_FIELDS + 1,
  });
  // Refuse the form: the parser would silently drop the fields beyond its limit.
  const count = Object.values(parsed).flat().length;
  if (count > MAX_FIELDS) return wrong(`the form has more than ${MAX_FIELDS} fields`);
  const values = new Map<string, string>();
  for (const [name, value] of Object.entries(parsed)) {
    const all = new Set([value ?? ''].flat());
    const known = values.get(name.toLowerCase());
    if (known !== undefined) all.add(known);
    const [only = ''] = all;
    if (all.size > 1) return wrong(`${quoted(name)} is given more than once`);
    values.set(name.toLowerCase(), only);
  }
  return isUnreadable ? wrong('the body is neither UTF-8 nor GBK') : values;
}

/** Without ASCII white space at both ends. Other characters can have bytes that are white space in Latin-1: 你 ends with A0. */
function withoutSpaces(body: Buffer): Buffer {
  const isSpace = (at: number) => SPACES.includes(body[at] ?? 0);
  let [start, end] = [0, body.length];
  while (start < end && isSpace(start)) start += 1;
  while (end > start && isSpace(end - 1)) end -= 1;
  return body.subarray(start, end);
}

/** The bytes of a value with its percent escapes; a percent sign that begins none stands for itself. */
function bytesOf(escaped: string): Buffer {
  const plain = escaped.replace(/%([0-9a-f]{2})/gi, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
  return Buffer.from(plain, 'latin1');
}

const wrong = (detail: string): Refusal => refusal('malformed-request', detail);
