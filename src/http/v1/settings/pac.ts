// /api/v1/settings/pac: which destinations the players' proxy auto-configuration files send through the proxy.
import { z } from 'zod';
import { isPacMatch, MAX_PAC_RULES } from '../../../core/accounts/player/pac.js';
import { fault } from '../../api/field-errors.js';
import { settingRoutes } from './setting-routes.js';

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

export const pacRoutes = settingRoutes({
  name: 'pac',
  schema: PacRules,
  body: PacRules,
  get: {
    operationId: 'getPacRules',
    summary: 'Which hosts the players’ PAC files send through the proxy.',
    description: 'The rules, in order.',
  },
  put: {
    operationId: 'setPacRules',
    summary: 'Saves the rules of the players’ PAC files.',
    description: 'As saved.',
    bulkBody: true,
  },
  present: ({ pac }) => ({ body: pac.current() }),
  save: ({ body, by }, { pac }, otherVersion) => pac.save(() => body, by, otherVersion),
});
