// /api/v1/accounts/import: accounts from a file. The formats are handed in: the command line has the same.
import type { Readable } from 'node:stream';
import { z } from 'zod';
import type { Accounts } from '../../../core/accounts/accounts.js';
import type { Actor } from '../../../core/audit/audit.js';
import { isTimeZone } from '../../../core/time-zone.js';
import { actorOf } from '../../caller.js';
import { fault } from '../field-errors.js';
import { routesOf } from '../route.js';
import { Count, Flag, Time } from '../schemas.js';
import { refuseCaller } from '../serve.js';
import { isoOrNull } from '../times.js';
import { FileFormat } from './schemas.js';

/**
 * What happens to an account that exists already. `keep`: it stays as it is and only takes usage and limits it
 * does not have; `replace`: every field the file has is overwritten; `skip`: it is left wholly alone.
 */
const OnExisting = z.enum(['keep', 'replace', 'skip']).meta({ id: 'OnExisting' });

/** How the bytes of a file stand for text. `gb18030` is also GBK, its subset. */
const FileEncoding = z.enum(['utf-8', 'gb18030', 'utf-16le', 'utf-16be']).meta({ id: 'FileEncoding' });

type FileEncoding = z.infer<typeof FileEncoding>;

const ImportReport = z
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
        account: z
          .object({
            remarks: z.string().nullable(),
            expiresAt: Time.nullable(),
            authorizedAddresses: z.array(z.string()),
          })
          .nullable(),
      }),
    ),
    linesLeftOut: Count,
  })
  .meta({ id: 'ImportReport' });

export interface ImportedLine {
  readonly line: number;
  readonly username: string | null;
  readonly outcome: 'added' | 'replaced' | 'kept' | 'skipped' | 'failed';
  readonly message: string | null;
  readonly reason: { readonly code: string; readonly values: Readonly<Record<string, string>> } | null;
  /** `expiresAt` in ms since the epoch. */
  readonly account: {
    readonly remarks: string | null;
    readonly expiresAt: number | null;
    readonly authorizedAddresses: readonly string[];
  } | null;
}

interface ImportOptions {
  /** Those that the caller may know and change. */
  readonly accounts: Accounts;
  readonly existing: z.infer<typeof OnExisting>;
  readonly dryRun: boolean;
  readonly by: Actor;
  readonly fileName: string | null;
  readonly mayChooseEgress: boolean;
  /** undefined: found out. */
  readonly encoding: FileEncoding | undefined;
  readonly zone: string;
  readonly onEncoding: (encoding: FileEncoding) => void;
}

export interface ImportUses {
  readonly importAccounts: (
    format: FileFormat,
    input: AsyncIterable<Buffer>,
    options: ImportOptions,
  ) => AsyncIterable<ImportedLine>;
  readonly accounts: Accounts;
  /** Largest file, in bytes. */
  readonly maxImportBytes: number;
}

const { route } = routesOf<ImportUses>('Import and export');
const MAX_LINES = 1_000;

class TooLarge extends Error {}

export const accountImportRoutes = [
  route(
    {
      method: 'POST',
      path: '/api/v1/accounts/import',
      operationId: 'importAccounts',
      summary: 'Reads accounts from a file, or with `dryRun=true` only says what would happen.',
      access: 'accounts:write',
      request: {
        query: z.object({
          format: FileFormat.default('csv'),
          existing: OnExisting.default('skip'),
          /** Left out: found out from the bytes. JSON is UTF-8 always. */
          encoding: FileEncoding.optional(),
          /** IANA name of the zone that dates such as `2026/12/31` and `2026-12-31 23:59` are in. */
          zone: z.string().max(64).refine(isTimeZone, fault('time-zone')).default('UTC'),
          /** Name of the file, for the audit log. */
          fileName: z.string().max(255).optional(),
          dryRun: Flag.default(false),
        }),
        raw: ['text/csv', 'application/json', 'text/plain'],
      },
      responses: { 200: { description: 'A report per line.', schema: ImportReport } },
      problems: [413, 415],
    },
    async ({ query: { format, existing, dryRun, encoding, zone, fileName = null }, caller, ctx }, uses) => {
      const { maxImportBytes } = uses;
      const type = ctx.request.type.toLowerCase();
      if (!['text/csv', 'application/json', 'text/plain'].includes(type)) {
        return { problem: 'unsupported-media-type', detail: 'send text/csv, application/json or text/plain' };
      }
      const tooLarge = {
        problem: 'too-large',
        detail: `a file may have at most ${maxImportBytes} bytes`,
      } as const;
      if (Number(ctx.req.headers['content-length'] ?? 0) > maxImportBytes) {
        ctx.req.resume();
        return tooLarge;
      }
      const counts = { read: 0, added: 0, replaced: 0, kept: 0, skipped: 0, failed: 0 };
      const file: { encoding: FileEncoding | null } = { encoding: format === 'json' ? 'utf-8' : null };
      const notAdded: ImportedLine[] = [];
      const added: ImportedLine[] = [];
      try {
        const lines = uses.importAccounts(format, atMost(ctx.req, maxImportBytes), {
          accounts: uses.accounts,
          existing,
          dryRun,
          by: actorOf(caller),
          fileName,
          encoding,
          zone,
          onEncoding(found) {
            file.encoding = found;
          },
          mayChooseEgress: refuseCaller(caller, 'egress:write') === null,
        });
        for await (const line of lines) {
          counts.read += 1;
          counts[line.outcome] += 1;
          const list = line.outcome === 'added' ? added : notAdded;
          if (list.length < MAX_LINES) list.push(line);
        }
      } catch (error) {
        if (error instanceof TooLarge) return tooLarge;
        throw error;
      }
      const lines = [...notAdded, ...added].slice(0, MAX_LINES);
      return {
        status: 200,
        body: {
          dryRun,
          format,
          encoding: file.encoding,
          zone,
          ...counts,
          lines: lines.map(shownLine),
          linesLeftOut: counts.read - lines.length,
        },
      };
    },
  ),
];

function shownLine({ account, ...line }: ImportedLine): Record<string, unknown> {
  return { ...line, account: account && { ...account, expiresAt: isoOrNull(account.expiresAt) } };
}

/** The chunks of a request's body. A request stays open when its reader gives up: it is still to be answered. */
async function* atMost(input: Readable, maxBytes: number): AsyncGenerator<Buffer> {
  let length = 0;
  for await (const chunk of input.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxBytes) throw new TooLarge();
    yield chunk;
  }
}
