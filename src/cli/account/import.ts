// `pulsegate account import`: accounts from a CSV, JSON or CCProxy file.
import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename } from 'node:path';
import type { Readable } from 'node:stream';
import { LOST_TEXTS } from '../../account-files/ccproxy-lost.js';
import { FILE_ENCODINGS, type FileEncoding } from '../../account-files/file-text.js';
import { type FileFormat, readAccounts } from '../../account-files/formats.js';
import { importAccounts } from '../../account-files/import.js';
import type { OnExisting } from '../../account-files/import-plan.js';
import { printable } from '../../core/text.js';
import { createReport } from '../../http/v1/accounts/import-report.js';
import type { Core } from '../../parts/core.js';
import { cliActor } from '../shared/actor.js';
import { untilDaemonHas } from '../shared/api.js';
import { CommandError, type CommandIo, printLine } from '../shared/command.js';
import { STDIO, withStdin } from '../shared/files.js';
import type { Group, Run } from '../shared/group.js';
import { countOf } from '../shared/table.js';
import { FORMAT_OPTION, formatOf, parseZone } from './options.js';

export function addImport(account: Group): void {
  account
    .command('import', 'import accounts from a file; validates the whole file before it writes', {
      '<file>':
        'CSV with a header row, a JSON array, or CCProxy AccInfo.ini (-: stdin); fields: username, password or passwordHash, isEnabled, remarks, expiresAt',
      ...FORMAT_OPTION,
      '--existing <action>': {
        help: 'for existing accounts: skip them, keep their values and add only missing limits and usage, or replace them with values from the file',
        choices: ['keep', 'replace', 'skip'],
        initial: 'skip',
      },
      '--encoding <encoding>': {
        help: 'of CSV and AccInfo.ini (default: detected; use gb18030 for GBK)',
        choices: FILE_ENCODINGS,
      },
      '--zone <zone>': {
        help: 'time zone of dates without one, such as 2026/12/31 and 2026-12-31 23:59',
        read: parseZone,
        initial: 'UTC',
      },
      '--dry-run': 'show what would change without writing anything',
      '--yes': 'skip the confirmation before accounts are replaced',
      '--json': 'print the report as JSON',
    })
    .examples(
      'account import players.csv --dry-run --zone Asia/Shanghai',
      'account import players.json --existing replace --yes',
    )
    .help('  ssh old pulsegate account export --with-hashes | pulsegate account import -')
    .runs(
      async (run, given) => {
        const { file, format, dryRun, yes } = given;
        if (file !== STDIO) await requireFile(file);
        const core = await run.core();
        await core.usage.load();
        const source = {
          ...given,
          format: formatOf(file, format),
          fileName: file === STDIO ? null : basename(file),
        };
        const work = async (read: () => Readable) => {
          const importing = (isDryRun: boolean) =>
            runImport(read(), { ...source, dryRun: isDryRun }, core, run.io);
          const { report: plan } = await importing(true);
          if (dryRun) return plan;
          const what = `${countOf(plan.replaced, 'account')} will be overwritten.`;
          // Stdin carried the file, so it cannot carry the answer.
          if (plan.replaced > 0 && file === STDIO && !yes)
            throw new CommandError(`${what} Use --yes to confirm.`, 2);
          if (plan.replaced > 0) await run.confirm(what);
          const { report: done, last } = await importing(false);
          const written = core.accounts.getByUsername(last);
          if (written) await untilDaemonHas(written.account.id, run, await run.load());
          return done;
        };
        // With PostgreSQL there may be no data folder on this machine.
        const done =
          file === STDIO ? await withStdin(run.io, tmpdir(), work) : await work(() => createReadStream(file));
        if (done.failed > 0) process.exitCode = 1;
        return [done, () => printReport(run, done)];
      },
      ({ dryRun }) => !dryRun,
    );
}

interface Source {
  readonly dryRun: boolean;
  readonly format: FileFormat;
  readonly zone: string;
  readonly existing: OnExisting;
  readonly encoding: FileEncoding | undefined;
  readonly fileName: string | null;
}

/** Returns the report of the API, with all lines, and the user name of the account that was written last. */
async function runImport(
  input: Readable,
  { existing, encoding, fileName, dryRun, format, zone }: Source,
  { accounts, store }: Core,
  { stderr }: CommandIo,
) {
  const report = createReport({ dryRun, format, zone }, Infinity);
  const records = readAccounts(format, input, {
    encoding,
    zone,
    onEncoding: report.setEncoding,
    onLost: report.addLost,
  });
  const lines = importAccounts(records, {
    accounts,
    by: cliActor(),
    audit: store.audit,
    fileName,
    mayChooseEgress: true,
    mayChooseExit: true,
    mayChooseIds: true,
    existing,
    dryRun,
    now: Date.now,
    newId: randomUUID,
    onError: (error) => printLine(stderr, `Database write failed: ${String(error)}`),
  });
  let last = '';
  for await (const line of lines) {
    report.add(line);
    if (line.outcome !== 'skipped' && line.outcome !== 'failed') last = line.username ?? last;
  }
  return { report: report.body(null), last };
}

type Report = Awaited<ReturnType<typeof runImport>>['report'];

function printReport({ print }: Run, report: Report): void {
  for (const { line, username, outcome, message } of report.lines) {
    if (outcome === 'added') continue;
    const name = username === null ? '' : ` ${printable(username, 60)}`;
    print(`line ${line}:${name} ${outcome}${message === null ? '' : `: ${message}`}`);
  }
  const lost = report.dryRun ? 'will be lost' : 'lost';
  for (const { setting, accounts } of report.lost)
    print(`${lost}: ${LOST_TEXTS[setting]} (${countOf(accounts, 'account')})`);
  const { read, added, replaced, kept, skipped, failed } = report;
  const prefix = report.dryRun ? 'Dry run, nothing was written: ' : '';
  print(
    `${prefix}${read} read, ${added} added, ${replaced} replaced, ${kept} kept, ${skipped} skipped, ${failed} failed`,
  );
  if (report.encoding !== null && report.format !== 'json')
    print(`encoding ${report.encoding}; time zone of dates without one: ${report.zone}`);
}

async function requireFile(file: string): Promise<void> {
  const found = await stat(file).catch(() => null);
  if (!found?.isFile()) throw new CommandError(`No such file: ${file}`);
}
