// `pulsegate session`: lists and ends live sessions.
import type { Command } from 'commander';
import { findAccount } from './account/find.js';
import { type Answer, type Api, daemonApi, withApi } from './shared/api.js';
import { type AddCommands, CommandError, load, printJson, printLine } from './shared/command.js';
import { parseLimit } from './shared/options.js';
import { confirm } from './shared/prompt.js';
import { countOf, formatBytes, formatIso, printTable } from './shared/table.js';

type Session = Answer<'GET /sessions'>['items'][number];

const DEFAULT_LIMIT = 100;
/** Sessions in one response. */
const PAGE_SIZE = 200;
/** Enough of a random id to identify a live session in practice. */
const SHOWN_ID_CHARACTERS = 8;
/** The maximum number of sessions in one request to end sessions. */
const MAX_ENDED_PER_REQUEST = 1000;

export const addSessionCommands: AddCommands = (program, io) => {
  const session = program
    .command('session')
    .description('list and end live sessions of the running daemon')
    .addHelpText(
      'after',
      '\nExamples:\n  pulsegate session list --search play\n  pulsegate session end 3f2a9c1b\n  pulsegate session end --account player --yes',
    );

  session
    .command('list')
    .description('list live sessions, newest first')
    .option('--search <text>', 'filter by text in user name, client, destination or GameID')
    .option('--game <id>', 'filter by GameID')
    .option('--limit <n>', 'maximum number of sessions', parseLimit, DEFAULT_LIMIT)
    .option('--json', 'print JSON')
    .action(async (options: ListOptions, command: Command) => {
      const { config } = await load(command, io);
      const { items, matched, total } = await listSessions(daemonApi(config), options);
      if (options.json) return printJson(io, items);
      printTable(
        io,
        ['ID', 'USER NAME', 'CLIENT', 'BY', 'DESTINATION', 'GAME', 'NODE', 'UP', 'DOWN', 'SINCE'],
        items.map((each) => [
          each.id.slice(0, SHOWN_ID_CHARACTERS),
          each.username,
          each.client.address,
          each.clientProtocol,
          `${each.destination.host}:${each.destination.port}${each.protocol === 'udp' ? '/udp' : ''}`,
          each.gameId ?? '',
          each.node,
          formatBytes(each.bytesUp),
          formatBytes(each.bytesDown),
          formatIso(each.openedAt, ''),
        ]),
      );
      const found =
        matched === total ? countOf(total, 'session') : `${matched} of ${countOf(total, 'session')}`;
      printLine(io.stdout, items.length < matched ? `${found}, ${items.length} shown` : found);
    });

  session
    .command('end')
    .argument('[id...]', 'session ids or unique prefixes')
    .description('end sessions; players can reconnect')
    .option('--account <account>', 'end all sessions of this account')
    .option('--yes', 'skip the confirmation')
    .option('--json', 'print JSON')
    .action(async (ids: string[], options: EndOptions, command: Command) => {
      if (ids.length > 0 === (options.account !== undefined))
        throw new CommandError('Give either session ids or --account.', 2);
      const loaded = await load(command, io);
      const { account } = options;
      const accountId =
        account === undefined
          ? undefined
          : await withApi(loaded, async (api) => (await findAccount(api, account)).id);
      const api = daemonApi(loaded.config);
      const all = await listSessions(api, { accountId, limit: Infinity });
      const chosen = accountId === undefined ? ids.map((id) => findSession(all.items, id)) : all.items;
      if (chosen.length > 0) {
        const names = [...new Set(chosen.map(({ username }) => username))].join(', ');
        await confirm(io, options.yes, `${countOf(chosen.length, 'session')} of ${names} will end.`);
      }
      let ended = 0;
      for (let start = 0; start < chosen.length; start += MAX_ENDED_PER_REQUEST) {
        const body = { ids: chosen.slice(start, start + MAX_ENDED_PER_REQUEST).map(({ id }) => id) };
        ended += (await api.call('POST /sessions/end', { body })).ended;
      }
      if (options.json) return printJson(io, { ended });
      printLine(io.stdout, `Ended ${countOf(ended, 'session')}.`);
    });
};

interface ListOptions {
  search?: string;
  game?: string;
  limit: number;
  json?: true;
}

interface EndOptions {
  account?: string;
  yes?: true;
  json?: true;
}

/** Reads pages until it has `limit` sessions or all of them. */
async function listSessions(
  { call }: Api,
  { limit, search, game, accountId }: Omit<ListOptions, 'json'> & { accountId?: string | undefined },
) {
  const items: Session[] = [];
  let cursor: string | undefined;
  for (;;) {
    const query = { limit: Math.min(PAGE_SIZE, limit - items.length), search, game, accountId, cursor };
    const page = await call('GET /sessions', { query });
    items.push(...page.items);
    cursor = page.nextCursor ?? undefined;
    if (cursor === undefined || items.length >= limit)
      return { items, matched: page.matched, total: page.total };
  }
}

function findSession(all: readonly Session[], id: string): Session {
  const matching = all.filter((session) => session.id.startsWith(id.toLowerCase()));
  const [only] = matching;
  if (!only || id === '')
    throw new CommandError(`No such live session: ${JSON.stringify(id)}. See: pulsegate session list`);
  if (matching.length > 1)
    throw new CommandError(
      `Ambiguous id ${id}: it matches ${matching.length} sessions. Use session list --json to see whole ids.`,
    );
  return only;
}
