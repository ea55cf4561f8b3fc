// `pulsegate account import` and `export`: accounts as CSV, JSON or CCProxy files.
import { randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { LOST_TEXTS, type LostSetting } from '../account-files/ccproxy-lost.js';
import { FILE_ENCODINGS, type FileEncoding } from '../account-files/file-text.js';
import { FILE_FORMATS, type FileFormat, readAccounts, writeAccounts } from '../account-files/formats.js';
import { importAccounts } from '../account-files/import.js';
import type { ImportedLine, OnExisting } from '../account-files/import-plan.js';

import { printable } from '../core/printable.js';
import { isTimeZone } from '../core/time-zone.js';
import type { Core } from '../parts/core.js';
import { collectTag, hasTags } from './account-tags.js';
import { cliActor } from './actor.js';
import { CommandError, type CommandIo, load, printJson, printLine } from './command.js';
import { confirm } from './prompt.js';
import { STDIO, withStdin, writeToStdout } from './stdio.js';
import { withCore } from './store.js';
import { countOf } from './table.js';

const formatOption = () =>
  new Option('--format <format>', 'file format (default: by file extension)').choices([...FILE_FORMATS]);

export function addAccountFileCommands(account: Command, io: CommandIo): void {
  addExport(account, io);
  addImport(account, io);
}

interface ExportOptions {
  format?: FileFormat;
  zone: string;
  tag?: readonly string[];
  withHashes?: true;
}

function addExport(account: Command, io: CommandIo): void {
  account
    .command('export')
    .argument('[file]', 'new file to write (default or -: stdout)')
    .description('export accounts with limits and usage as CSV, JSON or CCProxy AccInfo.ini')
    .addOption(formatOption())
    .addOption(
      new Option('--zone <zone>', "time zone of the dates in AccInfo.ini: use the CCProxy host's zone")
        .default('UTC')
        .argParser(parseZone),
    )
    .option('--tag <tag>', 'filter by tag (repeatable: accounts with all of them)', collectTag)
    .option('--with-hashes', 'include password hashes, to move accounts to another Pulsegate')
    .action(async (name: string | undefined, options: ExportOptions, command) => {
      const file = name === STDIO ? undefined : name;
      const loaded = await load(command, io);
      await withCore(loaded, async (core) => {
        await core.usage.load();
        const views = core.accounts.list().filter((view) => hasTags(view.account.tags, options.tag));
        const rows = views.map((view) => ({ view, usage: core.usage.glance(view.account) }));
        const format = formatOf(file, options.format);
        const { withHashes = false, zone } = options;
        await save(writeAccounts(format, rows, { withHashes, zone }), file, io);
        if (file !== undefined)
          printLine(io.stderr, `Exported ${countOf(views.length, 'account')} to ${file}`);
      });
    });
}

async function save(content: Readable, file: string | undefined, io: CommandIo): Promise<void> {
  if (file === undefined) return writeToStdout(content, io);
  try {
    // wx: never overwrite an existing file. 0600: the export may contain password hashes.
    await pipeline(content, createWriteStream(file, { flags: 'wx', mode: 0o600 }));
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason';
    const reason =
      code === 'EEXIST' ? 'file exists. Choose another name' : code === 'ENOENT' ? 'no such directory' : code;
    throw new CommandError(`Cannot write accounts to ${file}: ${reason}.`);
  }
}

interface ImportOptions {
  format?: FileFormat;
  existing: OnExisting;
  encoding?: FileEncoding;
  zone: string;
  dryRun?: true;
  yes?: true;
  json?: true;
}

function addImport(account: Command, io: CommandIo): void {
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
      await withCore(
        loaded,
        async (core) => {
          await core.usage.load();
          const work = async (read: () => Readable): Promise<void> => {
            const format = formatOf(file, options.format);
            const fileName = file === STDIO ? null : basename(file);
            const run = (dryRun: boolean) =>
              report(read(), { ...options, format, fileName, dryRun }, core, io);
            const plan = await run(true);
            if (options.dryRun) return print(io, plan, options);
            if (plan.replaced > 0) await confirmReplace(io, file, options, plan.replaced);
            print(io, await run(false), options);
          };
          if (file === STDIO) await withStdin(io, loaded.config.dataDir, work);
          else await work(() => createReadStream(file));
        },
        { mayCreate: true },
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

function parseZone(zone: string): string {
  if (!isTimeZone(zone))
    throw new InvalidArgumentError('Use an IANA time zone such as Asia/Shanghai or UTC.');
  return zone;
}

/** The line in the form of /api/v1: times in ISO 8601. */
function presentLine({ account, ...line }: ImportedLine) {
  const expiresAt = account?.expiresAt == null ? null : new Date(account.expiresAt).toISOString();
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
  /** What the accounts cannot keep of the file. */
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

function formatOf(file: string | undefined, given: FileFormat | undefined): FileFormat {
  if (given) return given;
  switch (extname(file ?? '').toLowerCase()) {
    case '.json':
      return 'json';
    case '.ini':
      return 'ccproxy';
    default:
      return 'csv';
  }
}

async function requireFile(file: string): Promise<void> {
  const found = await stat(file).catch(() => null);
  if (!found?.isFile()) throw new CommandError(`No such file: ${file}`);
}
