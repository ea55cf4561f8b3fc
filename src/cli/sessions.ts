// `pulsegate session`: who is connected now, and how to end it.
import type { Command } from 'commander';
import type { z } from 'zod';
import type { Config } from '../config.js';
import type { LiveSession } from '../http/v1/activity/sessions.js';
import { find } from './account-show.js';
import { type AddCommands, CommandError, load, printJson, printLine } from './command.js';
import { askDaemon } from './daemon.js';
import { readLimit } from './options.js';
import { confirm } from './prompt.js';
import { withCore } from './store.js';
import { countOf, formatBytes, formatMoment, printTable } from './table.js';

type Session = z.infer<typeof LiveSession>;

interface Page {
  readonly items: readonly Session[];
  readonly total: number;
  readonly matched: number;
  readonly nextCursor: string | null;
}

const LISTED = 100;
/** The most that one page of the API has. */
const PAGE = 200;
/** Random ids that begin alike in so many characters are not met. */
const SHOWN_ID = 8;
/** Sessions that one request may end. */
const ENDED_AT_ONCE = 1000;

export const addSessionCommands: AddCommands = (program, around) => {
  const session = program
    .command('session')
    .description('live sessions of the running daemon')
    .addHelpText(
      'after',
      '\nExamples:\n  pulsegate session list --search play\n  pulsegate session end 3f2a9c1b\n  pulsegate session end --account player --yes',
    );

  session
    .command('list')
    .description('who is connected now, newest first')
    .option('--search <text>', 'only those with this text in user name, client, destination or GameID')
    .option('--game <id>', 'only those that play this game')
    .option('--limit <n>', 'at most so many', readLimit, LISTED)
    .option('--json', 'as JSON')
    .action(async (options: ListOptions, command: Command) => {
      const { config } = await load(command, around);
      const { items, matched, total } = await listSessions(config, options);
      if (options.json) return printJson(around, items);
      printTable(
        around,
        ['ID', 'USER NAME', 'CLIENT', 'BY', 'DESTINATION', 'GAME', 'UP', 'DOWN', 'SINCE'],
        items.map((each) => [
          each.id.slice(0, SHOWN_ID),
          each.username,
          each.client.address,
          each.clientProtocol,
          `${each.destination.host}:${each.destination.port}${each.protocol === 'udp' ? '/udp' : ''}`,
          each.gameId ?? '',
          formatBytes(each.bytesUp),
          formatBytes(each.bytesDown),
          formatMoment(Date.parse(each.openedAt), ''),
        ]),
      );
      const found =
        matched === total ? countOf(total, 'session') : `${matched} of ${countOf(total, 'session')}`;
      printLine(around.stdout, items.length < matched ? `${found}, ${items.length} shown` : found);
    });

  session
    .command('end')
    .argument('[id...]', 'as `session list` prints it, or how only one begins')
    .description('end sessions; the players may connect again')
    .option('--account <account>', 'all of this account')
    .option('--yes', 'do not ask')
    .option('--json', 'as JSON')
    .action(async (ids: string[], options: EndOptions, command: Command) => {
      if (ids.length > 0 === (options.account !== undefined))
        throw new CommandError('Name sessions, or an account with --account.', 2);
      const loaded = await load(command, around);
      const { config } = loaded;
      const accountId =
        options.account === undefined
          ? undefined
          : await withCore(loaded, async (core) => find(core, options.account ?? '').account.id);
      const all = await listSessions(config, {
        ...(accountId === undefined ? {} : { accountId }),
        limit: Infinity,
      });
      const chosen = accountId === undefined ? ids.map((id) => findSession(all.items, id)) : all.items;
      if (chosen.length > 0) {
        const names = [...new Set(chosen.map(({ username }) => username))].join(', ');
        await confirm(
          around,
          options.yes ?? false,
          `${countOf(chosen.length, 'session')} of ${names} will end.`,
        );
      }
      let ended = 0;
      for (let start = 0; start < chosen.length; start += ENDED_AT_ONCE) {
        const body = { ids: chosen.slice(start, start + ENDED_AT_ONCE).map(({ id }) => id) };
        const answer = await askDaemon(config, { method: 'POST', path: '/sessions/end', body });
        ended += (answer as { ended: number }).ended;
      }
      if (options.json) return printJson(around, { ended });
      printLine(around.stdout, `${countOf(ended, 'session')} ended.`);
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

/** Page after page, up to `limit`. */
async function listSessions(
  config: Config,
  { limit, search, game, accountId }: Omit<ListOptions, 'json'> & { accountId?: string },
): Promise<Omit<Page, 'nextCursor'>> {
  const items: Session[] = [];
  let cursor: string | null = null;
  for (;;) {
    const query = new URLSearchParams({ limit: String(Math.min(PAGE, limit - items.length)) });
    for (const [name, value] of Object.entries({ search, game, accountId, cursor }))
      if (typeof value === 'string') query.set(name, value);
    const page = (await askDaemon(config, { path: `/sessions?${query}` })) as Page;
    items.push(...page.items);
    cursor = page.nextCursor;
    if (cursor === null || items.length >= limit) return { items, matched: page.matched, total: page.total };
  }
}

function findSession(all: readonly Session[], id: string): Session {
  const matching = all.filter((session) => session.id.startsWith(id.toLowerCase()));
  const [only] = matching;
  if (!only || id === '')
    throw new CommandError(`There is no live session ${JSON.stringify(id)}. See: pulsegate session list`);
  if (matching.length > 1)
    throw new CommandError(
      `More than one session begins with ${id}; give more of the id (--json shows it whole).`,
    );
  return only;
}
