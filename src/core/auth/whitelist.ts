// The IP whitelist of the admin API: parses the text into entries, and checks client addresses.
import type { Cidr, IpBytes } from '../addresses/ip.js';
import { formatIp, groupsOf, inCidr, parseCidr, parseIp, unmap } from '../addresses/ip.js';
import { type Actor, DAEMON } from '../audit/audit.js';
import { createAuditedSetting, noRefusal, type RefusalOf, type SettingStore } from '../settings/setting.js';

export type WhitelistEntry =
  | { readonly text: string; readonly kind: 'any' }
  | { readonly text: string; readonly kind: 'address'; readonly address: string }
  | { readonly text: string; readonly kind: 'prefix'; readonly prefix: AddressPrefix }
  | { readonly text: string; readonly kind: 'cidr'; readonly cidr: Cidr };

/** The part before a trailing `*`: whole octets (IPv4) or groups (IPv6), then the first digits of the next one. */
export interface AddressPrefix {
  readonly family: 4 | 6;
  readonly whole: readonly number[];
  /** Digits as the canonical text writes them, decimal or lower-case hexadecimal; empty matches any octet or group. */
  readonly partial: string;
}

export interface Whitelist {
  /** The first entry that matches a client address; undefined: none. */
  match(address: string | IpBytes): WhitelistEntry | undefined;
  readonly entries: readonly WhitelistEntry[];
  /** Whether a client address may use the admin API. Text that is not an address matches only an empty list or `*`. */
  allows(address: string | IpBytes): boolean;
}

type WhitelistResult =
  | { readonly ok: true; readonly whitelist: Whitelist }
  | { readonly ok: false; readonly badEntries: string[] };

// Comma, the full-width comma of Chinese keyboards, and line breaks.
const SEPARATORS = /[,，\r\n]/;

/**
 * Parses the whitelist setting. Entries are separated by commas (`,` or `，`) or line breaks, trimmed, and skipped when
 * empty; a list without entries allows every address. An entry is
 * - `*`: every address;
 * - an address, IPv4 or IPv6;
 * - an address block, `10.0.0.0/8` or `2001:db8::/32`;
 * - the beginning of an address and a `*`, compared with the text of the address: `10.0.*` is 10.0.0.0 to 10.0.255.255,
 *   and `10.1*` is every address whose text starts with `10.1` (10.1.x, 10.10.x to 10.19.x, 10.100.x to 10.199.x), as
 *   other proxy managers interpret it. `10.*.*.*` is `10.*`. In IPv6 the groups before the `*` are written
 *   out: `2001:db8:*`, `2001:db8*`; `fe80::*` is two zero groups after `fe80`. `::` elsewhere is refused: ambiguous
 *   which group the `*` is in.
 * IPv4-mapped IPv6 addresses count as IPv4, in entries and in checked addresses. If any entry is invalid, the result is
 * a list of all invalid entries.
 */
export function parseWhitelist(text: string): WhitelistResult {
  const parsed = entriesOf(text).map((entry) => ({ entry, read: parseEntry(entry) }));
  const badEntries = parsed.flatMap(({ entry, read }) => (read ? [] : [entry]));
  if (badEntries.length > 0) return { ok: false, badEntries };
  const entries = parsed.flatMap(({ read }) => read ?? []);
  const match: Whitelist['match'] = (address) => {
    const ip = typeof address === 'string' ? parseIp(address) : address;
    if (!ip) return entries.find(({ kind }) => kind === 'any');
    const plain = unmap(ip);
    const canonical = formatIp(plain);
    return entries.find((entry) => matches(entry, plain, canonical));
  };
  const allows: Whitelist['allows'] = (address) => entries.length === 0 || match(address) !== undefined;
  return { ok: true, whitelist: { entries, match, allows } };
}

export const entriesOf = (text: string): string[] =>
  text
    .split(SEPARATORS)
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');

function matches(entry: WhitelistEntry, ip: IpBytes, canonical: string): boolean {
  switch (entry.kind) {
    case 'any':
      return true;
    case 'address':
      return entry.address === canonical;
    case 'prefix':
      return matchesPrefix(entry.prefix, ip);
    case 'cidr':
      return inCidr(ip, entry.cidr);
  }
}

function matchesPrefix({ family, whole, partial }: AddressPrefix, ip: IpBytes): boolean {
  if (ip.length !== (family === 4 ? 4 : 16)) return false;
  const units = family === 4 ? [...ip] : groupsOf(ip);
  if (!whole.every((unit, i) => units[i] === unit)) return false;
  return (units[whole.length] ?? 0).toString(family === 4 ? 10 : 16).startsWith(partial);
}

/** Null: it is none. */
export function parseEntry(text: string): WhitelistEntry | null {
  if (text === '*') return { text, kind: 'any' };
  if (text.endsWith('*')) {
    const prefix = parsePrefix(text.slice(0, -1).toLowerCase());
    return prefix && { text, kind: 'prefix', prefix };
  }
  if (text.includes('/')) {
    const cidr = parseCidr(text);
    return cidr && { text, kind: 'cidr', cidr };
  }
  const ip = parseIp(text);
  return ip && { text, kind: 'address', address: formatIp(unmap(ip)) };
}

// ::ffff:10.0.* is 10.0.*; the dot shows that the rest is IPv4.
const MAPPED = /^::ffff:(?=[0-9*]+\.)/;
const OCTET = /^(?:0|[1-9][0-9]{0,2})$/;
const GROUP = /^[0-9a-f]{1,4}$/;
const PARTIAL_GROUP = /^(?:0|[1-9a-f][0-9a-f]{0,3})?$/;

function parsePrefix(before: string): AddressPrefix | null {
  const plain = before.replace(MAPPED, '');
  return plain.includes(':') ? parseIpv6Prefix(plain) : parseIpv4Prefix(plain);
}

function parseIpv4Prefix(text: string): AddressPrefix | null {
  const units = text.split('.');
  if (units.length > 4) return null;
  // 10.*.*.* means the same as 10.*: the stars before the last one are dropped.
  while (units.length > 1 && units.at(-1) === '' && units.at(-2) === '*') units.splice(-2, 1);
  const partial = units.pop() ?? '';
  if (text === '' || ![...units, partial || '0'].every((unit) => OCTET.test(unit) && Number(unit) <= 255))
    return null;
  return { family: 4, whole: units.map(Number), partial };
}

function parseIpv6Prefix(text: string): AddressPrefix | null {
  // fe80:: before the star is the text of fe80, 0, 0 and more: "::" stands for two zero groups at least (RFC 5952 §4.2.2).
  const units = text.replace(/^::$/, '0:0:').replace(/::$/, ':0:0:').split(':');
  const partial = units.pop() ?? '';
  if (units.length > 7 || !units.every((unit) => GROUP.test(unit)) || !PARTIAL_GROUP.test(partial))
    return null;
  return { family: 6, whole: units.map((unit) => Number.parseInt(unit, 16)), partial };
}

export const WHITELIST_KEY = 'admin.whitelist';

export type WhitelistSetting = ReturnType<typeof createWhitelistSetting>;

/** Allows no address until `reload` has read the setting. */
export function createWhitelistSetting(store: SettingStore) {
  const setting = createAuditedSetting<{ readonly text: string; readonly allows: Whitelist['allows'] }>({
    store,
    key: WHITELIST_KEY,
    name: 'whitelist',
    initial: { text: '', allows: () => false },
    parse(text) {
      const parsed = parseWhitelist(text);
      if (parsed.ok) return { text, allows: parsed.whitelist.allows };
      const entries = parsed.badEntries.join(', ');
      throw new Error(`invalid entries in the stored IP whitelist: ${entries}`);
    },
    format: ({ text }) => text,
    audited: (before, after) => ({ before: { whitelist: before.text }, after: { whitelist: after.text } }),
  });

  return {
    key: WHITELIST_KEY,
    reload: setting.reload,

    /**
     * Saves `text` if every entry is valid, and `refusalOf` returns null for the stored text. It applies from the next request on. Returns
     * the invalid entries, or what `refusalOf` returned, when nothing was saved. Rejects when it cannot be written.
     */
    async save<Refusal = never>(
      text: string,
      by: Actor = DAEMON,
      refusalOf: RefusalOf<string, Refusal> = noRefusal,
    ): Promise<
      { ok: true } | { ok: false; badEntries: readonly string[] } | { ok: false; refusal: Refusal }
    > {
      const parsed = parseWhitelist(text);
      if (!parsed.ok) return { ok: false, badEntries: parsed.badEntries };
      const next = { text, allows: parsed.whitelist.allows };
      const refusal = await setting.save(
        () => next,
        by,
        (stored) => refusalOf(stored.text),
      );
      return refusal === null ? { ok: true } : { ok: false, refusal };
    },

    /** The saved text; empty when nothing was saved. */
    text: (): string => setting.current().text,
    /** Whether a client address may use the admin API. */
    allows: (address: string | IpBytes): boolean => setting.current().allows(address),
  };
}
