// `pulsegate account list` and `account show`.
import type { Command } from 'commander';
import { textOfAddresses } from '../core/accounts/access/address-list.js';
import { type Account, isExpired } from '../core/accounts/account.js';
import type { AccountView } from '../core/accounts/account-views.js';
import { textOfTags } from '../core/accounts/fields/tags.js';
import { isoOrNull } from '../core/clock.js';
import { formatHostPort } from '../core/ip.js';
import { presentFields } from '../http/v1/accounts/present.js';
import type { Core } from '../parts/core.js';
import { collectTag, hasTags } from './account-tags.js';
import { CommandError, type CommandIo, load, printJson, printLine } from './command.js';
import { readLinkAddress } from './link.js';
import { withCore } from './store.js';
import { countOf, formatTime, printFields, printTable } from './table.js';

/** The number of heartbeat entries that `account show` prints. */
const SHOWN_ENTRIES = 10;

export function addList(account: Command, io: CommandIo): void {
  account
    .command('list')
    .description('list accounts')
    .option('--search <text>', 'filter by text in user name, remarks, tags or latest GameID')
    .option('--tag <tag>', 'filter by tag (repeatable: accounts with all of them)', collectTag)
    .option('--json', 'print JSON')
    .action(async (options: { search?: string; tag?: readonly string[]; json?: true }, command) => {
      await withCore(await load(command, io), async ({ accounts }) => {
        const all = accounts.list();
        const found = all.filter(
          (view) => matches(view, options.search ?? '') && hasTags(view.account.tags, options.tag),
        );
        const now = Date.now();
        if (options.json)
          return printJson(
            io,
            found.map((view) => presentFields(view, now)),
          );
        printTable(
          io,
          ['USER NAME', 'STATE', 'EXPIRES', 'LAST LOGIN', 'ENTRIES', 'LATEST GAME', 'TAGS', 'REMARKS'],
          found.map((view) => [
            view.account.username,
            stateOf(view, now),
            expiryWords(view.account),
            formatTime(view.account.lastLoginAt, 'never'),
            String(view.dataCount),
            view.latestGameId ?? '',
            textOfTags(view.account.tags),
            view.account.remarks ?? '',
          ]),
        );
        printLine(
          io.stdout,
          found.length === all.length
            ? countOf(all.length, 'account')
            : `${found.length} of ${countOf(all.length, 'account')}`,
        );
      });
    });
}

export function addShow(account: Command, io: CommandIo): void {
  account
    .command('show')
    .argument('<account>', 'user name or id')
    .description('show an account and its latest heartbeat entries')
    .option('--json', 'print JSON')
    .action(async (nameOrId: string, options: { json?: true }, command) => {
      const loaded = await load(command, io);
      await withCore(loaded, async (core) => {
        const view = findAccount(core, nameOrId);
        const now = Date.now();
        const { account: shown } = view;
        const server = await readLinkAddress(loaded.config, core.store.settings);
        const newest = await core.store.heartbeats.newest(shown.id, SHOWN_ENTRIES);
        if (options.json) {
          const heartbeats = newest.map(({ at, ...entry }) => ({ at: isoOrNull(at), ...entry }));
          return printJson(io, { ...presentFields(view, now), server, heartbeats });
        }
        printFields(io, [
          ['id', shown.id],
          ['user name', shown.username],
          ['state', stateOf(view, now)],
          [
            'server',
            `${formatHostPort(server.host, server.port)}${server.guess ? ' (guessed; set socks.publicHost)' : ''}`,
          ],
          ['tags', textOfTags(shown.tags)],
          ['remarks', shown.remarks ?? ''],
          ['created', formatTime(shown.createdAt, '')],
          ['last login', formatTime(shown.lastLoginAt, 'never')],
          ['plan', shown.plan ?? ''],
          ['expires', expiryWords(shown)],
          ['e-mail', shown.contacts.email ?? ''],
          ['telegram', shown.contacts.telegram ?? ''],
          ['language', shown.contacts.language ?? ''],
          ['authorized', textOfAddresses(shown.authorizedAddresses)],
          ['allowed clients', textOfAddresses(shown.allowedClients) || 'all'],
          ['schedule', shown.schedule === null ? 'always' : `${shown.schedule} (${loaded.config.timeZone})`],
          ['entries', String(view.dataCount)],
          ['latest game', view.latestGameId ?? ''],
        ]);
        if (newest.length === 0) return;
        printLine(io.stdout, '');
        printTable(
          io,
          ['TIME', 'KIND', 'GAME', 'CLIENT', 'DESTINATION', 'UP', 'DOWN'],
          newest.map(({ at, kind, gameId, client, destination, bytesUp, bytesDown }) => [
            formatTime(at, ''),
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

/** Looks up the user name first, because a user name may look like an id. */
export function findAccount({ accounts }: Core, nameOrId: string): AccountView {
  const view = accounts.getByUsername(nameOrId) ?? accounts.get(nameOrId.toLowerCase());
  if (!view)
    throw new CommandError(`No such account: ${JSON.stringify(nameOrId)}. See: pulsegate account list`);
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

/** `2026-12-31 00:00 UTC`, `30 days from first login`, `never`. */
export function expiryWords({
  expiresAt,
  daysFromFirstLogin,
}: Pick<Account, 'expiresAt' | 'daysFromFirstLogin'>): string {
  if (daysFromFirstLogin !== null) return `${daysFromFirstLogin} days from first login`;
  return formatTime(expiresAt, 'never');
}
