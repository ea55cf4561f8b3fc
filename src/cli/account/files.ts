// `pulsegate account export` and `account import`: accounts as a CSV, JSON or CCProxy file.
import { constants, createReadStream, createWriteStream } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, extname } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { InvalidArgumentError } from 'commander';
import { FILE_ENCODINGS } from '../../account-files/file-text.js';
import { FILE_FORMATS, type FileFormat } from '../../account-files/formats.js';
import { LOST_TEXTS } from '../../account-files/reasons.js';
import { spool } from '../../account-files/spool.js';
import { printable } from '../../core/text.js';
import { isTimeZone } from '../../core/time/time-zone.js';
import type { Answer } from '../shared/api.js';
import type { CommandIo } from '../shared/command.js';
import { CommandError, cannotWrite, STDIO, writeToStdout, wrongUsage } from '../shared/command.js';
import type { AddCommands } from '../shared/group.js';
import { choice, type Param, param } from '../shared/params.js';
import type { Run } from '../shared/run.js';
import { countOf } from '../shared/table.js';
import { TAGS } from './find.js';

const FORMAT = {
  format: choice('--format <format>  file format (default: by file extension)', FILE_FORMATS),
};

function zoneOption(help: string): Param<string> {
  const read = (zone: string): string => {
    if (isTimeZone(zone)) return zone;
    throw new InvalidArgumentError('Use an IANA time zone such as Asia/Shanghai or UTC.');
  };
  return param(`--zone <zone>  ${help}`, read).or('UTC');
}

const BY_EXTENSION: Readonly<Record<string, FileFormat>> = { '.json': 'json', '.ini': 'ccproxy' };

const formatOf = (file = '', given?: FileFormat): FileFormat =>
  given ?? BY_EXTENSION[extname(file).toLowerCase()] ?? 'csv';

export const addExport: AddCommands = (account) =>
  account
    .command('export', 'export accounts with limits and usage as CSV, JSON or CCProxy AccInfo.ini', {
      file: '[file]  new file to write (default or -: stdout)',
      ...FORMAT,
      zone: zoneOption("time zone of the dates in AccInfo.ini: use the CCProxy host's zone"),
      ...TAGS,
      withHashes: '--with-hashes  include password hashes, to move accounts to another Pulsegate',
    })
    .runs(async (run, { file: name, tag, format, withHashes, ...given }) => {
      const file = name === STDIO ? undefined : name;
      const hashes = withHashes ? 'true' : undefined;
      const query = { ...given, tag, format: formatOf(file, format), withHashes: hashes };
      const content = await run.call('GET /accounts/export', { query });
      await save(content, file, run.io);
      if (file === undefined) return;
      const { matched } = await run.call('GET /accounts', { query: { tag, limit: 1 } });
      run.note(`Exported ${countOf(matched, 'account')} to ${file}`);
    });

async function save(content: Readable, file: string | undefined, io: CommandIo): Promise<void> {
  if (file === undefined) return writeToStdout(content, io);
  try {
    // wx: never overwrite an existing file. 0600: the export may contain password hashes.
    await pipeline(content, createWriteStream(file, { flags: 'wx', mode: 0o600 }));
  } catch (error) {
    throw cannotWrite('accounts', file, error);
  }
}

export const addImport: AddCommands = (account) =>
  account
    .command('import', 'import accounts from a file; validates the whole file before it writes', {
      file: '<file>  CSV with a header row, a JSON array, or CCProxy AccInfo.ini (-: stdin); fields: username, password or passwordHash, isEnabled, remarks, expiresAt',
      ...FORMAT,
      existing: choice(
        '--existing <action>  for existing accounts: skip them, keep their values and add only missing limits and usage, or replace them with values from the file',
        ['keep', 'replace', 'skip'],
      ).or('skip'),
      encoding: choice(
        '--encoding <encoding>  of CSV and AccInfo.ini (default: detected; use gb18030 for GBK)',
        FILE_ENCODINGS,
      ),
      zone: zoneOption('time zone of dates without one, such as 2026/12/31 and 2026-12-31 23:59'),
      dryRun: '--dry-run  show what would change without writing anything',
      yes: '--yes  skip the confirmation before accounts are replaced',
      json: '--json  print the report as JSON',
    })
    .examples(
      'account import players.csv --dry-run --zone Asia/Shanghai',
      'account import players.json --existing replace --yes',
    )
    .help('  ssh old pulsegate account export --with-hashes | pulsegate account import -')
    .creates(({ dryRun }) => !dryRun)
    .runs(async (run, { file, format, dryRun: isPreview, yes, json: _, ...given }) => {
      const isStdin = file === STDIO;
      if (!isStdin) await requireFile(file);
      const source = {
        ...given,
        format: formatOf(file, format),
        fileName: isStdin ? undefined : basename(file),
      };
      const work = async (content: () => Readable) => {
        const importing = (dryRun: boolean) => {
          const query = { ...source, dryRun: String(dryRun) };
          return run.call('POST /accounts/import', { query, content: content() });
        };
        const preview = await importing(true);
        if (isPreview) return preview;
        const what = `${countOf(preview.replaced, 'account')} will be overwritten.`;
        // Stdin carried the file, so it cannot carry the answer.
        if (preview.replaced > 0 && isStdin && !yes) throw wrongUsage(`${what} Use --yes to confirm.`);
        if (preview.replaced > 0) await run.confirm(what);
        return importing(false);
      };
      // Outside the data folder: with PostgreSQL there may be none on this machine.
      const copy = isStdin ? await spool(tmpdir(), run.io.stdin) : null;
      const done = await work(copy?.read ?? (() => createReadStream(file))).finally(copy?.close);
      if (done.failed > 0) process.exitCode = 1;
      return [done, () => printReport(run, done)];
    });

type Report = Answer<'POST /accounts/import'>;

function printReport({ print }: Run, report: Report): void {
  for (const { line, username, outcome, message } of report.lines) {
    if (outcome === 'added') continue;
    const name = username === null ? '' : ` ${printable(username, 60)}`;
    print(`line ${line}:${name} ${outcome}${message === null ? '' : `: ${message}`}`);
  }
  const lost = report.dryRun ? 'will be lost' : 'lost';
  for (const { setting, accounts } of report.lost)
    print(`${lost}: ${LOST_TEXTS[setting]} (${countOf(accounts, 'account')})`);
  if (report.exits > 0)
    print(
      `${report.dryRun ? 'will be added' : 'added'}: ${countOf(report.exits, 'exit')} for outgoing addresses`,
    );
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
  await access(file, constants.R_OK).catch(() => {
    throw new CommandError(`Cannot read ${file}: permission denied.`);
  });
}
