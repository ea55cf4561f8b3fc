// `pulsegate audit`: prints the audit log.
import { AUDIT_ACTIONS, type AuditEntry } from '../core/audit/audit.js';
import { iso } from '../core/clock.js';
import { findAccount } from './account/find.js';
import { type AddCommands, printList } from './shared/group.js';
import { parseLimit, parsePastTime } from './shared/options.js';
import { formatIso } from './shared/table.js';

const VIA = ['console', 'api', 'token', 'cli', 'daemon', 'player'] as const;

export const addAuditCommands: AddCommands = (program) => {
  program
    .command('audit', 'print the audit log, newest entries first', {
      '--search <text>': 'filter by text in actor, address, action or object name',
      '--account <account>': 'filter by account',
      '--action <action>': { help: 'filter by action', choices: AUDIT_ACTIONS },
      '--via <interface>': { help: 'filter by the interface used', choices: VIA },
      '--since <when>': {
        help: 'entries from this time on: an age (24h) or a date in UTC',
        read: parsePastTime,
      },
      '--until <when>': { help: 'entries before this time', read: parsePastTime },
      '--limit <n>': { help: 'maximum number of entries', read: parseLimit, initial: 50 },
    })
    .examples('audit --since 24h', 'audit --account player --json')
    .answers(async (run, { account, since, until, search, action, via, limit }) => {
      const objectId = account === undefined ? undefined : (await findAccount(run, account)).id;
      const [from, to] = [since, until].map((at) => (at === undefined ? undefined : iso(at)));
      const query = { search, objectId, action, via, from, to, limit };
      const { items, matched } = await run.call('GET /audit', { query });
      const print = () => {
        printList(run.io, items, 'No audit entries found.', {
          TIME: ({ at }) => formatIso(at, ''),
          ACTOR: ({ actor }) => actor,
          VIA: ({ via }) => via,
          ADDRESS: ({ address }) => address ?? '',
          ACTION: ({ action }) => action,
          OBJECT: ({ object }) => object.name ?? '',
          CHANGE: changeOf,
        });
        if (items.length > 0 && matched > items.length)
          run.print(`${items.length} of ${matched} entries; use --limit to show more`);
      };
      return [items, print];
    });
};

/** `remarks: "a" → "b"`; only one value for an object that was added or removed. */
function changeOf({ before, after }: Pick<AuditEntry, 'before' | 'after'>): string {
  const names = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})]);
  return [...names]
    .map((name) => {
      const shown = [before, after].flatMap((values) => (values ? JSON.stringify(values[name] ?? null) : []));
      return `${name}: ${shown.join(' → ')}`;
    })
    .join(', ');
}
