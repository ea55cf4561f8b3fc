// `pulsegate account add`.
import type { Command } from 'commander';
import { planForNew } from '../core/accounts/plans/plans.js';
import { choosePassword, type PasswordOptions, printCredentials } from './account-link.js';
import {
  ALLOWED_HELP,
  AUTHORIZE_HELP,
  contactsOf,
  EXPIRES_HELP,
  type FieldOptions,
  readAddresses,
  SCHEDULE_HELP,
  withContactOptions,
  withPasswordOptions,
} from './account-options.js';
import { refused } from './account-refusals.js';
import { collectTag } from './account-tags.js';
import { cliActor } from './actor.js';
import { type CommandIo, load } from './command.js';
import { parseExpiry } from './expiry.js';
import { noPlan } from './plans.js';
import { withCore } from './store.js';

export function addAdd(account: Command, io: CommandIo): void {
  withContactOptions(withPasswordOptions(account.command('add')))
    .argument('<name>', 'user name')
    .description('add an account and print its proxy link')
    .option('--remarks <text>', 'notes about the account')
    .option('--expires <when>', EXPIRES_HELP)
    .option('--tag <tag>', 'add a tag (repeatable)', collectTag)
    .option('--plan <name>', 'name of a plan, which sets expiry and limits; --expires takes precedence')
    .option('--disabled', 'create the account disabled')
    .option('--authorize <addresses>', AUTHORIZE_HELP, readAddresses)
    .option('--allowed-clients <addresses>', `${ALLOWED_HELP}; default: everywhere`, readAddresses)
    .option('--schedule <text>', SCHEDULE_HELP)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExamples:\n  pulsegate account add player --generate --expires 30d\n  pulsegate account add player --password-stdin < password.txt',
    )
    .action(
      async (
        username: string,
        options: PasswordOptions &
          FieldOptions & { plan?: string; disabled?: true; json?: true; authorize?: readonly string[] },
        command,
      ) => {
        const loaded = await load(command, io);
        const expiresAt = options.expires === undefined ? null : parseExpiry(options.expires, Date.now());
        const chosen = await choosePassword(io, options);
        await withCore(
          loaded,
          async (core) => {
            const plan = options.plan === undefined ? null : core.plans.byName(options.plan);
            if (options.plan !== undefined && !plan) throw noPlan(options.plan);
            const terms = plan && planForNew(plan, Date.now());
            const added = await core.accounts.add(
              {
                username,
                password: chosen.password,
                isEnabled: !options.disabled,
                remarks: options.remarks ?? null,
                tags: options.tag,
                ...terms,
                ...(options.expires === undefined && terms ? {} : { expiresAt, daysFromFirstLogin: null }),
                authorizedAddresses: options.authorize,
                allowedClients: options.allowedClients,
                schedule: options.schedule,
                contacts: contactsOf(options),
              },
              cliActor(),
            );
            if (!added.ok) throw refused(added);
            await printCredentials(io, loaded.config, core, options, { ...added.account, ...chosen });
          },
          { mayCreate: true },
        );
      },
    );
}
