// `pulsegate account import`: accounts from a CSV, JSON or CCProxy file.
import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename } from 'node:path';
import type { Readable } from 'node:stream';
import { type Command, Option } from 'commander';
import { LOST_TEXTS, type LostSetting } from '../../account-files/ccproxy-lost.js';
import { FILE_ENCODINGS, type FileEncoding } from '../../account-files/file-text.js';
import { type FileFormat, readAccounts } from '../../account-files/formats.js';
import { importAccounts } from '../../account-files/import.js';
import type { ImportedLine, OnExisting } from '../../account-files/import-plan.js';
import { isoOrNull } from '../../core/clock.js';
import { printable } from '../../core/text.js';
import type { Core } from '../../parts/core.js';
import { cliActor } from '../shared/actor.js';
import { untilDaemonHas, withDatabase } from '../shared/api.js';
import { CommandError, type CommandIo, load, printJson, printLine } from '../shared/command.js';
import { confirm } from '../shared/prompt.js';
import { STDIO, withStdin } from '../shared/stdio.js';
import { countOf } from '../shared/table.js';
import { formatOf, formatOption, parseZone } from './file-options.js';

interface ImportOptions {
  format?: FileFormat;
  existing: OnExisting;
  encoding?: FileEncoding;
  zone: string;
  dryRun?: true;
  yes?: true;
  json?: true;
}

export function addImport(account: Command, io: CommandIo): void {
  account
    .command('import')
    .argument(
      '<file>',
      'CSV with a header row, a JSON array, or CCProxy AccInfo.ini (-: stdin); fields: username, password or passwordHash, isEnabled, remarks, expiresAt',
    )
    .description('import accounts from a file; validates the whole file before it writes')
    .addOption(formatOption())
    .addOption(
      new Option(
        '--existing <action>',
        'for existing accounts: skip them, keep their values and add only missing limits and usage, or replace them with values from the file',
      )
        .choices(['keep', 'replace', 'skip'])
        .default('skip'),
    )
    .addOption(
      new Option(
        '--encoding <encoding>',
        'of CSV and AccInfo.ini (default: detected; use gb18030 for GBK)',
      ).choices([...FILE_ENCODINGS]),
    )
    .addOption(
      new Option('--zone <zone>', 'time zone of dates without one, such as 2026/12/31 and 2026-12-31 23:59')
        .default('UTC')
        .argParser(parseZone),
    )
    .option('--dry-run', 'show what would change without writing anything')
    .option('--yes', 'skip the confirmation before accounts are replaced')
    .option('--json', 'print the report as JSON')
    .addHelpText(
      'after',
      '\nExamples:\n  pulsegate account import players.csv --dry-run --zone Asia/Shanghai\n  pulsegate account import players.json --existing replace --yes\n  ssh old pulsegate account export --with-hashes | pulsegate account import -',
    )
    .action(async (file: string, options: ImportOptions, command) => {
      const loaded = await load(command, io);
      if (file !== STDIO) await requireFile(file);
      await withDatabase(
        loaded,
        async (api, core) => {
          await core.usage.load();
          const work = async (read: () => Readable): Promise<void> => {
            const format = formatOf(file, options.format);
            const fileName = file === STDIO ? null : basename(file);
            const run = (dryRun: boolean) =>
              report(read(), { ...options, format, fileName, dryRun }, core, io);
            const plan = await run(true);
            if (options.dryRun) return print(io, plan, options);
            if (plan.replaced > 0) await confirmReplace(io, file, options, plan.replaced);
            const done = await run(false);
            const written = done.lines.findLast(
              ({ outcome }) => outcome !== 'skipped' && outcome !== 'failed',
            );
            const last = core.accounts.getByUsername(written?.username ?? '');
            if (last) await untilDaemonHas(last.account.id, api, loaded);
            print(io, done, options);
          };
          // With PostgreSQL there may be no data folder on this machine.
          if (file === STDIO) await withStdin(io, tmpdir(), work);
          else await work(() => createReadStream(file));
        },
        { mayCreate: !options.dryRun },
      );
    });
}

async function confirmReplace(
  io: CommandIo,
  file: string,
  { yes = false }: { yes?: boolean },
  count: number,
): Promise<void> {
  const what = `${countOf(count, 'account')} will be overwritten.`;
  // Stdin carried the file, so it cannot carry the answer.
  if (file === STDIO && !yes) throw new CommandError(`${what} Use --yes to confirm.`, 2);
  await confirm(io, yes, what);
}

/** The line in the form of /api/v1: times in ISO 8601. */
function presentLine({ account, ...line }: ImportedLine) {
  const expiresAt = isoOrNull(account?.expiresAt ?? null);
  return { ...line, account: account && { ...account, expiresAt } };
}

interface Report {
  dryRun: boolean;
  format: FileFormat;
  encoding: FileEncoding | null;
  zone: string;
  read: number;
  added: number;
  replaced: number;
  kept: number;
  skipped: number;
  failed: number;
  lines: ReturnType<typeof presentLine>[];
  /** Settings in the file that accounts cannot keep. */
  lost: { setting: LostSetting; accounts: number }[];
}

async function report(
  input: Readable,
  {
    format,
    existing,
    dryRun,
    zone,
    encoding,
    fileName,
  }: Omit<ImportOptions, 'dryRun'> & { format: FileFormat; fileName: string | null; dryRun: boolean },
  { accounts, store }: Core,
  { stderr }: CommandIo,
): Promise<Report> {
  const result: Report = {
    dryRun,
    format,
    encoding: format === 'json' ? 'utf-8' : null,
    zone,
    read: 0,
    added: 0,
    replaced: 0,
    kept: 0,
    skipped: 0,
    failed: 0,
    lines: [],
    lost: [],
  };
  const records = readAccounts(format, input, {
    encoding,
    zone,
    onEncoding(found) {
      result.encoding = found;
    },
    onLost(setting) {
      const known = result.lost.find((one) => one.setting === setting);
      if (known) known.accounts += 1;
      else result.lost.push({ setting, accounts: 1 });
    },
  });
  const lines = importAccounts(records, {
    accounts,
    by: cliActor(),
    audit: store.audit,
    fileName,
    mayChooseEgress: true,
    mayChooseIds: true,
    existing,
    dryRun,
    now: Date.now,
    newId: randomUUID,
    onError: (error) => printLine(stderr, `Database write failed: ${String(error)}`),
  });
  for await (const line of lines) {
    result.read += 1;
    result[line.outcome] += 1;
    result.lines.push(presentLine(line));
  }
  return result;
}

function print(io: CommandIo, report: Report, { json }: { json?: true }): void {
  if (report.failed > 0) process.exitCode = 1;
  if (json) return printJson(io, report);
  for (const { line, username, outcome, message } of report.lines) {
    if (outcome === 'added') continue;
    const name = username === null ? '' : ` ${printable(username, 60)}`;
    printLine(io.stdout, `line ${line}:${name} ${outcome}${message === null ? '' : `: ${message}`}`);
  }
  for (const { setting, accounts } of report.lost)
    printLine(
      io.stdout,
      `${report.dryRun ? 'will be lost' : 'lost'}: ${LOST_TEXTS[setting]} (${countOf(accounts, 'account')})`,
    );
  const { read, added, replaced, kept, skipped, failed } = report;
  const prefix = report.dryRun ? 'Dry run, nothing was written: ' : '';
  printLine(
    io.stdout,
    `${prefix}${read} read, ${added} added, ${replaced} replaced, ${kept} kept, ${skipped} skipped, ${failed} failed`,
  );
  if (report.encoding !== null && report.format !== 'json')
    printLine(io.stdout, `encoding ${report.encoding}; time zone of dates without one: ${report.zone}`);
}

async function requireFile(file: string): Promise<void> {
  const found = await stat(file).catch(() => null);
  if (!found?.isFile()) throw new CommandError(`No such file: ${file}`);
}
