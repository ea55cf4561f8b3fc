// `pulsegate audit`: prints the audit log.
import { Option } from 'commander';
import { type Actor, AUDIT_ACTIONS, type AuditEntry } from '../core/audit/audit.js';
import { iso } from '../core/clock.js';
import { findAccount } from './account/find.js';
import { apiCommand, printList } from './shared/api-command.js';
import { type AddCommands, printLine } from './shared/command.js';
import { parseLimit, parsePastTime } from './shared/options.js';
import { formatIso } from './shared/table.js';

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
  apiCommand(program, io, 'audit')
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
    .calls(async (api, options: ListOptions) => {
      const { search, account, action, via, since, until, limit } = options;
      const objectId = account === undefined ? undefined : (await findAccount(api, account)).id;
      const [from, to] = [since, until].map((at) => (at === undefined ? undefined : iso(at)));
      const query = { search, objectId, action, via, from, to, limit };
      const { items: entries, matched } = await api.call('GET /audit', { query });
      printList(io, options, entries, 'No audit entries found.', {
        TIME: ({ at }) => formatIso(at, ''),
        ACTOR: ({ actor }) => actor,
        VIA: ({ via }) => via,
        ADDRESS: ({ address }) => address ?? '',
        ACTION: ({ action }) => action,
        OBJECT: ({ object }) => object.name ?? '',
        CHANGE: changeOf,
      });
      if (!options.json && entries.length > 0 && matched > entries.length)
        printLine(io.stdout, `${entries.length} of ${matched} entries; use --limit to show more`);
    });
};

/** `remarks: "a" → "b"`; only one value for an object that was added or removed. */
function changeOf({ before, after }: Pick<AuditEntry, 'before' | 'after'>): string {
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
