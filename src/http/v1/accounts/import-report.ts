// The report of an import: what became of each line.
import { z } from 'zod';
import { type FileEncoding as Encoding, FILE_ENCODINGS } from '../../../account-files/file-text.js';
import { FILE_FORMATS } from '../../../account-files/formats.js';
import type { ImportedLine } from '../../../account-files/import-items.js';
import { LOST_SETTINGS, type LostSetting as Lost } from '../../../account-files/reasons.js';
import { addToCount } from '../../../core/maps.js';
import { isoOrNull } from '../../../core/time/clock.js';
import { Count, component, Time } from '../../api/schemas.js';
import { BudgetPreview } from './slices.js';

export const FileFormat = z.enum(FILE_FORMATS).meta({ id: 'FileFormat' });
type FileFormat = z.infer<typeof FileFormat>;

/** The character encoding of a file. `gb18030` includes its subset GBK. */
export const FileEncoding = z.enum(FILE_ENCODINGS).meta({ id: 'FileEncoding' });

/** A setting of CCProxy that accounts do not have. */
const LostSetting = z.enum(LOST_SETTINGS).meta({ id: 'LostSetting' });

export const ImportReport = component('ImportReport', {
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
  /** Exits added for outgoing addresses of accounts, or that would be. Only CCProxy's files have such. */
  exits: Count,
  /** Settings in the file that the accounts cannot keep, with the number of accounts that have each. Only CCProxy's files have such. */
  lost: z.array(z.object({ setting: LostSetting, accounts: z.int().min(1) })),
  /** With `dryRun`: what the file needs of the caller's budget; null: the caller has none. */
  budget: BudgetPreview.nullable(),
});

const MAX_LINES = 1_000;

export function createReport(
  asked: { dryRun: boolean; format: FileFormat; zone: string },
  maxLines = MAX_LINES,
) {
  const counts = { read: 0, added: 0, replaced: 0, kept: 0, skipped: 0, failed: 0 };
  let encoding: Encoding | null = asked.format === 'json' ? 'utf-8' : null;
  const lost = new Map<Lost, number>();
  let exits = 0;
  const notAdded: ImportedLine[] = [];
  const added: ImportedLine[] = [];
  return {
    setEncoding(found: Encoding): void {
      encoding = found;
    },

    addLost: (setting: Lost): void => addToCount(lost, setting, 1),

    addExit(): void {
      exits += 1;
    },

    add(line: ImportedLine): void {
      counts.read += 1;
      counts[line.outcome] += 1;
      const list = line.outcome === 'added' ? added : notAdded;
      if (list.length < maxLines) list.push(line);
    },

    body(budget: z.infer<typeof BudgetPreview> | null) {
      const lines = [...notAdded, ...added].slice(0, maxLines);
      const shown = lines.map(({ account, ...line }) => ({
        ...line,
        account: account && { ...account, expiresAt: isoOrNull(account.expiresAt) },
      }));
      return {
        ...asked,
        encoding,
        ...counts,
        lines: shown,
        linesLeftOut: counts.read - lines.length,
        exits,
        lost: [...lost].map(([setting, accounts]) => ({ setting, accounts })),
        budget,
      };
    },
  };
}
