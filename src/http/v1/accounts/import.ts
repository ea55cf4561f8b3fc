// /api/v1/accounts/import: accounts from a file. The formats are injected, and the command line uses the same ones.
import type { Readable } from 'node:stream';
import { z } from 'zod';
import type { Accounts } from '../../../core/accounts/accounts.js';
import type { Actor } from '../../../core/audit/audit.js';
import { isTimeZone } from '../../../core/time-zone.js';
import { actorOf, isSeller } from '../../caller.js';
import type { RefuseNow } from '../../standing.js';
import { fault } from '../field-errors.js';
import type { ProblemAnswer } from '../problem.js';
import { because } from '../problem-reasons.js';
import { routesOf } from '../route.js';
import { Count, Flag, Time } from '../schemas.js';
import { refuseCaller } from '../serve.js';
import { isoOrNull } from '../times.js';
import { FileFormat } from './schemas.js';

/**
 * What happens to an existing account. `keep`: it stays unchanged and only takes usage and limits that it does not have; `replace`:
 * every field in the file overwrites the account's; `skip`: it stays entirely unchanged.
 */
const OnExisting = z.enum(['keep', 'replace', 'skip']).meta({ id: 'OnExisting' });

/** The character encoding of a file. `gb18030` includes its subset GBK. */
const FileEncoding = z.enum(['utf-8', 'gb18030', 'utf-16le', 'utf-16be']).meta({ id: 'FileEncoding' });

type FileEncoding = z.infer<typeof FileEncoding>;

/** A setting of CCProxy that accounts do not have. */
const LostSetting = z
  .enum([
    'mac-address',
    'web-filter',
    'time-schedule',
    'group',
    'left-time',
    'bandwidth-quota',
    'outgoing-address',
    'services',
    'group-account',
  ])
  .meta({ id: 'LostSetting' });
type LostSetting = z.infer<typeof LostSetting>;

const ImportReport = z
  .object({
    dryRun: z.boolean(),
    format: FileFormat,
    /** The encoding used; null for an empty file. */
    encoding: FileEncoding.nullable(),
    /** The time zone used for dates that name none. */
    zone: z.string(),
    /** Number of records in the file. */
    read: Count,
    added: Count,
    replaced: Count,
    kept: Count,
    skipped: Count,
    failed: Count,
    /** The first 1,000 lines: lines that were not simply added come first, then the added ones. */
    lines: z.array(
      z.object({
        /** 1 is the first line of the file. */
        line: z.int().min(1),
        username: z.string().nullable(),
        outcome: z.enum(['added', 'replaced', 'kept', 'skipped', 'failed']),
        /** The reason, for `failed` and `skipped`. */
        message: z.string().nullable(),
        /** The same reason as a code, with the values in its text. */
        reason: z.object({ code: z.string(), values: z.record(z.string(), z.string()) }).nullable(),
        /** The account after the import, or after a dry run as it would be; null when there is no account. */
        account: z
          .object({
            remarks: z.string().nullable(),
            expiresAt: Time.nullable(),
            authorizedAddresses: z.array(z.string()),
            allowedClients: z.array(z.string()),
          })
          .nullable(),
      }),
    ),
    linesLeftOut: Count,
    /** Settings in the file that the accounts cannot keep, with the number of accounts that have each. Only CCProxy's files have such. */
    lost: z.array(z.object({ setting: LostSetting, accounts: z.int().min(1) })),
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
    readonly allowedClients: readonly string[];
  } | null;
}

interface ImportOptions {
  /** The accounts that the caller may see and change. */
  readonly accounts: Accounts;
  readonly existing: z.infer<typeof OnExisting>;
  readonly dryRun: boolean;
  readonly by: Actor;
  readonly fileName: string | null;
  readonly mayChooseEgress: boolean;
  readonly mayChooseIds: boolean;
  /** undefined: detected from the file. */
  readonly encoding: FileEncoding | undefined;
  readonly zone: string;
  readonly onEncoding: (encoding: FileEncoding) => void;
  readonly onLost: (setting: LostSetting) => void;
}

export interface ImportUses {
  readonly importAccounts: (
    format: FileFormat,
    input: AsyncIterable<Buffer>,
    options: ImportOptions,
  ) => AsyncIterable<ImportedLine>;
  readonly accounts: Accounts;
  readonly refuseNow: RefuseNow;
  /** The callers with an import under way: the ids of operators; null: the administrator. */
  readonly importing: Set<string | null>;
  /** Largest file, in bytes. */
  readonly maxImportBytes: number;
}

const { route } = routesOf<ImportUses>('Import and export');
const MAX_LINES = 1_000;

class TooLarge extends Error {}

/** The caller lost its rights while it sent the file. */
class Refused extends Error {
  constructor(readonly answer: ProblemAnswer) {
    super('the rights were lost during the upload');
  }
}

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
          /** Left out: detected from the bytes. JSON is always UTF-8. */
          encoding: FileEncoding.optional(),
          /** IANA time zone of dates such as `2026/12/31` and `2026-12-31 23:59`. */
          zone: z.string().max(64).refine(isTimeZone, fault('time-zone')).default('UTC'),
          /** Name of the file, for the audit log. */
          fileName: z.string().max(255).optional(),
          dryRun: Flag.default(false),
        }),
        raw: ['text/csv', 'application/json', 'text/plain'],
      },
      responses: { 200: { description: 'A report per line.', schema: ImportReport } },
      problems: [413, 415, 429],
    },
    async ({ query: { format, existing, dryRun, encoding, zone, fileName = null }, caller, ctx }, uses) => {
      const { maxImportBytes } = uses;
      const type = ctx.request.type.toLowerCase();
      if (!['text/csv', 'application/json', 'text/plain'].includes(type)) {
        return { problem: 'unsupported-media-type', ...because('import-type') };
      }
      const tooLarge = {
        problem: 'too-large',
        ...because('file-too-large', { max: maxImportBytes }),
      } as const;
      if (Number(ctx.req.headers['content-length'] ?? 0) > maxImportBytes) {
        ctx.req.resume();
        return tooLarge;
      }
      // Uploads wait on the disk, and a slow one for long: with many, one caller would fill it.
      const importer = caller.operator?.id ?? null;
      if (uses.importing.has(importer)) {
        ctx.req.resume();
        return {
          problem: 'too-many-requests',
          ...because('importing'),
        };
      }
      uses.importing.add(importer);
      const counts = { read: 0, added: 0, replaced: 0, kept: 0, skipped: 0, failed: 0 };
      const file: { encoding: FileEncoding | null } = { encoding: format === 'json' ? 'utf-8' : null };
      const lost = new Map<LostSetting, number>();
      const notAdded: ImportedLine[] = [];
      const added: ImportedLine[] = [];
      // Nothing is imported before the end of the file.
      const upload = atMost(ctx.req, maxImportBytes, () => {
        const refused = uses.refuseNow(caller);
        if (refused) throw new Refused(refused);
      });
      try {
        const lines = uses.importAccounts(format, upload, {
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
          onLost: (setting) => lost.set(setting, (lost.get(setting) ?? 0) + 1),
          mayChooseEgress: refuseCaller(caller, 'egress:write') === null,
          mayChooseIds: !caller || !isSeller(caller),
        });
        for await (const line of lines) {
          counts.read += 1;
          counts[line.outcome] += 1;
          const list = line.outcome === 'added' ? added : notAdded;
          if (list.length < MAX_LINES) list.push(line);
        }
      } catch (error) {
        if (error instanceof TooLarge) return tooLarge;
        if (error instanceof Refused) return error.answer;
        throw error;
      } finally {
        uses.importing.delete(importer);
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
          lost: [...lost].map(([setting, accounts]) => ({ setting, accounts })),
        },
      };
    },
  ),
];

function shownLine({ account, ...line }: ImportedLine): Record<string, unknown> {
  return { ...line, account: account && { ...account, expiresAt: isoOrNull(account.expiresAt) } };
}

/** Yields the chunks of a request's body. The request stays open when the reader gives up, because it still needs an answer. */
async function* atMost(input: Readable, maxBytes: number, onEnd: () => void): AsyncGenerator<Buffer> {
  let length = 0;
  for await (const chunk of input.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxBytes) throw new TooLarge();
    yield chunk;
  }
  onEnd();
}
