// `pulsegate account`: adds, updates and removes accounts.
import type { Command } from 'commander';
import { presentFields } from '../http/v1/accounts/present.js';
import { addAdd } from './account-add.js';
import { addExport } from './account-export.js';
import { addImport } from './account-import.js';
import { addLimitCommands } from './account-limits.js';
import { addLink } from './account-link.js';
import { addRenewAndUpgrade } from './account-plan.js';
import { addPlayerLinkCommands } from './account-player-link.js';
import { refused } from './account-refusals.js';
import { addList, addShow, findAccount } from './account-show.js';
import { addUpdate } from './account-update.js';
import { cliActor } from './actor.js';
import { type AddCommands, type CommandIo, load, printJson, printLine } from './command.js';
import { confirm } from './prompt.js';
import { withCore } from './store.js';

export const addAccountCommands: AddCommands = (program, io) => {
  const account = program.command('account').description('manage accounts');
  addAdd(account, io);
  addList(account, io);
  addShow(account, io);
  addUpdate(account, io);
  addRename(account, io);
  addRenewAndUpgrade(account, io);
  addLink(account, io);
  addPlayerLinkCommands(account, io);
  addRemove(account, io);
  addLimitCommands(account, io);
  addExport(account, io);
  addImport(account, io);
};

function addRename(account: Command, io: CommandIo): void {
  account
    .command('rename')
    .argument('<account>', 'user name or id')
    .argument('<name>', 'new user name')
    .description('rename an account and end its live sessions; keeps heartbeats and history')
    .option('--json', 'print JSON')
    .action(async (nameOrId: string, username: string, options: { json?: true }, command) => {
      await withCore(await load(command, io), async (core) => {
        const { account: before } = findAccount(core, nameOrId);
        const renamed = await core.accounts.patch(before.id, () => ({ username }), cliActor());
        if (!renamed.ok) throw refused(renamed);
        if (options.json) printJson(io, presentFields(findAccount(core, before.id), Date.now()));
        else printLine(io.stdout, `Renamed ${before.username} to ${username}.`);
      });
    });
}

function addRemove(account: Command, io: CommandIo): void {
  account
    .command('remove')
    .argument('<account...>', 'user names or ids')
    .description('remove accounts and their heartbeat data permanently')
    .option('--yes', 'skip the confirmation')
    .action(async (namesOrIds: string[], options: { yes?: true }, command) => {
      await withCore(await load(command, io), async (core) => {
        // Look up every account first: with a mistyped name, nothing is removed.
        const views = namesOrIds.map((nameOrId) => findAccount(core, nameOrId));
        const names = views.map((view) => view.account.username).join(', ');
        const entries = views.reduce((sum, { dataCount }) => sum + dataCount, 0);
        await confirm(io, options.yes ?? false, `${names} and ${entries} heartbeat entries will be removed.`);
        for (const view of views) {
          const { id, username } = view.account;
          const removed = await core.accounts.remove(id, cliActor());
          if (!removed.ok) throw refused(removed);
          printLine(io.stdout, `Removed ${username}.`);
        }
      });
    });
}
