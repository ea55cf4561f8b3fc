// `pulsegate account list` and `account show`.
import type { Command } from 'commander';
import { textOfAddresses } from '../../core/accounts/access/address-list.js';
import { isExpired } from '../../core/accounts/account.js';
import type { AccountView } from '../../core/accounts/account-views.js';
import { textOfTags } from '../../core/accounts/fields/tags.js';
import { isoOrNull } from '../../core/clock.js';
import { formatHostPort } from '../../core/ip.js';
import { presentFields } from '../../http/v1/accounts/present.js';
import { withApi } from '../shared/api.js';
import { type CommandIo, load, printJson, printLine } from '../shared/command.js';
import { withCore } from '../shared/store.js';
import { countOf, formatIso, formatTime, printFields, printTable } from '../shared/table.js';
import { findAccount } from './find.js';
import { readLinkAddress } from './link-address.js';
import { plainLines } from './options.js';
import { collectTag, hasTags } from './tags.js';

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
        const now = Date.now();
        const found = all.filter(
          (view) => matches(view, options.search ?? '') && hasTags(view.account.tags, options.tag),
        );
        if (options.json)
          return printJson(
            io,
            found.map((view) => presentFields(view, now)),
          );
        printTable(
          io,
          ['USER NAME', 'STATE', 'EXPIRES', 'LAST LOGIN', 'ENTRIES', 'LATEST GAME', 'TAGS', 'REMARKS'],
          found.map(({ account: each, dataCount, latestGameId }) => [
            each.username,
            stateOf({ isEnabled: each.isEnabled, isExpired: isExpired(each, now) }),
            expiryWords({
              expiresAt: isoOrNull(each.expiresAt),
              daysFromFirstLogin: each.daysFromFirstLogin,
            }),
            formatTime(each.lastLoginAt, 'never'),
            String(dataCount),
            latestGameId ?? '',
            textOfTags(each.tags),
            each.remarks ?? '',
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
      await withApi(loaded, async (api) => {
        const shown = await findAccount(api, nameOrId);
        const server = await readLinkAddress(api);
        const query = { accountId: shown.id, limit: SHOWN_ENTRIES };
        const { items: newest } = await api.call('GET /heartbeats', { query });
        if (options.json) return printJson(io, { ...shown, server, heartbeats: newest });
        printFields(io, [
          ['id', shown.id],
          ['user name', shown.username],
          ['state', stateOf(shown)],
          [
            'server',
            `${formatHostPort(server.host, server.port)}${server.guess ? ' (guessed; set socks.publicHost)' : ''}`,
          ],
          ['tags', textOfTags(shown.tags)],
          ['remarks', shown.remarks ?? ''],
          ['created', formatIso(shown.createdAt, '')],
          ['last login', formatIso(shown.lastLoginAt, 'never')],
          ['plan', shown.plan ?? ''],
          ['expires', expiryWords(shown)],
          ['e-mail', shown.contacts.email ?? ''],
          ['telegram', shown.contacts.telegram ?? ''],
          ['language', shown.contacts.language ?? ''],
          ['authorized', textOfAddresses(shown.authorizedAddresses)],
          ...plainLines(shown, loaded.config.timeZone),
          ['entries', String(shown.dataCount)],
          ['latest game', shown.latestGameId ?? ''],
        ]);
        if (newest.length === 0) return;
        printLine(io.stdout, '');
        printTable(
          io,
          ['TIME', 'KIND', 'GAME', 'CLIENT', 'DESTINATION', 'UP', 'DOWN'],
          newest.map(({ at, kind, gameId, client, destination, bytesUp, bytesDown }) => [
            formatIso(at, ''),
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

function matches({ account, latestGameId }: AccountView, search: string): boolean {
  const wanted = search.toLowerCase();
  return [account.id, account.username, account.remarks, ...account.tags, latestGameId].some((text) =>
    text?.toLowerCase().includes(wanted),
  );
}

function stateOf({ isEnabled, isExpired }: { isEnabled: boolean; isExpired: boolean }): string {
  if (!isEnabled) return 'disabled';
  return isExpired ? 'expired' : 'enabled';
}

/** `2026-12-31 00:00 UTC`, `30 days from first login`, `never`. */
export function expiryWords(account: {
  readonly expiresAt: string | null;
  readonly daysFromFirstLogin: number | null;
}): string {
  const { expiresAt, daysFromFirstLogin } = account;
  return daysFromFirstLogin === null
    ? formatIso(expiresAt, 'never')
    : `${daysFromFirstLogin} days from first login`;
}
