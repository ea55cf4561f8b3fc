// `pulsegate account update`.
import type { Command } from 'commander';
import type { Account } from '../../core/accounts/account.js';
import type { AccountChange } from '../../core/accounts/account-input.js';
import { changedTags } from '../../core/accounts/fields/tags.js';
import { cliActor } from '../shared/actor.js';
import { Refused, untilDaemonHas, withDatabase } from '../shared/api.js';
import { CommandError, type CommandIo, load, printJson, printLine } from '../shared/command.js';
import { parseExpiry } from '../shared/expiry.js';
import { findStored } from './find.js';
import { choosePassword, type PasswordOptions, printCredentials } from './link.js';
import {
  AUTHORIZE_HELP,
  contactsOf,
  EXPIRES_HELP,
  type FieldOptions,
  plainFieldsOf,
  readAddresses,
  withContactOptions,
  withPasswordOptions,
  withPlainFields,
} from './options.js';
import { wordedAccount } from './refusals.js';
import { collectTag } from './tags.js';

export function addUpdate(account: Command, io: CommandIo): void {
  const updating = withContactOptions(withPasswordOptions(account.command('update')))
    .argument('<account>', 'user name or id')
    .description('update an account; fields you do not give stay as they are')
    .option('--password', 'prompt for a new password')
    .option('--enable', 'allow logins')
    .option('--disable', 'refuse logins and end live sessions')
    .option('--remarks <text>', 'notes about the account; "" removes them')
    .option('--expires <when>', EXPIRES_HELP)
    .option('--tag <tag>', 'add a tag (repeatable)', collectTag)
    .option('--untag <tag>', 'remove a tag (repeatable)', collectTag)
    .option('--authorize <addresses>', `add ${AUTHORIZE_HELP}`, readAddresses)
    .option(
      '--authorized-addresses <addresses>',
      `replace the ${AUTHORIZE_HELP}; "" removes all`,
      readAddresses,
    );
  withPlainFields(updating, 'update')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExamples:\n  pulsegate account update player --expires 30d\n  pulsegate account update player --authorize 203.0.113.7\n  pulsegate account update player --allowed-clients 203.0.113.0/24\n  pulsegate account update player --disable',
    )
    .action(async (nameOrId: string, options: UpdateOptions, command) => {
      requireChange(options);
      const loaded = await load(command, io);
      const expiresAt = options.expires === undefined ? undefined : parseExpiry(options.expires, Date.now());
      const isNewPassword = options.password || options.generate || options.passwordStdin;
      const chosen = isNewPassword ? await choosePassword(io, options) : undefined;
      await withDatabase(loaded, async (api, core) => {
        const { id, username } = findStored(core, nameOrId);
        // One transaction for fields and password, on the stored account: what two commands add at once is all kept.
        const updated = await core.accounts.patch(
          id,
          (stored) => ({ ...changeOf(stored, options), password: chosen?.password, expiresAt }),
          cliActor(),
        );
        if (!updated.ok) {
          const { problemOf } = await import('../../http/v1/accounts/shared.js');
          const { problem: code, ...why } = problemOf(updated);
          return wordedAccount(Promise.reject(new Refused({ code, ...why } as Refused['problem'])));
        }
        const shown = await untilDaemonHas(id, api, loaded);
        if (chosen !== undefined)
          return printCredentials(io, api, options, { ...updated.account, ...chosen });
        if (options.json) printJson(io, await shown.call('GET /accounts/{id}', { params: { id } }));
        else printLine(io.stdout, `Updated ${username}.`);
      });
    });
}

function requireChange(options: UpdateOptions): void {
  if (options.enable && options.disable)
    throw new CommandError('--enable and --disable cannot be used together.', 2);
  if (Object.keys(options).every((name) => name === 'json'))
    throw new CommandError('No change given. See: pulsegate account update --help', 2);
}

/** Returns what the options change of the stored account, without password and expiry. */
function changeOf(stored: Account, options: UpdateOptions): AccountChange {
  const { authorize = [], authorizedAddresses, tag = [], untag = [] } = options;
  const isRetagged = options.tag !== undefined || options.untag !== undefined;
  const isReaddressed = options.authorize !== undefined || authorizedAddresses !== undefined;
  return {
    isEnabled: options.enable ? true : options.disable ? false : undefined,
    remarks: options.remarks === '' ? null : options.remarks,
    tags: isRetagged ? changedTags(stored.tags, { add: tag, remove: untag }) : undefined,
    contacts: contactsOf(options),
    authorizedAddresses: isReaddressed
      ? [...(authorizedAddresses ?? stored.authorizedAddresses), ...authorize]
      : undefined,
    ...plainFieldsOf(options),
  };
}

interface UpdateOptions extends PasswordOptions, FieldOptions {
  password?: true;
  enable?: true;
  disable?: true;
  untag?: readonly string[];
  authorize?: readonly string[];
  authorizedAddresses?: readonly string[];
  json?: true;
}
