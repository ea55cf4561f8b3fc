// `pulsegate account export`: accounts as a CSV, JSON or CCProxy file.
import { createWriteStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Command, Option } from 'commander';
import { type FileFormat, writeAccounts } from '../../account-files/formats.js';
import { type CommandIo, load, printLine } from '../shared/command.js';
import { cannotWrite } from '../shared/output-file.js';
import { STDIO, writeToStdout } from '../shared/stdio.js';
import { withCore } from '../shared/store.js';
import { countOf } from '../shared/table.js';
import { formatOf, formatOption, parseZone } from './file-options.js';
import { collectTag, hasTags } from './tags.js';

interface ExportOptions {
  format?: FileFormat;
  zone: string;
  tag?: readonly string[];
  withHashes?: true;
}

export function addExport(account: Command, io: CommandIo): void {
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
      await withCore(await load(command, io), async (core) => {
        await core.usage.load();
        const views = core.accounts.list().filter((view) => hasTags(view.account.tags, options.tag));
        const rows = views.map((view) => ({ view, usage: core.usage.lastView(view.account) }));
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
    throw cannotWrite('accounts', file, error);
  }
}
