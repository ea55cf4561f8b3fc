// Accounts in and out as files: CSV, JSON, and CCProxy's account file.
import { z } from 'zod';
import { isTimeZone } from '../../../core/time-zone.js';
import { AccountFilter, AccountSort } from './accounts.js';
import { Count, route, Time } from './common.js';

export const FileFormat = z.enum(['csv', 'json', 'ccproxy']).meta({ id: 'FileFormat' });

/**
 * What happens to an account that exists already. `keep`: it stays as it is and only takes usage and limits it
 * does not have; `replace`: every field the file has is overwritten; `skip`: it is left wholly alone.
 */
export const OnExisting = z.enum(['keep', 'replace', 'skip']).meta({ id: 'OnExisting' });

/** How the bytes of a file stand for text. `gb18030` is also GBK, its subset. */
export const FileEncoding = z.enum(['utf-8', 'gb18030', 'utf-16le', 'utf-16be']).meta({ id: 'FileEncoding' });

export const ImportReport = z
  .object({
    dryRun: z.boolean(),
    format: FileFormat,
    /** What the file was read in; null for one that holds nothing. */
    encoding: FileEncoding.nullable(),
    /** What dates that name no zone were read in. */
    zone: z.string(),
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
        /** The same as a code, with the values in its text. */
        reason: z.object({ code: z.string(), values: z.record(z.string(), z.string()) }).nullable(),
        /** What the account has, or with a trial would have, afterwards; null where there is none. */
        account: z.object({ remarks: z.string().nullable(), expiresAt: Time.nullable() }).nullable(),
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
        /** IANA name of the zone that CCProxy's dates, which name none, are written in. */
        zone: z.string().max(64).refine(isTimeZone, 'no such time zone').default('UTC'),
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
        /** Left out: found out from the bytes. JSON is UTF-8 always. */
        encoding: FileEncoding.optional(),
        /** IANA name of the zone that dates such as `2026/12/31` and `2026-12-31 23:59` are in. */
        zone: z.string().max(64).refine(isTimeZone, 'no such time zone').default('UTC'),
        /** Name of the file, for the audit log. */
        fileName: z.string().max(255).optional(),
        dryRun: z.stringbool({ truthy: ['true'], falsy: ['false'], case: 'sensitive' }).default(false),
      }),
      raw: ['text/csv', 'application/json', 'text/plain'],
    },
    responses: { 200: { description: 'A report per line.', schema: ImportReport } },
    problems: [413, 415],
  }),
];
