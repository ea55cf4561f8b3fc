// `pulsegate account`: its commands, and by themselves those of one account that do not print it: name, limits, secret link.
import { formatHostPort } from '../../core/addresses/ip.js';
import type { Answer, BodyOf, ItemOf } from '../shared/api.js';
import { CommandError, type CommandIo, wrongUsage } from '../shared/command.js';
import type { AddCommands } from '../shared/group.js';
import { ACCOUNT_LIMITS, expiry, limitFields } from '../shared/options.js';
import { param } from '../shared/params.js';
import type { Run } from '../shared/run.js';
import { formatBytes, formatIso, printFields } from '../shared/table.js';
import { addAdd, addLink, addUpdate, readLinkAddress } from './change.js';
import { addExport, addImport } from './files.js';
import { ACCOUNT, ACCOUNTS } from './find.js';
import { addRenewAndUpgrade } from './plan.js';
import { addListAndShow } from './show.js';

/** What commands say of changes that the API has no sentence for. */
const REFUSALS = {
  'body.username too-short': 'User name and password must not be empty.',
  'body.username': 'The user name must be 1 to 255 bytes of UTF-8 without control characters.',
  'body.password': 'The password must be 1 to 255 bytes of UTF-8 and not only white space.',
  'username-taken': 'An account with this user name already exists.',
};

export const addAccountCommands: AddCommands = (program) =>
  program
    .group('account', 'manage accounts', REFUSALS)
    .with(addAdd, addListAndShow, addUpdate)

    .command('rename', 'rename an account and end its live sessions; keeps heartbeats and history', ACCOUNT, {
      username: '<name>  new user name',
    })
    .calls('PATCH /accounts/{id}', ({ account, username }) => `Renamed ${account.username} to ${username}.`)

    .command('suspend', 'refuse logins and end live sessions; the player is told the reason', ACCOUNTS, {
      reason: param('--reason <text>  why, in words for the player').required(),
      until: expiry('--until <time>  30d or a date in UTC (default: never, until resumed)'),
    })
    .examples('account suspend player --reason "Not paid since May" --until 7d')
    .answers((run, { accounts, reason, until = null }) =>
      inBulk(run, accounts, { type: 'suspend', reason, until }, 'Suspended'),
    )

    .command('resume', 'lift suspensions, by an operator or by the guard', ACCOUNTS)
    .answers((run, { accounts }) => inBulk(run, accounts, { type: 'resume', ofGuard: true }, 'Resumed'))

    .with(addRenewAndUpgrade, addLink, addSubscriptionCommands)

    .command('remove', 'remove accounts and their heartbeat data permanently', ACCOUNTS)
    .asks(({ accounts }) => {
      const entries = accounts.reduce((sum, { dataCount }) => sum + dataCount, 0);
      return `${accounts.map(({ username }) => username).join(', ')} and ${entries} heartbeat entries will be removed.`;
    })
    .runs(async ({ call, print }, { accounts }) => {
      for (const { id, username } of accounts) {
        await call('DELETE /accounts/{id}', { params: { id } });
        print(`Removed ${username}.`);
      }
    })

    .with(addLimitCommands, addExport, addImport);

/** Runs an action on the accounts. @param did what is said of those that it changed */
async function inBulk(
  { call, note }: Run,
  accounts: readonly ItemOf<'GET /accounts'>[],
  action: BodyOf<'POST /accounts/bulk'>['action'],
  did: string,
): Promise<readonly [unknown, string]> {
  const ids = accounts.map(({ id }) => id);
  const done = await call('POST /accounts/bulk', { body: { ids, action, dryRun: false } });
  const skipped = new Set(done.skipped.map(({ id }) => id));
  for (const { username, reason } of done.skipped) note(`${username} is left out: ${reason}.`);
  const names = accounts.filter(({ id }) => !skipped.has(id)).map(({ username }) => username);
  return [done, names.length === 0 ? 'Nothing was changed.' : `${did} ${names.join(', ')}.`];
}

const addLimitCommands: AddCommands = (account) =>
  account
    .group('limits', "show and change an account's limits and usage")
    .examples(
      'account limits set player --max-sessions 4 --rate-down 1MiB/s --quota 50GiB --quota-period month',
      'account limits set player --quota none',
    )

    .command('show', 'show limits and usage', ACCOUNT)
    .calls('GET /accounts/{id}/limits', (_, { limits, usage }, { io }) => limitPrinter(io, limits, usage))

    .command(
      'set',
      'set limits, also for live sessions; limits you do not give stay as they are; none removes a limit',
      ACCOUNT_LIMITS,
      ACCOUNT,
    )
    .needs('limit')
    .refuses(async ({ egressClass: unknown }, { load }) => {
      const known = Object.keys((await load()).config.egress.classes).join(', ') || 'none';
      const text = `Unknown egress class ${JSON.stringify(unknown)}. Configured classes: ${known}.`;
      return { 'body.egressClass': wrongUsage(text) };
    })
    .calls('PATCH /accounts/{id}/limits', (_, { limits }, { io }) => limitPrinter(io, limits, null))

    .command('reset-usage', 'reset the usage of the quota period to zero; keeps the daily history', ACCOUNT)
    .asks(
      ({ account: { username, usage } }) =>
        `The usage of ${username} (${formatBytes(usage.periodBytes)}) will be reset to zero.`,
    )
    .does('POST /accounts/{id}/usage/reset', ({ account: { username } }) => `Usage of ${username} reset.`);

type Shown = Answer<'GET /accounts/{id}/limits'>;

function limitPrinter(io: CommandIo, limits: Shown['limits'], usage: Shown['usage'] | null): () => void {
  if (usage === null) return () => printFields(io, limits, limitFields());
  const until = usage.periodEndsAt ? `, resets ${formatIso(usage.periodEndsAt, '')}` : '';
  const notes = {
    maxSessions: `now ${usage.sessions}`,
    maxClientAddresses: `now ${usage.clientAddresses}`,
    quotaBytes: `used ${formatBytes(usage.periodBytes)}${until}`,
  };
  const total = `${formatBytes(usage.totalBytesUp)} up, ${formatBytes(usage.totalBytesDown)} down`;
  return () => printFields(io, limits, [...limitFields(notes), { 'total usage': () => total }]);
}

const PATH = '/accounts/{id}/subscription';

const addSubscriptionCommands: AddCommands = (account) =>
  account
    .group('subscription', 'manage the secret link from which client programs configure themselves')
    .examples('account subscription create player', 'account subscription revoke player --yes')

    .command('show', 'show when the link was created', ACCOUNT)
    .calls(`GET ${PATH}`, ({ account: { username } }, { createdAt, hasFormerAddress }) => {
      const former = hasFormerAddress ? ' An address of an earlier version still works.' : '';
      return (createdAt ? `Link created ${createdAt}.` : `${username} has no link.`) + former;
    })

    .command(
      'create',
      'create a new link and print it once; earlier ones stop working, and their sessions end',
      ACCOUNT,
    )
    .asks()
    .answers(async (run, { account: { id, username } }) => {
      const { tls, port, playerPage } = (await run.load()).config.admin;
      if (!playerPage.enabled)
        throw new CommandError('The daemon does not serve links: set admin.playerPage.enabled.');
      const params = { id };
      const { createdAt, hasFormerAddress } = await run.call(`GET ${PATH}`, { params });
      if (createdAt !== null || hasFormerAddress)
        await run.confirm(`The current link of ${username} will stop working.`);
      const made = await run.call(`POST ${PATH}`, { params });
      const { host } = await readLinkAddress(run);
      const guessed = `${tls.cert === null ? 'http' : 'https'}://${formatHostPort(host, playerPage.port ?? port)}`;
      // The daemon may still run with another configuration.
      const { pathname } = new URL(made.url);
      const url = (playerPage.url ?? guessed) + pathname.slice(pathname.indexOf('/sub/'));
      if (playerPage.url === null)
        run.note(
          'The host and port in the link are a guess. If players use others, set admin.playerPage.url.',
        );
      return [{ ...made, url }, url];
    })

    .command('revoke', 'revoke the link and earlier ones, and end their sessions', ACCOUNT)
    .asks(({ account: { username } }) => `The link of ${username} will stop working.`)
    .refuses(({ account: { username } }) => ({ 'no-subscription': `${username} has no link.` }))
    .does(`DELETE ${PATH}`, ({ account: { username } }) => `Revoked the link of ${username}.`);
