// `pulsegate account add`.
import type { Command } from 'commander';
import { isoOrNull } from '../../core/clock.js';
import { noPlan } from '../plans.js';
import { withApi } from '../shared/api.js';
import { type CommandIo, load } from '../shared/command.js';
import { parseExpiry } from '../shared/expiry.js';
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

export function addAdd(account: Command, io: CommandIo): void {
  const adding = withContactOptions(withPasswordOptions(account.command('add')))
    .argument('<name>', 'user name')
    .description('add an account and print its proxy link')
    .option('--remarks <text>', 'notes about the account')
    .option('--expires <when>', EXPIRES_HELP)
    .option('--tag <tag>', 'add a tag (repeatable)', collectTag)
    .option('--plan <name>', 'name of a plan, which sets expiry and limits; --expires takes precedence')
    .option('--disabled', 'create the account disabled')
    .option('--authorize <addresses>', AUTHORIZE_HELP, readAddresses);
  withPlainFields(adding, 'add')
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
        await withApi(
          loaded,
          async (api) => {
            const { plan } = options;
            const body = {
              username,
              password: chosen.password,
              isEnabled: !options.disabled,
              remarks: options.remarks ?? null,
              tags: options.tag,
              expiresAt: isoOrNull(expiresAt),
              plan,
              authorizedAddresses: options.authorize,
              ...plainFieldsOf(options),
              contacts: contactsOf(options),
            };
            const { account } = await wordedAccount(
              api.call('POST /accounts', { body }),
              plan === undefined ? {} : { 'body.plan': noPlan(plan) },
            );
            // Without an expiry a new account gets that of its plan.
            const removing =
              plan !== undefined && options.expires === 'never'
                ? api.call('PATCH /accounts/{id}', { params: { id: account.id }, body: { expiresAt: null } })
                : undefined;
            // The password is printed in any case: it is not stored where it can be read again.
            await removing?.catch(() => undefined);
            await printCredentials(io, api, options, { ...account, ...chosen });
            await removing;
          },
          { mayCreate: true },
        );
      },
    );
}
