// /api/v1/settings/whitelist. Reading and saving are older than the rest of /api/v1: requests that cannot be read are refused as in
// the account API (`refuseRoute` in answer.ts). Also explains a whitelist: the range of each entry, and which one matches an address.
import { z } from 'zod';
import { formatIp, lastOf, normalizeAddress, parseIp } from '../../../core/addresses/ip.js';
import type { AddressPrefix, WhitelistEntry } from '../../../core/auth/whitelist.js';
import { entriesOf, parseEntry, parseWhitelist } from '../../../core/auth/whitelist.js';
import { quoted } from '../../answer.js';
import { failure } from '../../api/problem.js';
import { routesOf } from '../../api/route.js';
import { component, Flag } from '../../api/schemas.js';
import { settingRoutes } from './setting-routes.js';

const Whitelist = component('Whitelist', { whitelist: z.string().max(65_536) });

const ExplainedEntry = z.object({
  text: z.string(),
  kind: z.enum(['address', 'wildcard', 'cidr', 'everyone', 'invalid']),
  /** First and last address, for an entry that is neither everyone nor invalid. */
  first: z.string().nullable(),
  last: z.string().nullable(),
});

const WhitelistCheck = component('WhitelistCheck', {
  valid: z.boolean(),
  entries: z.array(ExplainedEntry),
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

/** The entries of a list in order, each parsed separately; omits empty entries. */
export const explainWhitelist = (text: string): z.infer<typeof ExplainedEntry>[] =>
  entriesOf(text).map((each) => {
    const entry = parseEntry(each);
    return entry ? explain(entry) : { text: each, kind: 'invalid', first: null, last: null };
  });

/** The first entry that matches `address`; null when none does. */
function matchingEntry(text: string, address: string): string | null {
  const parsed = parseWhitelist(text);
  return parsed.ok ? (parsed.whitelist.match(address)?.text ?? null) : null;
}

function explain(entry: WhitelistEntry): z.infer<typeof ExplainedEntry> {
  const { text } = entry;
  switch (entry.kind) {
    case 'any':
      return { text, kind: 'everyone', first: null, last: null };
    case 'address':
      return { text, kind: 'address', first: entry.address, last: entry.address };
    case 'cidr':
      return { text, kind: 'cidr', first: formatIp(entry.cidr.bytes), last: formatIp(lastOf(entry.cidr)) };
    case 'prefix':
      return { text, kind: 'wildcard', ...edgesOf(entry.prefix) };
  }
}

function edgesOf({ family, whole, partial }: AddressPrefix): { first: string; last: string } {
  const [length, highest, radix] = family === 4 ? [4, 255, 10] : [8, 0xffff, 16];
  const textOf = (next: number, rest: number): string => {
    const units = Array.from({ length }, (_, i) => whole[i] ?? (i === whole.length ? next : rest));
    return formatIp(Uint8Array.from(family === 4 ? units : units.flatMap((unit) => [unit >> 8, unit & 255])));
  };
  // The highest octet or group whose digits begin with `partial`; the lowest has no more digits.
  let last = highest;
  while (!last.toString(radix).startsWith(partial)) last -= 1;
  return { first: textOf(Number.parseInt(partial || '0', radix), 0), last: textOf(last, highest) };
}
