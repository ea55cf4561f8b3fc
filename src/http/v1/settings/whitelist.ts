// /api/v1/settings/whitelist. Reading and saving are older than the rest of /api/v1. Their refusals are JSON strings as in the
// account API, except those that only newer clients can cause.

import { z } from 'zod';
import { parseWhitelist } from '../../../core/auth/whitelist.js';
import { explainWhitelist, matchingEntry } from '../../../core/auth/whitelist-explain.js';
import { normalizeAddress, parseIp } from '../../../core/ip.js';
import { answer, quoted, refuse } from '../../answer.js';
import { failure, type ProblemAnswer, sendProblem } from '../../api/problem.js';
import { etagOf, ifMatchOf, routesOf, versionProblem } from '../../api/route.js';
import { Flag } from '../../api/schemas.js';
import { actorOf } from '../../caller.js';
import { kindOf } from '../../fields.js';

const Whitelist = z.object({ whitelist: z.string().max(65_536) }).meta({ id: 'Whitelist' });

const WhitelistCheck = z
  .object({
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
  })
  .meta({ id: 'WhitelistCheck' });

const { route, uncheckedRoute } = routesOf('Settings');

export const whitelistRoutes = [
  uncheckedRoute('GET /api/v1/settings/whitelist', 'getWhitelist', 'settings:read', {
    summary: 'The IP whitelist as it was saved.',
    etag: true,
    responses: { 200: { description: 'The whitelist.', schema: Whitelist } },
    async handle(ctx, { whitelist }) {
      ctx.set('ETag', etagOf(whitelist.text()));
      answer(ctx, { whitelist: whitelist.text() });
    },
  }),
  uncheckedRoute('PUT /api/v1/settings/whitelist', 'setWhitelist', 'settings:write', {
    summary:
      'Saves the IP whitelist; it applies from the next request. Saves nothing when an entry is not valid, or, with `keepMyAccess=true`, when the list does not allow the address of this request (409 would-lock-you-out).',
    etag: true,
    request: { query: z.object({ keepMyAccess: Flag.default(false) }), body: Whitelist },
    responses: { 200: { description: 'As it was saved.', schema: Whitelist } },
    problems: [409],
    async handle(ctx, { whitelist, onSettingChanged, lostAccess }, readJsonObject) {
      const body = await readJsonObject(ctx);
      const refused = ctx.state.caller ? lostAccess(ctx.state.caller) : null;
      if (refused) return sendProblem(ctx, refused);
      if (!body.ok) return refuse(ctx, body.code, body.detail);
      const query = new URLSearchParams(ctx.querystring);
      const unknown = [
        ...body.names.filter((name) => name.toLowerCase() !== 'whitelist'),
        ...[...query.keys()].filter((name) => name !== 'keepMyAccess'),
      ];
      if (unknown[0] !== undefined)
        return refuse(ctx, 'malformed-request', `${quoted(unknown[0])} is unknown; expected whitelist`);
      const text = body.fields.get('whitelist');
      if (typeof text !== 'string') {
        const found = text === undefined ? 'missing' : `of type ${kindOf(text)}`;
        return refuse(ctx, 'malformed-request', `whitelist is ${found}; expected a string`);
      }
      const parsed = parseWhitelist(text);
      const keepsAccess = query.get('keepMyAccess') === 'true';
      const locksOut: ProblemAnswer | null =
        keepsAccess && parsed.ok && !parsed.whitelist.allows(ctx.state.client)
          ? failure('would-lock-you-out', 'not-listed', { address: ctx.state.client })
          : null;
      // The version first: who confirms the lock-out replaces a list that was shown.
      const saved = await whitelist.save(
        text,
        actorOf(ctx.state.caller),
        (stored) => versionProblem(ifMatchOf(ctx.req), etagOf(stored)) ?? locksOut,
      );
      if ('refusal' in saved) return sendProblem(ctx, saved.refusal);
      if (!saved.ok) {
        const bad = saved.badEntries.slice(0, 5).map(quoted).join(', ');
        return refuse(
          ctx,
          'malformed-request',
          `not an address, a prefix ending in *, or a CIDR block: ${bad}`,
        );
      }
      onSettingChanged();
      ctx.set('ETag', etagOf(whitelist.text()));
      answer(ctx, { whitelist: whitelist.text() });
    },
  }),
  route('POST /api/v1/settings/whitelist/check', 'checkWhitelist', 'settings:read', {
    summary: 'Explains each entry of a whitelist, and tests an address; saves nothing.',
    bulkBody: true,
    request: {
      body: Whitelist.extend({ address: z.string().max(255).optional() }).meta({ id: 'WhitelistQuestion' }),
    },
    responses: { 200: { description: 'The explanation.', schema: WhitelistCheck } },
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
