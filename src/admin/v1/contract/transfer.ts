// Accounts in and out as files: CSV, JSON, and CCProxy's account file.
import { z } from 'zod';
import { AccountFilter, AccountSort } from './accounts.js';
import { Count, route } from './common.js';

export const FileFormat = z.enum(['csv', 'json', 'ccproxy']).meta({ id: 'FileFormat' });

/**
 * What happens to an account that exists already. `keep`: it stays as it is and only takes usage and limits it
 * does not have; `replace`: every field the file has is overwritten; `skip`: it is left wholly alone.
 */
export const OnExisting = z.enum(['keep', 'replace', 'skip']).meta({ id: 'OnExisting' });

export const ImportReport = z
  .object({
    dryRun: z.boolean(),
    format: FileFormat,
    /** Records read from the file. */
    read: Count,
    added: Count,
    replaced: Count,
    kept: Count,
    skipped: Count,
    failed: Count,
    /** Every line that was not simply added first, then the added ones; the first 1,000 of them all. */
    lines: z.array(
      z.object({
        /** 1 is the first line of the file. */
        line: z.int().min(1),
        username: z.string().nullable(),
        outcome: z.enum(['added', 'replaced', 'kept', 'skipped', 'failed']),
        /** Why, for `failed` and `skipped`. */
        message: z.string().nullable(),
      }),
    ),
    linesLeftOut: Count,
  })
  .meta({ id: 'ImportReport' });

const tag = 'Import and export';
export const transferRoutes = [
  route({
    method: 'GET',
    path: '/api/v1/accounts/export',
    operationId: 'exportAccounts',
    summary: 'Accounts as a file, streamed; filters as in the list. Password hashes only when asked for.',
    tag,
    access: 'accounts:read',
    request: {
      query: AccountFilter.extend({
        format: FileFormat.default('csv'),
        sort: AccountSort.default('username'),
        /** Needed to move accounts to another Pulsegate with their passwords; the operator only. */
        withHashes: z.stringbool({ truthy: ['true'], falsy: ['false'], case: 'sensitive' }).default(false),
      }),
    },
    responses: {
      200: {
        description: 'The file, as an attachment. CSV cells that a spreadsheet would run are quoted.',
        contentType: 'text/csv',
      },
    },
  }),
  route({
    method: 'POST',
    path: '/api/v1/accounts/import',
    operationId: 'importAccounts',
    summary: 'Reads accounts from a file, or with `dryRun=true` only says what would happen.',
    tag,
    access: 'accounts:write',
    request: {
      query: z.object({
        format: FileFormat.default('csv'),
        existing: OnExisting.default('skip'),
        dryRun: z.stringbool({ truthy: ['true'], falsy: ['false'], case: 'sensitive' }).default(false),
      }),
      raw: ['text/csv', 'application/json', 'text/plain'],
    },
    responses: { 200: { description: 'A report per line.', schema: ImportReport } },
    problems: [413, 415],
  }),
];
