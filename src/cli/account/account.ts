// `pulsegate account`: adds, updates and removes accounts.
import { apiCommand } from '../shared/api-command.js';
import { type AddCommands, printJson, printLine } from '../shared/command.js';
import { confirm } from '../shared/prompt.js';
import { addAdd } from './add.js';
import { addExport } from './export.js';
import { findAccount } from './find.js';
import { addImport } from './import.js';
import { addLimitCommands } from './limits.js';
import { addLink } from './link.js';
import { addRenewAndUpgrade } from './plan.js';
import { addPlayerLinkCommands } from './player-link.js';
import { wordedAccount } from './refusals.js';
import { addList, addShow } from './show.js';
import { addUpdate } from './update.js';

export const addAccountCommands: AddCommands = (program, io) => {
  const account = apiCommand(program, io, 'account').description('manage accounts');
  addAdd(account, io);
  addList(account, io);
  addShow(account, io);
  addUpdate(account, io);

  account
    .command('rename')
    .argument('<account>', 'user name or id')
    .argument('<name>', 'new user name')
    .description('rename an account and end its live sessions; keeps heartbeats and history')
    .option('--json', 'print JSON')
    .calls(async (api, nameOrId: string, username: string, options: { json?: true }) => {
      const { id, username: before } = await findAccount(api, nameOrId);
      const change = api.call('PATCH /accounts/{id}', { params: { id }, body: { username } });
      const renamed = await wordedAccount(change);
      if (options.json) printJson(io, renamed);
      else printLine(io.stdout, `Renamed ${before} to ${username}.`);
    });

  addRenewAndUpgrade(account, io);
  addLink(account, io);
  addPlayerLinkCommands(account, io);

  account
    .command('remove')
    .argument('<account...>', 'user names or ids')
    .description('remove accounts and their heartbeat data permanently')
    .option('--yes', 'skip the confirmation')
    .calls(async (api, namesOrIds: string[], options: { yes?: true }) => {
      // Look up every account first: with a mistyped name, nothing is removed.
      const accounts = [];
      for (const nameOrId of namesOrIds) accounts.push(await findAccount(api, nameOrId));
      const names = accounts.map(({ username }) => username).join(', ');
      const entries = accounts.reduce((sum, { dataCount }) => sum + dataCount, 0);
      await confirm(io, options.yes, `${names} and ${entries} heartbeat entries will be removed.`);
      for (const { id, username } of accounts) {
        await wordedAccount(api.call('DELETE /accounts/{id}', { params: { id } }));
        printLine(io.stdout, `Removed ${username}.`);
      }
    });

  addLimitCommands(account, io);
  addExport(account, io);
  addImport(account, io);
};
