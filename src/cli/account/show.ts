// `pulsegate account list` and `account show`.
import { textOfAddresses } from '../../core/accounts/access/address-list.js';
import { textOfTags } from '../../core/accounts/fields/contacts.js';
import { formatHostPort } from '../../core/addresses/ip.js';
import type { Answer } from '../shared/api.js';
import type { AddCommands } from '../shared/group.js';
import { countOf, formatIso, printFields, printTable } from '../shared/table.js';
import { readLinkAddress } from './change.js';
import { ACCOUNT, TAGS } from './find.js';

/** The number of heartbeat entries that `account show` prints. */
const SHOWN_ENTRIES = 10;

export const addListAndShow: AddCommands = (account) =>
  account
    .command('list', 'list accounts', {
      search: '--search <text>  filter by text in user name, remarks, tags or latest GameID',
      ...TAGS,
    })
    .lists(null, 'GET /accounts', [
      { 'USER NAME': 'username', STATE: stateOf, EXPIRES: expiryWords, 'LAST LOGIN': 'lastLoginAt' },
      { ENTRIES: 'dataCount', 'LATEST GAME': 'latestGameId', TAGS: tagsOf, REMARKS: 'remarks' },
    ])
    .also(({ print }, { items, total }) =>
      print(`${items.length === total ? '' : `${items.length} of `}${countOf(total, 'account')}`),
    )

    .command('show', 'show an account and its latest heartbeat entries', ACCOUNT)
    .answers(async (run, { account: shown }) => {
      const { timeZone } = (await run.load()).config;
      const server = await readLinkAddress(run);
      const query = { accountId: shown.id, limit: SHOWN_ENTRIES };
      const { items: heartbeats } = await run.call('GET /heartbeats', { query });
      const print = () => {
        const guessed = server.guess ? ' (guessed; set socks.publicHost)' : '';
        printFields(run.io, { ...shown, ...shown.contacts }, [
          { id: 'id', 'user name': 'username', state: stateOf },
          { server: () => formatHostPort(server.host, server.port) + guessed, tags: tagsOf },
          { remarks: 'remarks', created: 'createdAt', 'last login': 'lastLoginAt', plan: 'plan' },
          { expires: expiryWords, 'e-mail': 'email', telegram: 'telegram', language: 'language' },
          { authorized: ({ authorizedAddresses }) => textOfAddresses(authorizedAddresses) },
          { 'allowed clients': ({ allowedClients }) => textOfAddresses(allowedClients) || 'all' },
          { schedule: ({ schedule }) => (schedule === null ? 'always' : `${schedule} (${timeZone})`) },
          { exit: ({ exit }) => exit ?? 'default', entries: 'dataCount', 'latest game': 'latestGameId' },
        ]);
        if (heartbeats.length === 0) return;
        run.print('');
        printTable(run.io, heartbeats, [
          { TIME: 'at', KIND: 'kind', GAME: 'gameId', CLIENT: 'client', ORIGIN: 'clientOrigin' },
          { DESTINATION: 'destination' },
          { UP: ({ bytesUp }) => String(bytesUp), DOWN: ({ bytesDown }) => String(bytesDown) },
        ]);
      };
      return [{ ...shown, server, heartbeats }, print];
    });

type Account = Answer<'GET /accounts/{id}'>;

const tagsOf = ({ tags }: Account): string => textOfTags(tags);

function stateOf({ isEnabled, isExpired, suspendedUntil, suspendReason }: Account): string {
  if (!isEnabled) return 'disabled';
  if (suspendedUntil !== null) {
    const until = suspendedUntil >= '9' ? '' : ` until ${formatIso(suspendedUntil, '')}`;
    return `suspended${until} (${suspendReason})`;
  }
  return isExpired ? 'expired' : 'enabled';
}

/** `2026-12-31 00:00 UTC`, `30 days from first login`, `never`. */
export const expiryWords = ({
  expiresAt,
  daysFromFirstLogin,
}: Pick<Account, 'expiresAt' | 'daysFromFirstLogin'>) =>
  daysFromFirstLogin === null ? formatIso(expiresAt, 'never') : `${daysFromFirstLogin} days from first login`;
