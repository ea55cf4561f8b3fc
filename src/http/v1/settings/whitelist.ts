// /api/v1/settings/whitelist. Reading and saving are older than the rest of /api/v1: requests that cannot be read are refused as in
// the account API (`refuseRoute` in answer.ts). Also explains a whitelist: the range of each entry, and which one matches an address.
import { z } from 'zod';
import {
  type AddressPrefix,
  entriesOf,
  parseEntry,
  parseWhitelist,
  type WhitelistEntry,
} from '../../../core/auth/whitelist.js';
import { formatIp, type IpBytes, inCidr, normalizeAddress, parseIp, unmap } from '../../../core/ip.js';
import { quoted } from '../../answer.js';
import { failure } from '../../api/problem.js';
import { routesOf } from '../../api/route.js';
import { component, Flag } from '../../api/schemas.js';
import { settingRoutes } from './setting-routes.js';

const Whitelist = component('Whitelist', { whitelist: z.string().max(65_536) });

const WhitelistCheck = component('WhitelistCheck', {
  valid: z.boolean(),
  entries: z.array(
    z.object({
      text: z.string(),
      kind: z.enum(['address', 'wildcard', 'cidr', 'everyone', 'invalid']),
      /** First and last address, for an entry that is neither everyone nor invalid. */
      first: z.string().nullable(),
      last: z.string().nullable(),
    }),
  ),
  /** The client address of this request, and whether the list would still allow it. */
  yourAddress: z.string(),
  yourAddressAllowed: z.boolean(),
  /** The tested address; null when none was given, or it is not valid. */
  address: z.string().nullable(),
  addressAllowed: z.boolean().nullable(),
  /** The entry that allows the address; null: none, or the list is empty and everyone is allowed. */
  matchedBy: z.string().nullable(),
});

const { route } = routesOf('Settings');

export const whitelistRoutes = [
  ...settingRoutes({
    name: 'whitelist',
    schema: Whitelist,
    body: Whitelist,
    query: z.object({ keepMyAccess: Flag.default(false) }),
    get: ['getWhitelist', 'The IP whitelist as it was saved.', 'The whitelist.'],
    put: [
      'setWhitelist',
      'Saves the IP whitelist; it applies from the next request. Saves nothing when an entry is not valid, or, with `keepMyAccess=true`, when the list does not allow the address of this request (409 would-lock-you-out).',
      'As it was saved.',
      { problems: [409] },
    ],
    present: ({ whitelist }) => ({ body: { whitelist: whitelist.text() }, version: whitelist.text() }),
    async save({ body, query, caller: { address }, by }, { whitelist }, otherVersion) {
      const parsed = parseWhitelist(body.whitelist);
      const locksOut =
        query.keepMyAccess && parsed.ok && !parsed.whitelist.allows(address)
          ? failure('would-lock-you-out', 'not-listed', { address })
          : null;
      // The version first: who confirms the lock-out replaces a list that was shown.
      const saved = await whitelist.save(body.whitelist, by, (stored) => otherVersion(stored) ?? locksOut);
      if (saved.ok) return null;
      if ('refusal' in saved) return saved.refusal;
      const bad = saved.badEntries.slice(0, 5).map(quoted).join(', ');
      const detail = `not an address, a prefix ending in *, or a CIDR block: ${bad}`;
      return { problem: 'bad-request', detail };
    },
  }),
  route('POST /api/v1/settings/whitelist/check', 'checkWhitelist', 'settings:read', {
    summary: 'Explains each entry of a whitelist, and tests an address; saves nothing.',
    bulkBody: true,
    request: {
      body: Whitelist.extend({ address: z.string().max(255).optional() }).meta({ id: 'WhitelistQuestion' }),
    },
    success: [200, 'The explanation.', WhitelistCheck],
    async handle({ body: { whitelist, address }, caller }) {
      const entries = explainWhitelist(whitelist);
      const parsed = parseWhitelist(whitelist);
      const given = address === undefined ? null : normalizeAddress(address.trim());
      const known = given !== null && parseIp(given) ? given : null;
      const allows = (each: string) => parsed.ok && parsed.whitelist.allows(each);
      return {
        body: {
          valid: parsed.ok,
          entries,
          yourAddress: caller.address,
          yourAddressAllowed: allows(caller.address),
          address: known,
          addressAllowed: known === null ? null : allows(known),
          matchedBy: known === null ? null : matchingEntry(whitelist, known),
        },
      };
    },
  }),
];

interface ExplainedEntry {
  readonly text: string;
  readonly kind: 'address' | 'wildcard' | 'cidr' | 'everyone' | 'invalid';
  /** First and last address; null for `*` and for invalid entries. */
  readonly first: string | null;
  readonly last: string | null;
}

/** The entries of a list in order, each parsed separately; omits empty entries. */
export const explainWhitelist = (text: string): ExplainedEntry[] =>
  entriesOf(text).map((each) => {
    const entry = parseEntry(each);
    return entry ? explain(entry) : { text: each, kind: 'invalid', first: null, last: null };
  });

/** The first entry that matches `address`; null when none does. */
function matchingEntry(text: string, address: string): string | null {
  const parsed = parseWhitelist(text);
  return parsed.ok ? (parsed.whitelist.match(address)?.text ?? null) : null;
}

function explain(entry: WhitelistEntry): ExplainedEntry {
  const { text } = entry;
  switch (entry.kind) {
    case 'any':
      return { text, kind: 'everyone', first: null, last: null };
    case 'address':
      return { text, kind: 'address', first: entry.address, last: entry.address };
    case 'cidr': {
      const base = baseOf(text);
      const ends = base && edges(base, (ip) => inCidr(ip, entry.cidr));
      return { text, kind: 'cidr', first: ends?.[0] ?? null, last: ends?.[1] ?? null };
    }
    case 'prefix':
      return {
        text,
        kind: 'wildcard',
        first: edgeOf(entry.prefix, 'first'),
        last: edgeOf(entry.prefix, 'last'),
      };
  }
}

function baseOf(cidr: string): IpBytes | null {
  const ip = parseIp(cidr.slice(0, cidr.lastIndexOf('/')));
  return ip && unmap(ip);
}

/** The first and last address of a block: clears or sets bits, starting with the last, while the address stays in the block. */
function edges(base: IpBytes, isInside: (ip: IpBytes) => boolean): [string, string] {
  const first = Uint8Array.from(base);
  const last = Uint8Array.from(base);
  for (let bit = base.length * 8 - 1; bit >= 0; bit -= 1) {
    const mask = 0x80 >> (bit % 8);
    const at = bit >> 3;
    const flipped = Uint8Array.from(base);
    flipped[at] = (flipped[at] ?? 0) ^ mask;
    if (!isInside(flipped)) break;
    first[at] = (first[at] ?? 0) & ~mask;
    last[at] = (last[at] ?? 0) | mask;
  }
  return [formatIp(first), formatIp(last)];
}

function edgeOf({ family, whole, partial }: AddressPrefix, edge: 'first' | 'last'): string {
  const length = family === 4 ? 4 : 8;
  const highest = family === 4 ? 255 : 0xffff;
  const units = Array.from({ length }, (_, i) => {
    const fixed = whole[i];
    if (fixed !== undefined) return fixed;
    if (i === whole.length && partial !== '') return unitWith(partial, family, edge);
    return edge === 'first' ? 0 : highest;
  });
  if (family === 4) return units.join('.');
  const bytes = Uint8Array.from(units.flatMap((unit) => [unit >> 8, unit & 255]));

  return formatIp(bytes);
}

/** The lowest or highest octet or group whose digits begin with `partial`. */
function unitWith(partial: string, family: 4 | 6, edge: 'first' | 'last'): number {
  const radix = family === 4 ? 10 : 16;
  if (edge === 'first') return Number.parseInt(partial, radix);
  const highest = family === 4 ? 255 : 0xffff;
  for (let unit = highest; unit >= 0; unit -= 1) {
    if (unit.toString(radix).startsWith(partial)) return unit;
  }
  return 0;
}
