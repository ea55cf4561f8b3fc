// `pulsegate account import` and `export`: accounts as CSV or JSON files.
import { randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { FILE_ENCODINGS, type FileEncoding } from '../account-files/file-text.js';
import { FILE_FORMATS, type FileFormat, readAccounts, writeAccounts } from '../account-files/formats.js';
import { importAccounts } from '../account-files/import.js';
import type { ImportedLine, OnExisting } from '../account-files/import-plan.js';

import { printable } from '../core/printable.js';
import { isTimeZone } from '../core/time-zone.js';
import type { Core } from '../parts/core.js';
import { collectTag, hasTags } from './account-tags.js';
import { cliActor } from './actor.js';
import { CommandError, load, printJson, printLine, type Surroundings } from './command.js';
import { confirm } from './prompt.js';
import { STDIO, withStdin, writeToStdout } from './stdio.js';
import { withCore } from './store.js';
import { countOf } from './table.js';

const formatOption = () =>
  new Option('--format <format>', 'default: from the name of the file').choices([...FILE_FORMATS]);

export function addAccountFileCommands(account: Command, around: Surroundings): void {
  addExport(account, around);
  addImport(account, around);
}

interface ExportOptions {
  format?: FileFormat;
  zone: string;
  tag?: readonly string[];
  withHashes?: true;
}

function addExport(account: Command, around: Surroundings): void {
  account
    .command('export')
    .argument('[file]', 'a new file; default, and -: stdout')
    .description('write accounts with limits and usage, as CSV, JSON or AccInfo.ini of CCProxy')
    .addOption(formatOption())
    .addOption(
      new Option('--zone <zone>', 'of the dates in AccInfo.ini, which name none: that of the host of CCProxy')
        .default('UTC')
        .argParser(parseZone),
    )
    .option('--tag <tag>', 'only accounts with this tag; with several: with all of them', collectTag)
    .option('--with-hashes', 'with password hashes, to move accounts to another Pulsegate')
    .action(async (name: string | undefined, options: ExportOptions, command) => {
      const file = name === STDIO ? undefined : name;
      const loaded = await load(command, around);
      await withCore(loaded, async (core) => {
        await core.usage.load();
        const views = core.accounts.list().filter(({ account: it }) => hasTags(it.tags, options.tag));
        const rows = views.map((view) => ({ view, usage: core.usage.glance(view.account) }));
        const format = formatOf(file, options.format);
        const { withHashes = false, zone } = options;
        await save(writeAccounts(format, rows, { withHashes, zone }), file, around);
        if (file !== undefined) printLine(around.stderr, `${views.length} accounts were written to ${file}`);
      });
    });
}

async function save(content: Readable, file: string | undefined, around: Surroundings): Promise<void> {
  if (file === undefined) return writeToStdout(content, around);
  try {
    // wx: what is there is never overwritten. 0600: it may hold hashes.
    await pipeline(content, createWriteStream(file, { flags: 'wx', mode: 0o600 }));
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason';
    const reason =
      code === 'EEXIST'
        ? 'it exists already. Choose a new name'
        : code === 'ENOENT'
          ? 'its folder does not exist'
          : code;
    throw new CommandError(`The accounts cannot be written to ${file}: ${reason}.`);
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

function addImport(account: Command, around: Surroundings): void {
  account
    .command('import')
    .argument(
      '<file>',
      '- for stdin; CSV with a heading, a JSON array, or AccInfo.ini of CCProxy; fields: username, password or passwordHash, isEnabled, remarks, expiresAt',
    )
    .description('add the accounts of a file; reads it twice: first to see what would happen')
    .addOption(formatOption())
    .addOption(
      new Option(
        '--existing <what>',
        'accounts that exist: skip leaves them alone, keep gives them only limits and usage they do not have, replace overwrites what the file has',
      )
        .choices(['keep', 'replace', 'skip'])
        .default('skip'),
    )
    .addOption(
      new Option(
        '--encoding <encoding>',
        'of CSV and AccInfo.ini; default: found out (GBK is gb18030)',
      ).choices([...FILE_ENCODINGS]),
    )
    .addOption(
      new Option('--zone <zone>', 'of dates that name none, such as 2026/12/31 and 2026-12-31 23:59')
        .default('UTC')
        .argParser(parseZone),
    )
    .option('--dry-run', 'only say what would happen')
    .option('--yes', 'do not ask before accounts are replaced')
    .option('--json', 'the report as JSON')
    .addHelpText(
      'after',
      '\nExamples:\n  pulsegate account import players.csv --dry-run --zone Asia/Shanghai\n  pulsegate account import players.json --existing replace --yes\n  ssh old pulsegate account export --with-hashes | pulsegate account import -',
    )
    .action(async (file: string, options: ImportOptions, command) => {
      const loaded = await load(command, around);
      if (file !== STDIO) await requireFile(file);
      await withCore(
        loaded,
        async (core) => {
          await core.usage.load();
          const work = async (read: () => Readable): Promise<void> => {
            const format = formatOf(file, options.format);
            const fileName = file === STDIO ? null : basename(file);
            const run = (dryRun: boolean) =>
              report(read(), { ...options, format, fileName, dryRun }, core, around);
            const plan = await run(true);
            if (options.dryRun) return print(around, plan, options);
            if (plan.replaced > 0) await confirmReplacing(around, file, options, plan.replaced);
            print(around, await run(false), options);
          };
          if (file === STDIO) await withStdin(around, loaded.config.dataDir, work);
          else await work(() => createReadStream(file));
        },
        { mayCreate: true },
      );
    });
}

async function confirmReplacing(
  around: Surroundings,
  file: string,
  { yes = false }: { yes?: boolean },
  count: number,
): Promise<void> {
  const what = `${countOf(count, 'account')} will be overwritten.`;
  // The terminal's input was the file.
  if (file === STDIO && !yes) throw new CommandError(`${what} Add --yes to do it.`, 2);
  await confirm(around, yes, what);
}

function parseZone(zone: string): string {
  if (!isTimeZone(zone)) throw new InvalidArgumentError('Use a name such as Asia/Shanghai or UTC.');
  return zone;
}

/** As /api/v1 shows it: times in ISO 8601. */
function shownLine({ account, ...line }: ImportedLine) {
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
  lines: ReturnType<typeof shownLine>[];
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
  { stderr }: Surroundings,
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
  };
  const records = readAccounts(format, input, {
    encoding,
    zone,
    onEncoding(found) {
      result.encoding = found;
    },
  });
  const lines = importAccounts(records, {
    accounts,
    by: cliActor(),
    audit: store.audit,
    fileName,
    mayChooseEgress: true,
    existing,
    dryRun,
    now: Date.now,
    newId: randomUUID,
    onError: (error) => printLine(stderr, `The database could not be written: ${String(error)}`),
  });
  for await (const line of lines) {
    result.read += 1;
    result[line.outcome] += 1;
    result.lines.push(shownLine(line));
  }
  return result;
}

function print(around: Surroundings, report: Report, { json }: { json?: true }): void {
  if (report.failed > 0) process.exitCode = 1;
  if (json) return printJson(around, report);
  for (const { line, username, outcome, message } of report.lines) {
    if (outcome === 'added') continue;
    const name = username === null ? '' : ` ${printable(username, 60)}`;
    printLine(around.stdout, `line ${line}:${name} ${outcome}${message === null ? '' : `: ${message}`}`);
  }
  const { read, added, replaced, kept, skipped, failed } = report;
  const would = report.dryRun ? 'Nothing was written; it would be: ' : '';
  printLine(
    around.stdout,
    `${would}${read} read, ${added} added, ${replaced} replaced, ${kept} kept, ${skipped} skipped, ${failed} failed`,
  );
  if (report.encoding !== null && report.format !== 'json')
    printLine(around.stdout, `read as ${report.encoding}; dates that name no zone as ${report.zone}`);
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
  if (!found?.isFile()) throw new CommandError(`There is no file ${file}.`);
}
