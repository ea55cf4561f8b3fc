// /api/v1/settings/pac: which destinations the players' proxy auto-configuration files send through the proxy.
import { z } from 'zod';
import { isPacMatch, MAX_PAC_RULES, type PacRules as Rules } from '../../../core/accounts/player/pac.js';
import { etagOf, refuseChanged } from '../../api/etag.js';
import { fault } from '../../api/field-errors.js';
import { type Answered, routesOf } from '../../api/route.js';
import { actorOf } from '../../caller.js';

const PacWay = z.enum(['proxy', 'direct']).meta({ id: 'PacWay' });

const PacMatch = z
  .string()
  .min(1)
  .max(255)
  .superRefine((entry, context) => {
    if (!isPacMatch(entry)) context.addIssue({ code: 'custom', ...fault('pac-match', { entry }) });
  });

const PacRules = z
  .object({
    /** The first matching rule wins: example.com, *.example.com (every name below it), an address or a network. */
    rules: z.array(z.object({ match: PacMatch, via: PacWay })).max(MAX_PAC_RULES),
    /** For hosts without a matching rule. */
    otherwise: PacWay,
  })
  .meta({ id: 'PacRules' });

const { route } = routesOf('Settings');
const path = '/api/v1/settings/pac';

export const pacRoutes = [
  route(
    {
      method: 'GET',
      path,
      operationId: 'getPacRules',
      summary: 'Which hosts the players’ PAC files send through the proxy.',
      access: 'settings:read',
      etag: true,
      request: {},
      responses: { 200: { description: 'The rules, in order.', schema: PacRules } },
    },
    async (_input, { pac }) => shown(pac.current()),
  ),
  route(
    {
      method: 'PUT',
      path,
      operationId: 'setPacRules',
      summary: 'Saves the rules of the players’ PAC files.',
      access: 'settings:write',
      etag: true,
      bulkBody: true,
      request: { body: PacRules },
      responses: { 200: { description: 'As saved.', schema: PacRules } },
      problems: [412],
    },
    async ({ body, caller, ifMatch }, { pac, onSettingChanged }) => {
      const refused = await pac.save(body, actorOf(caller), (stored) =>
        refuseChanged(ifMatch, etagOf(stored)),
      );
      if (refused) return refused;
      onSettingChanged();
      return shown(pac.current());
    },
  ),
];

function shown(rules: Rules): Answered {
  return { status: 200, body: rules, headers: { ETag: etagOf(rules) } };
}
