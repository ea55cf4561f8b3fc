// `pulsegate audit`: prints the audit log.
import { type Command, Option } from 'commander';
import { type Actor, AUDIT_ACTIONS, type AuditEntry, type AuditFilter } from '../core/audit/audit.js';
import { iso } from '../core/clock.js';
import type { Core } from '../parts/core.js';
import { findAccount } from './account-show.js';
import { type AddCommands, load, printJson, printLine } from './command.js';
import { parseLimit, parsePastTime } from './options.js';
import { withCore } from './store.js';
import { formatTime, printTable } from './table.js';

const DEFAULT_LIMIT = 50;

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

export const addAuditCommands: AddCommands = (program, io) => {
  program
    .command('audit')
    .description('print the audit log, newest entries first')
    .option('--search <text>', 'filter by text in actor, address, action or object name')
    .option('--account <account>', 'filter by account')
    .addOption(new Option('--action <action>', 'filter by action').choices([...AUDIT_ACTIONS]))
    .addOption(
      new Option('--via <interface>', 'filter by the interface used').choices([
        'console',
        'api',
        'token',
        'cli',
        'daemon',
        'player',
      ]),
    )
    .option('--since <when>', 'entries from this time on: an age (24h) or a date in UTC', parsePastTime)
    .option('--until <when>', 'entries before this time', parsePastTime)
    .option('--limit <n>', 'maximum number of entries', parseLimit, DEFAULT_LIMIT)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExamples:\n  pulsegate audit --since 24h\n  pulsegate audit --account player --json',
    )
    .action(async (options: ListOptions, command: Command) => {
      await withCore(await load(command, io), async (core) => {
        const { limit } = options;
        const filter = toFilter(options, core);
        const entries = await core.store.audit.list(filter, null, limit);
        if (options.json) return printJson(io, entries.map(present));
        if (entries.length === 0) return printLine(io.stderr, 'No audit entries found.');
        printTable(
          io,
          ['TIME', 'ACTOR', 'VIA', 'ADDRESS', 'ACTION', 'OBJECT', 'CHANGE'],
          entries.map((each) => [
            formatTime(each.at, ''),
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
          printLine(io.stdout, `${entries.length} of ${matched} entries; use --limit to show more`);
      });
    });
};

function toFilter({ search, account, action, via, since, until }: ListOptions, core: Core): AuditFilter {
  const objectId = account === undefined ? undefined : findAccount(core, account).account.id;
  const all = { search, objectId, action, via, from: since, to: until };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

/** `remarks: "a" → "b"`; only one value for an object that was added or removed. */
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

/** The entry in the form of /api/v1. */
function present({ at, by, ...entry }: AuditEntry) {
  return { ...entry, at: iso(at), actor: by.name, via: by.via, address: by.address };
}
