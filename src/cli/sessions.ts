// `pulsegate session`: lists and ends live sessions.
import { findAccount } from './account/find.js';
import type { ItemOf } from './shared/api.js';
import { CommandError, found, wrongUsage } from './shared/command.js';
import type { AddCommands } from './shared/group.js';
import { limitOption } from './shared/options.js';
import { countOf } from './shared/table.js';

type Session = ItemOf<'GET /sessions'>;

/** Enough of a random id to identify a live session in practice. */
const SHOWN_ID_CHARACTERS = 8;
/** The maximum number of sessions in one request to end sessions. */
const MAX_ENDED_PER_REQUEST = 1000;

export const addSessionCommands: AddCommands = (program) =>
  program
    .group('session', 'list and end live sessions of the running daemon')
    .examples('session list --search play', 'session end 3f2a9c1b', 'session end --account player --yes')

    .command('list', 'list live sessions, newest first', {
      search: '--search <text>  filter by text in user name, client, destination or GameID',
      game: '--game <id>  filter by GameID',
      limit: limitOption('sessions', 100),
    })
    .lists(null, 'GET /sessions', [
      { ID: ({ id }) => id.slice(0, SHOWN_ID_CHARACTERS), 'USER NAME': 'username' },
      { CLIENT: ({ client }) => client.address, ORIGIN: 'clientOrigin', BY: 'clientProtocol' },
      { DESTINATION: destinationOf, EXIT: 'exit', GAME: 'gameId' },
      { NODE: 'node', UP: 'bytesUp', DOWN: 'bytesDown', SINCE: 'openedAt' },
    ])
    .also(({ print }, { items, matched, total }) => {
      const of = matched === total ? '' : `${matched} of `;
      const shown = items.length < matched ? `, ${items.length} shown` : '';
      print(`${of}${countOf(total, 'session')}${shown}`);
    })

    .command('end', 'end sessions; players can reconnect', {
      ids: '[id...]  session ids or unique prefixes',
      account: '--account <account>  end all sessions of this account',
    })
    .asks()
    .answers(async (run, { ids, account }) => {
      if (ids.length > 0 === (account !== undefined))
        throw wrongUsage('Give either session ids or --account.');
      const accountId = account === undefined ? undefined : (await findAccount(run, account)).id;
      const { items } = await run.list('GET /sessions', { accountId });
      const chosen = account === undefined ? ids.map((id) => findSession(items, id)) : items;
      if (chosen.length > 0) {
        const names = [...new Set(chosen.map(({ username }) => username))].join(', ');
        await run.confirm(`${countOf(chosen.length, 'session')} of ${names} will end.`);
      }
      let ended = 0;
      for (let start = 0; start < chosen.length; start += MAX_ENDED_PER_REQUEST) {
        const body = { ids: chosen.slice(start, start + MAX_ENDED_PER_REQUEST).map(({ id }) => id) };
        ended += (await run.call('POST /sessions/end', { body })).ended;
      }
      return [{ ended }, `Ended ${countOf(ended, 'session')}.`];
    });

const destinationOf = ({ destination: { host, port }, protocol }: Session): string =>
  `${host}:${port}${protocol === 'udp' ? '/udp' : ''}`;

function findSession(all: readonly Session[], id: string): Session {
  const matching = id === '' ? [] : all.filter((session) => session.id.startsWith(id.toLowerCase()));
  if (matching.length > 1)
    throw new CommandError(
      `Ambiguous id ${id}: it matches ${matching.length} sessions. Use session list --json to see whole ids.`,
    );
  return found(matching[0], 'session', id, 'live session');
}
