// `pulsegate account import` and `export`: accounts as CSV or JSON files.
import { randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { extname } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Command, Option } from 'commander';
import { FILE_FORMATS, type FileFormat, readAccounts, writeAccounts } from '../account-files/formats.js';
import { importAccounts } from '../account-files/import.js';
import type { ImportedLine, OnExisting } from '../account-files/import-plan.js';
import type { Config } from '../config.js';
import { type AccountLimitsService, createAccountLimits } from '../core/accounts/account-limits.js';
import { createEgressPolicy } from '../core/egress/egress.js';
import { printable } from '../core/printable.js';
import { SessionRegistry } from '../core/sessions/session.js';
import type { Core } from '../wiring/core.js';
import { cliActor } from './actor.js';
import { CommandError, load, printJson, printLine, type Surroundings } from './command.js';
import { confirm } from './prompt.js';
import { withCore } from './store.js';
import { countOf } from './table.js';

const formatOption = () =>
  new Option('--format <format>', 'default: from the name of the file').choices([...FILE_FORMATS]);

export function addAccountFileCommands(account: Command, around: Surroundings): void {
  addExport(account, around);
  addImport(account, around);
}

function addExport(account: Command, around: Surroundings): void {
  account
    .command('export')
    .argument('[file]', 'a new file; default: stdout')
    .description('write all accounts with limits and usage, as CSV, JSON or AccInfo.ini of CCProxy')
    .addOption(formatOption())
    .option('--with-hashes', 'with password hashes, to move accounts to another Pulsegate')
    .action(
      async (file: string | undefined, options: { format?: FileFormat; withHashes?: true }, command) => {
        const { config } = await load(command, around);
        await withCore(config, async (core) => {
          const limits = await openLimits(core, config);
          const views = core.accounts.list();
          const rows = views.map((view) => ({ view, limits: limits.view(view.account.id) }));
          const format = formatOf(file, options.format);
          await save(writeAccounts(format, rows, { withHashes: options.withHashes ?? false }), file, around);
          if (file !== undefined)
            printLine(around.stderr, `${views.length} accounts were written to ${file}`);
        });
      },
    );
}

async function save(content: Readable, file: string | undefined, { stdout }: Surroundings): Promise<void> {
  if (file === undefined) {
    for await (const chunk of content) if (!stdout.write(chunk)) await drained(stdout);
    return;
  }
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

function drained(stream: Writable): Promise<void> {
  return new Promise((resolve) => stream.once('drain', () => resolve()));
}

interface ImportOptions {
  format?: FileFormat;
  existing: OnExisting;
  dryRun?: true;
  yes?: true;
  json?: true;
}

function addImport(account: Command, around: Surroundings): void {
  account
    .command('import')
    .argument(
      '<file>',
      'CSV with a heading, a JSON array, or AccInfo.ini of CCProxy; fields: username, password or passwordHash, isEnabled, remarks, expiresAt',
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
    .option('--dry-run', 'only say what would happen')
    .option('--yes', 'do not ask before accounts are replaced')
    .option('--json', 'the report as JSON')
    .addHelpText(
      'after',
      '\nExamples:\n  pulsegate account import players.csv --dry-run\n  pulsegate account import players.json --existing replace --yes',
    )
    .action(async (file: string, options: ImportOptions, command) => {
      const { config } = await load(command, around);
      await requireFile(file);
      await withCore(config, async (core) => {
        const limits = await openLimits(core, config);
        const run = (dryRun: boolean) => report(file, options, core, limits, dryRun, around);
        const plan = await run(true);
        if (options.dryRun) return print(around, plan, options);
        if (plan.replaced > 0) {
          await confirm(
            around,
            options.yes ?? false,
            `${countOf(plan.replaced, 'account')} will be overwritten.`,
          );
        }
        print(around, await run(false), options);
      });
    });
}

interface Report {
  dryRun: boolean;
  format: FileFormat;
  read: number;
  added: number;
  replaced: number;
  kept: number;
  skipped: number;
  failed: number;
  lines: ImportedLine[];
}

async function report(
  file: string,
  options: ImportOptions,
  { accounts }: Core,
  limits: AccountLimitsService,
  dryRun: boolean,
  { stderr }: Surroundings,
): Promise<Report> {
  const format = formatOf(file, options.format);
  const input = createReadStream(file);
  const result: Report = {
    dryRun,
    format,
    read: 0,
    added: 0,
    replaced: 0,
    kept: 0,
    skipped: 0,
    failed: 0,
    lines: [],
  };
  const lines = importAccounts(readAccounts(format, input), {
    accounts,
    limits,
    by: cliActor(),
    existing: options.existing,
    dryRun,
    now: Date.now,
    newId: randomUUID,
    onError: (error) => printLine(stderr, `The database could not be written: ${String(error)}`),
  });
  for await (const line of lines) {
    result.read += 1;
    result[line.outcome] += 1;
    result.lines.push(line);
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

/** Limits as this command sees them: nobody is connected here. */
async function openLimits({ store }: Core, config: Config): Promise<AccountLimitsService> {
  const known = createEgressPolicy({ ...config.egress, isOwnListener: () => false });
  const limits = createAccountLimits({
    store: store.limits,
    sessions: new SessionRegistry(),
    egressOf: (name) => (name === null || Object.hasOwn(config.egress.classes, name) ? known : undefined),
    now: Date.now,
    monotonicNow: () => performance.now(),
  });
  await limits.load();
  return limits;
}
