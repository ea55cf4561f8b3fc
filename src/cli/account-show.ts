// `pulsegate account list` and `account show`: accounts found and printed.
import type { Command } from 'commander';
import { isExpired } from '../core/accounts/account.js';
import type { AccountView } from '../core/accounts/accounts.js';
import { textOfTags } from '../core/accounts/tags.js';
import { formatHostPort } from '../core/ip.js';
import type { Core } from '../parts/core.js';
import { collectTag, hasTags } from './account-tags.js';
import { CommandError, load, printJson, printLine, type Surroundings } from './command.js';
import { readLinkAddress } from './link.js';
import { withCore } from './store.js';
import { countOf, formatMoment, printFields, printTable } from './table.js';

/** How many of the newest heartbeat entries `account show` prints. */
const SHOWN_ENTRIES = 10;

export function addList(account: Command, around: Surroundings): void {
  account
    .command('list')
    .description('list accounts')
    .option('--search <text>', 'only those with this text in user name, remarks, tags or latest GameID')
    .option('--tag <tag>', 'only those with this tag; with several: with all of them', collectTag)
    .option('--json', 'as JSON')
    .action(async (options: { search?: string; tag?: readonly string[]; json?: true }, command) => {
      const loaded = await load(command, around);
      await withCore(loaded, async ({ accounts }) => {
        const all = accounts.list();
        const found = all.filter(
          (view) => matches(view, options.search ?? '') && hasTags(view.account.tags, options.tag),
        );
        const now = Date.now();
        if (options.json)
          return printJson(
            around,
            found.map((view) => toJson(view, now)),
          );
        printTable(
          around,
          ['USER NAME', 'STATE', 'EXPIRES', 'LAST LOGIN', 'ENTRIES', 'LATEST GAME', 'TAGS', 'REMARKS'],
          found.map((view) => [
            view.account.username,
            stateOf(view, now),
            formatMoment(view.account.expiresAt, 'never'),
            formatMoment(view.account.lastLoginAt, 'never'),
            String(view.dataCount),
            view.latestGameId ?? '',
            textOfTags(view.account.tags),
            view.account.remarks ?? '',
          ]),
        );
        printLine(
          around.stdout,
          found.length === all.length
            ? countOf(all.length, 'account')
            : `${found.length} of ${countOf(all.length, 'account')}`,
        );
      });
    });
}

export function addShow(account: Command, around: Surroundings): void {
  account
    .command('show')
    .argument('<account>', 'user name or id')
    .description('show one account and its newest heartbeat entries')
    .option('--json', 'as JSON')
    .action(async (nameOrId: string, options: { json?: true }, command) => {
      const loaded = await load(command, around);
      await withCore(loaded, async (core) => {
        const view = find(core, nameOrId);
        const now = Date.now();
        const { account: it } = view;
        const server = await readLinkAddress(loaded.config, core.store.settings);
        const newest = await core.store.heartbeats.newest(it.id, SHOWN_ENTRIES);
        if (options.json) {
          const heartbeats = newest.map(({ at, ...entry }) => ({ at: isoOrNull(at), ...entry }));
          return printJson(around, { ...toJson(view, now), server, heartbeats });
        }
        printFields(around, [
          ['id', it.id],
          ['user name', it.username],
          ['state', stateOf(view, now)],
          [
            'server',
            `${formatHostPort(server.host, server.port)}${server.guess ? ' (a guess: see socks.publicHost)' : ''}`,
          ],
          ['tags', textOfTags(it.tags)],
          ['remarks', it.remarks ?? ''],
          ['created', formatMoment(it.createdAt, '')],
          ['last login', formatMoment(it.lastLoginAt, 'never')],
          ['expires', formatMoment(it.expiresAt, 'never')],
          ['entries', String(view.dataCount)],
          ['latest game', view.latestGameId ?? ''],
        ]);
        if (newest.length === 0) return;
        printLine(around.stdout, '');
        printTable(
          around,
          ['TIME', 'KIND', 'GAME', 'CLIENT', 'DESTINATION', 'UP', 'DOWN'],
          newest.map(({ at, kind, gameId, client, destination, bytesUp, bytesDown }) => [
            formatMoment(at, ''),
            kind,
            gameId ?? '',
            client,
            destination,
            String(bytesUp),
            String(bytesDown),
          ]),
        );
      });
    });
}

/** By user name first: a name may well look like an id. */
export function find({ accounts }: Core, nameOrId: string): AccountView {
  const view = accounts.getByUsername(nameOrId) ?? accounts.get(nameOrId.toLowerCase());
  if (!view)
    throw new CommandError(`There is no account ${JSON.stringify(nameOrId)}. See: pulsegate account list`);
  return view;
}

function matches({ account, latestGameId }: AccountView, search: string): boolean {
  const wanted = search.toLowerCase();
  return [account.id, account.username, account.remarks, ...account.tags, latestGameId].some((text) =>
    text?.toLowerCase().includes(wanted),
  );
}

function stateOf({ account }: AccountView, now: number): string {
  if (!account.isEnabled) return 'disabled';
  return isExpired(account, now) ? 'expired' : 'enabled';
}

const isoOrNull = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());

export function toJson({ account, dataCount, latestGameId }: AccountView, now: number) {
  return {
    id: account.id,
    username: account.username,
    isEnabled: account.isEnabled,
    remarks: account.remarks,
    tags: account.tags,
    createdAt: isoOrNull(account.createdAt),
    lastLoginAt: isoOrNull(account.lastLoginAt),
    expiresAt: isoOrNull(account.expiresAt),
    isExpired: isExpired(account, now),
    dataCount,
    latestGameId,
  };
}
