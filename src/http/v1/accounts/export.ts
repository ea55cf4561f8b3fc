// /api/v1/accounts/export: accounts as a file. The formats are injected, and the command line uses the same ones.
import { z } from 'zod';
import { isTimeZone } from '../../../core/time-zone.js';
import { fault } from '../../api/field-errors.js';
import { because } from '../../api/problem-reasons.js';
import { routesOf } from '../../api/route.js';
import { Flag } from '../../api/schemas.js';
import { pageSortedBy } from '../cursors.js';
import { matcherFor } from './filter.js';
import { AccountFilter, AccountSort, FileFormat } from './schemas.js';
import { accountSortKeys } from './shared.js';

const { route } = routesOf('Import and export');
const TYPES: Readonly<Record<FileFormat, { readonly type: string; readonly name: string }>> = {
  csv: { type: 'text/csv; charset=utf-8', name: 'accounts.csv' },
  json: { type: 'application/json; charset=utf-8', name: 'accounts.json' },
  ccproxy: { type: 'text/plain; charset=utf-8', name: 'AccInfo.ini' },
};

export const accountExportRoutes = [
  route('GET /api/v1/accounts/export', 'exportAccounts', 'accounts:read', {
    summary: 'Accounts as a file, streamed; filters as in the list. Password hashes only with `withHashes`.',
    needsConfirmation: ({ withHashes }) => withHashes === true,
    request: {
      query: AccountFilter.extend({
        format: FileFormat.default('csv'),
        sort: AccountSort.default('username'),
        /** IANA time zone of CCProxy's dates, which name no zone. */
        zone: z.string().max(64).refine(isTimeZone, fault('time-zone')).default('UTC'),
        /** Needed to move accounts to another Pulsegate with their passwords. Operators and tokens may not set it. */
        withHashes: Flag.default(false),
      }),
    },
    responses: {
      200: {
        description:
          'The file, as an attachment. CSV cells that a spreadsheet could evaluate as formulas get an apostrophe.',
        contentType: 'text/csv',
      },
    },
    async handle({ query: { format, sort, withHashes, zone, ...filter }, caller }, deps) {
      // Hashes allow offline guessing, so only a caller with all scopes gets them.
      if (withHashes && caller.scopes !== null) {
        return { problem: 'wrong-scope', ...because('hashes') };
      }
      const chosen = deps.accounts.list().filter(matcherFor(deps, filter, deps.now()));
      const limit = chosen.length;
      const keys = accountSortKeys(deps);
      const { items } = pageSortedBy(chosen, { sort, limit }, keys, ({ account }) => account.id);
      const { type, name } = TYPES[format];
      return {
        body: deps.exportAccounts(format, items, { withHashes, zone }),
        headers: { 'Content-Type': type, 'Content-Disposition': `attachment; filename="${name}"` },
      };
    },
  }),
];
