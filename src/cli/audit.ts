// `pulsegate audit`: who changed what, with what it was before.
import { type Command, Option } from 'commander';
import { type Actor, AUDIT_ACTIONS, type AuditEntry, type AuditFilter } from '../core/audit/audit.js';
import type { Core } from '../parts/core.js';
import { find } from './account-show.js';
import { type AddCommands, load, printJson, printLine } from './command.js';
import { readLimit, readPast } from './options.js';
import { iso } from './runs.js';
import { withCore } from './store.js';
import { formatMoment, printTable } from './table.js';

const LISTED = 50;

interface ListOptions {
  search?: string;
  account?: string;
  action?: string;
  via?: Actor['via'];
  since?: number;
  until?: number;
  limit: number;
  json?: true;
}

export const addAuditCommands: AddCommands = (program, around) => {
  program
    .command('audit')
    .description('who changed what, newest first')
    .option('--search <text>', 'only with this text in who, address, action or name')
    .option('--account <account>', 'only changes of this account')
    .addOption(new Option('--action <action>', 'only changes of this kind').choices([...AUDIT_ACTIONS]))
    .addOption(
      new Option('--via <way>', 'only by this way').choices(['console', 'api', 'token', 'cli', 'daemon']),
    )
    .option('--since <when>', 'only from then on: so long ago (24h), or a date in UTC', readPast)
    .option('--until <when>', 'only before then', readPast)
    .option('--limit <n>', 'at most so many', readLimit, LISTED)
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      '\nExamples:\n  pulsegate audit --since 24h\n  pulsegate audit --account player --json',
    )
    .action(async (options: ListOptions, command: Command) => {
      const loaded = await load(command, around);
      await withCore(loaded, async (core) => {
        const { limit } = options;
        const filter = toFilter(options, core);
        const entries = await core.store.audit.list(filter, null, limit);
        if (options.json) return printJson(around, entries.map(present));
        if (entries.length === 0) return printLine(around.stderr, 'There are no such changes.');
        printTable(
          around,
          ['TIME', 'WHO', 'VIA', 'FROM', 'ACTION', 'OF', 'CHANGE'],
          entries.map((each) => [
            formatMoment(each.at, ''),
            each.by.name,
            each.by.via,
            each.by.address ?? '',
            each.action,
            each.object.name ?? '',
            changeOf(each),
          ]),
        );
        const matched = await core.store.audit.count(filter);
        if (matched > entries.length)
          printLine(around.stdout, `${entries.length} of ${matched}; --limit shows more`);
      });
    });
};

function toFilter({ search, account, action, via, since, until }: ListOptions, core: Core): AuditFilter {
  const objectId = account === undefined ? undefined : find(core, account).account.id;
  const all = { search, objectId, action, via, from: since, to: until };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

/** `remarks: "a" → "b"`; of what was made or removed only what it was. */
function changeOf({ before, after }: AuditEntry): string {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  return names
    .map((name) => {
      const [old, now] = [before, after].map((values) =>
        values ? JSON.stringify(values[name] ?? null) : null,
      );
      return `${name}: ${[old, now].filter((text) => text !== null).join(' → ')}`;
    })
    .join(', ');
}

/** As the API shows it. */
function present({ at, by, ...entry }: AuditEntry) {
  return { ...entry, at: iso(at), actor: by.name, via: by.via, address: by.address };
}
