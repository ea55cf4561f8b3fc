// `pulsegate account`: add, update and remove accounts.
import type { Command } from 'commander';
import { ACCOUNT_DEFAULTS, type AddRefusal, type UpdateRefusal } from '../core/accounts/account-input.js';
import { changedTags, MAX_TAGS, TAG_RULE } from '../core/accounts/tags.js';
import { addAccountFileCommands } from './account-files.js';
import { addLimitCommands } from './account-limits.js';
import { addLink, choosePassword, type PasswordOptions, printCredentials } from './account-link.js';
import { addList, addShow, find, toJson } from './account-show.js';
import { collectTag } from './account-tags.js';
import { cliActor } from './actor.js';
import { type AddCommands, CommandError, load, printJson, printLine, type Surroundings } from './command.js';
import { parseExpiry } from './moments.js';
import { confirm } from './prompt.js';
import { withCore } from './store.js';

const EXPIRY_FORMS = 'never, in so long (30d), or a date in UTC (2026-12-31, 2026-12-31T23:59:59)';

interface FieldOptions {
  remarks?: string;
  expires?: string;
  tag?: readonly string[];
}

export const addAccountCommands: AddCommands = (program, around) => {
  const account = program.command('account').description('add, find, change and remove accounts');
  addAdd(account, around);
  addList(account, around);
  addShow(account, around);
  addUpdate(account, around);
  addRename(account, around);
  addLink(account, around);
  addRemove(account, around);
  addLimitCommands(account, around);
  addAccountFileCommands(account, around);
};

function withPasswordOptions(command: Command): Command {
  return command
    .option('--generate', 'make a random password and print it once')
    .option('--password-stdin', 'read the password from stdin instead of asking');
}

function addAdd(account: Command, around: Surroundings): void {
  withPasswordOptions(account.command('add'))
    .argument('<name>', 'the user name')
    .description('add an account and print its link')
    .option('--remarks <text>', 'notes')
    .option('--expires <when>', EXPIRY_FORMS)
    .option('--tag <tag>', 'a tag; may be given several times', collectTag)
    .option('--disabled', 'it cannot log in yet')
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      '\nExamples:\n  pulsegate account add player --generate --expires 30d\n  pulsegate account add player --password-stdin < password.txt',
    )
    .action(
      async (
        username: string,
        options: PasswordOptions & FieldOptions & { disabled?: true; json?: true },
        command,
      ) => {
        const loaded = await load(command, around);
        const expiresAt = options.expires === undefined ? null : parseExpiry(options.expires, Date.now());
        const chosen = await choosePassword(around, options);
        await withCore(
          loaded,
          async (core) => {
            const added = await core.accounts.add(
              {
                ...ACCOUNT_DEFAULTS,
                username,
                password: chosen.password,
                isEnabled: !options.disabled,
                remarks: options.remarks ?? null,
                tags: options.tag,
                expiresAt,
              },
              cliActor(),
            );
            if (!added.ok) throw new CommandError(REFUSALS[added.reason]);
            await printCredentials(around, loaded.config, core, options, { ...added.account, ...chosen });
          },
          { mayCreate: true },
        );
      },
    );
}

function addUpdate(account: Command, around: Surroundings): void {
  withPasswordOptions(account.command('update'))
    .argument('<account>', 'user name or id')
    .description('change an account; what is not given stays as it is')
    .option('--password', 'ask for a new password')
    .option('--enable', 'it may log in')
    .option('--disable', 'it may not log in; its live sessions end')
    .option('--remarks <text>', 'notes; "" removes them')
    .option('--expires <when>', EXPIRY_FORMS)
    .option('--tag <tag>', 'adds a tag; may be given several times', collectTag)
    .option('--untag <tag>', 'takes a tag away; may be given several times', collectTag)
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      '\nExamples:\n  pulsegate account update player --expires 30d\n  pulsegate account update player --disable',
    )
    .action(async (nameOrId: string, options: UpdateOptions, command) => {
      if (options.enable && options.disable)
        throw new CommandError('--enable and --disable exclude each other.', 2);
      // `--json` alone says how to answer, and nothing about the account.
      if (Object.keys(options).every((name) => name === 'json'))
        throw new CommandError('Nothing is to be changed. See: pulsegate account update --help', 2);
      const loaded = await load(command, around);
      const expiresAt = options.expires === undefined ? undefined : parseExpiry(options.expires, Date.now());
      const isNewPassword = options.password || options.generate || options.passwordStdin;
      const chosen = isNewPassword ? await choosePassword(around, options) : undefined;
      await withCore(loaded, async (core) => {
        const { account: before } = find(core, nameOrId);
        const updated = await core.accounts.patch(
          before.id,
          {
            password: chosen?.password,
            isEnabled: options.enable ? true : options.disable ? false : undefined,
            remarks: options.remarks === '' ? null : options.remarks,
            tags:
              options.tag || options.untag
                ? changedTags(before.tags, { add: options.tag ?? [], remove: options.untag ?? [] })
                : undefined,
            expiresAt,
          },
          cliActor(),
        );
        if (!updated.ok) throw new CommandError(REFUSALS[updated.reason]);
        if (chosen !== undefined)
          return printCredentials(around, loaded.config, core, options, { ...updated.account, ...chosen });
        if (options.json) printJson(around, toJson(find(core, before.id), Date.now()));
        else printLine(around.stdout, `${before.username} was updated.`);
      });
    });
}

interface UpdateOptions extends PasswordOptions, FieldOptions {
  password?: true;
  enable?: true;
  disable?: true;
  untag?: readonly string[];
  json?: true;
}

function addRename(account: Command, around: Surroundings): void {
  account
    .command('rename')
    .argument('<account>', 'user name or id')
    .argument('<name>', 'the new user name')
    .description('give an account another user name; its live sessions end, its heartbeats and history stay')
    .option('--json', 'as JSON')
    .action(async (nameOrId: string, username: string, options: { json?: true }, command) => {
      const loaded = await load(command, around);
      await withCore(loaded, async (core) => {
        const { account: before } = find(core, nameOrId);
        const renamed = await core.accounts.patch(before.id, { username }, cliActor());
        if (!renamed.ok) throw new CommandError(REFUSALS[renamed.reason]);
        if (options.json) printJson(around, toJson(find(core, before.id), Date.now()));
        else printLine(around.stdout, `${before.username} is now ${username}.`);
      });
    });
}

function addRemove(account: Command, around: Surroundings): void {
  account
    .command('remove')
    .argument('<account...>', 'user names or ids')
    .description('remove accounts with their heartbeat data; this cannot be undone')
    .option('--yes', 'do not ask')
    .action(async (namesOrIds: string[], options: { yes?: true }, command) => {
      const loaded = await load(command, around);
      await withCore(loaded, async (core) => {
        // All of them are looked up first: a typing error must not leave half of the work done.
        const views = namesOrIds.map((nameOrId) => find(core, nameOrId));
        const names = views.map(({ account: it }) => it.username).join(', ');
        const entries = views.reduce((sum, { dataCount }) => sum + dataCount, 0);
        await confirm(
          around,
          options.yes ?? false,
          `${names} will be removed with ${entries} heartbeat entries.`,
        );
        for (const { account: it } of views) {
          const removed = await core.accounts.remove(it.id, cliActor());
          if (!removed.ok) throw new CommandError(REFUSALS[removed.reason]);
          printLine(around.stdout, `${it.username} was removed.`);
        }
      });
    });
}

const REFUSALS: Readonly<Record<AddRefusal | UpdateRefusal | 'changed-meanwhile', string>> = {
  'empty-credentials': 'User name and password must not be empty.',
  'invalid-username': 'A user name is 1 to 255 bytes of UTF-8 without control characters.',
  'invalid-password': 'A password is 1 to 255 bytes of UTF-8 and not only white space.',
  'invalid-remarks': 'The remarks hold characters that cannot be stored.',
  'invalid-tags': `At most ${MAX_TAGS} tags, and ${TAG_RULE}.`,
  'invalid-expiry': 'The expiry must be in the years 0001 to 9999 (UTC).',
  'unknown-egress-class': 'The configuration has no such egress class.',
  'username-taken': 'There is an account with this user name already.',
  'not-found': 'The account was removed meanwhile.',
  'changed-meanwhile': 'The account was changed meanwhile.',
};
