// `pulsegate account`: adds, updates and removes accounts.
import { type AddCommands, YES_OPTION } from '../shared/group.js';
import { addAdd } from './add.js';
import { addExport } from './export.js';
import { findAccount } from './find.js';
import { addImport } from './import.js';
import { addLimitCommands } from './limits.js';
import { addLink } from './link.js';
import { ACCOUNT, wordedAccount } from './options.js';
import { addRenewAndUpgrade } from './plan.js';
import { addList, addShow } from './show.js';
import { addSubscriptionCommands } from './subscription.js';
import { addUpdate } from './update.js';

export const addAccountCommands: AddCommands = (program) => {
  const account = program.group('account', 'manage accounts');
  addAdd(account);
  addList(account);
  addShow(account);
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
