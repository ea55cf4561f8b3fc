// `pulsegate account export`: accounts as a CSV, JSON or CCProxy file.
import { createWriteStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type CommandIo, printLine } from '../shared/command.js';
import { cannotWrite, STDIO, writeToStdout } from '../shared/files.js';
import type { Group } from '../shared/group.js';
import { countOf } from '../shared/table.js';
import { collectTag, FORMAT_OPTION, formatOf, parseZone } from './options.js';

export function addExport(account: Group): void {
  account
    .command('export', 'export accounts with limits and usage as CSV, JSON or CCProxy AccInfo.ini', {
      '[file]': 'new file to write (default or -: stdout)',
      ...FORMAT_OPTION,
      '--zone <zone>': {
        help: "time zone of the dates in AccInfo.ini: use the CCProxy host's zone",
        read: parseZone,
        initial: 'UTC',
      },
      '--tag <tag>': { help: 'filter by tag (repeatable: accounts with all of them)', read: collectTag },
      '--with-hashes': 'include password hashes, to move accounts to another Pulsegate',
    })
    .runs(async (run, { file: name, zone, tag: tags, withHashes, format }) => {
      const file = name === STDIO ? undefined : name;
      const query = { format: formatOf(file, format), zone, tag: tags?.join(',') };
      const hashes = withHashes ? 'true' : undefined;
      const content = await run.call('GET /accounts/export', { query: { ...query, withHashes: hashes } });
      await save(content, file, run.io);
      if (file === undefined) return;
      const { matched } = await run.call('GET /accounts', { query: { tag: query.tag, limit: 1 } });
      printLine(run.io.stderr, `Exported ${countOf(matched, 'account')} to ${file}`);
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
