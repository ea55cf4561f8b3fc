// `pulsegate account`: its commands, and by themselves those of one account that do not print it: name, limits, secret link.
import { formatHostPort } from '../../core/ip.js';
import { type Answer, worded } from '../shared/api.js';
import { CommandError, type CommandIo, printLine } from '../shared/command.js';
import { type AddCommands, type Group, YES_OPTION } from '../shared/group.js';
import { ACCOUNT_LIMITS, limitLines, toLimits } from '../shared/options.js';
import { formatBytes, formatIso, printFields } from '../shared/table.js';
import { addAdd, addUpdate, wordedAccount } from './change.js';
import { addExport, addImport } from './files.js';
import { ACCOUNT, findAccount } from './find.js';
import { addLink, readLinkAddress } from './link.js';
import { addRenewAndUpgrade } from './plan.js';
import { addListAndShow } from './show.js';

export const addAccountCommands: AddCommands = (program) => {
  const account = program.group('account', 'manage accounts');
  addAdd(account);
  addListAndShow(account);
  addUpdate(account);

  account
    .command('rename', 'rename an account and end its live sessions; keeps heartbeats and history', {
      ...ACCOUNT,
      '<name>': 'new user name',
    })
    .answers(async (run, { account: nameOrId, name: username }) => {
      const { id, username: before } = await findAccount(run, nameOrId);
      const change = run.call('PATCH /accounts/{id}', { params: { id }, body: { username } });
      return [await wordedAccount(change), `Renamed ${before} to ${username}.`];
    });

  account
    .command('resume', 'lift the suspension of an account', ACCOUNT)
    .answers(async (run, { account: nameOrId }) => {
      const { id, username } = await findAccount(run, nameOrId);
      const body = { suspendedUntil: null };
      return [await run.call('PATCH /accounts/{id}', { params: { id }, body }), `Resumed ${username}.`];
    });

  addRenewAndUpgrade(account);
  addLink(account);
  addSubscriptionCommands(account);

  account
    .command('remove', 'remove accounts and their heartbeat data permanently', {
      '<account...>': 'user names or ids',
      ...YES_OPTION,
    })
    .runs(async (run, { account: namesOrIds }) => {
      // Look up every account first: with a mistyped name, nothing is removed.
      const accounts = [];
      for (const nameOrId of namesOrIds) accounts.push(await findAccount(run, nameOrId));
      const names = accounts.map(({ username }) => username).join(', ');
      const entries = accounts.reduce((sum, { dataCount }) => sum + dataCount, 0);
      await run.confirm(`${names} and ${entries} heartbeat entries will be removed.`);
      for (const { id, username } of accounts) {
        await run.call('DELETE /accounts/{id}', { params: { id } });
        run.print(`Removed ${username}.`);
      }
    });

  addLimitCommands(account);
  addExport(account);
  addImport(account);
};

function addLimitCommands(account: Group): void {
  const limits = account
    .group('limits', "show and change an account's limits and usage")
    .examples(
      'account limits set player --max-sessions 4 --rate-down 1MiB/s --quota 50GiB --quota-period month',
      'account limits set player --quota none',
    );

  limits.command('show', 'show limits and usage', ACCOUNT).answers(async (run, { account: nameOrId }) => {
    const { id } = await findAccount(run, nameOrId);
    const shown = await run.call('GET /accounts/{id}/limits', { params: { id } });
    return [shown, () => printLimits(run.io, shown.limits, shown.usage)];
  });

  limits
    .command(
      'set',
      'set limits, also for live sessions; limits you do not give stay as they are; none removes a limit',
      { ...ACCOUNT_LIMITS, ...ACCOUNT },
    )
    .answers(async (run, { account: nameOrId, ...given }) => {
      const body = toLimits(given);
      if (Object.keys(body).length === 0)
        throw new CommandError('No limit given. See: pulsegate account limits set --help', 2);
      const known = Object.keys((await run.load()).config.egress.classes).join(', ') || 'none';
      const unknownClass = `Unknown egress class ${JSON.stringify(given.egressClass)}. Configured classes: ${known}.`;
      const { id } = await findAccount(run, nameOrId);
      const changed = await worded(run.call('PATCH /accounts/{id}/limits', { params: { id }, body }), {
        'body.egressClass': new CommandError(unknownClass, 2),
      });
      return [changed, () => printLimits(run.io, changed.limits, null)];
    });

  limits
    .command('reset-usage', 'reset the usage of the quota period to zero; keeps the daily history', {
      ...ACCOUNT,
      ...YES_OPTION,
    })
    .runs(async (run, { account: nameOrId }) => {
      const { id, username, usage } = await findAccount(run, nameOrId);
      await run.confirm(
        `The usage of ${username} (${formatBytes(usage.periodBytes)}) will be reset to zero.`,
      );
      await run.call('POST /accounts/{id}/usage/reset', { params: { id } });
      return `Usage of ${username} reset.`;
    });
}

type Shown = Answer<'GET /accounts/{id}/limits'>;

function printLimits(io: CommandIo, limits: Shown['limits'], usage: Shown['usage'] | null): void {
  if (usage === null) return printFields(io, limitLines(limits, {}));
  const until = usage.periodEndsAt ? `, resets ${formatIso(usage.periodEndsAt, '')}` : '';
  const notes = {
    maxSessions: `now ${usage.sessions}`,
    maxClientAddresses: `now ${usage.clientAddresses}`,
    quotaBytes: `used ${formatBytes(usage.periodBytes)}${until}`,
  };
  printFields(io, {
    ...limitLines(limits, notes),
    'total usage': `${formatBytes(usage.totalBytesUp)} up, ${formatBytes(usage.totalBytesDown)} down`,
  });
}

const PATH = '/accounts/{id}/subscription';

function addSubscriptionCommands(account: Group): void {
  const link = account
    .group('subscription', 'manage the secret link from which client programs configure themselves')
    .examples('account subscription create player', 'account subscription revoke player --yes');

  link
    .command('show', 'show when the link was created', ACCOUNT)
    .answers(async (run, { account: nameOrId }) => {
      const { id, username } = await findAccount(run, nameOrId);
      const shown = await run.call(`GET ${PATH}`, { params: { id } });
      const { createdAt, hasFormerAddress } = shown;
      const former = hasFormerAddress ? ' An address of an earlier version still works.' : '';
      return [shown, (createdAt ? `Link created ${createdAt}.` : `${username} has no link.`) + former];
    });

  link
    .command(
      'create',
      'create a new link and print it once; earlier ones stop working, and their sessions end',
      {
        ...ACCOUNT,
        ...YES_OPTION,
      },
    )
    .answers(async (run, { account: nameOrId }) => {
      const { tls, port, playerPage } = (await run.load()).config.admin;
      if (!playerPage.enabled)
        throw new CommandError('The daemon does not serve links: set admin.playerPage.enabled.');
      const { id, username } = await findAccount(run, nameOrId);
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
        printLine(
          run.io.stderr,
          'The host and port in the link are a guess. If players use others, set admin.playerPage.url.',
        );
      return [{ ...made, url }, url];
    });

  link
    .command('revoke', 'revoke the link and earlier ones, and end their sessions', {
      ...ACCOUNT,
      ...YES_OPTION,
    })
    .runs(async (run, { account: nameOrId }) => {
      const { id, username } = await findAccount(run, nameOrId);
      await run.confirm(`The link of ${username} will stop working.`);
      await worded(run.call(`DELETE ${PATH}`, { params: { id } }), {
        'no-subscription': `${username} has no link.`,
      });
      return `Revoked the link of ${username}.`;
    });
}
