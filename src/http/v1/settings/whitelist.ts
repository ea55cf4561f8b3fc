// /api/v1/settings/whitelist. Reading and saving are older than the rest of /api/v1: requests that cannot be read are refused as in
// the account API (`refuseRoute` in answer.ts).
import { z } from 'zod';
import { parseWhitelist } from '../../../core/auth/whitelist.js';
import { explainWhitelist, matchingEntry } from '../../../core/auth/whitelist-explain.js';
import { normalizeAddress, parseIp } from '../../../core/ip.js';
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
    get: {
      operationId: 'getWhitelist',
      summary: 'The IP whitelist as it was saved.',
      description: 'The whitelist.',
    },
    put: {
      operationId: 'setWhitelist',
      summary:
        'Saves the IP whitelist; it applies from the next request. Saves nothing when an entry is not valid, or, with `keepMyAccess=true`, when the list does not allow the address of this request (409 would-lock-you-out).',
      description: 'As it was saved.',
      problems: [409],
    },
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
