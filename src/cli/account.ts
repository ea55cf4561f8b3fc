// `pulsegate account`: adds, updates and removes accounts.
import { type Command, Option } from 'commander';
import { ACCOUNT_DEFAULTS, type AddRefusal, type UpdateRefusal } from '../core/accounts/account-input.js';
import { ADDRESS_TEXTS, type AddressRefusal, addressesOfText } from '../core/accounts/address-list.js';
import type { Contacts } from '../core/accounts/contacts.js';
import { planForNew } from '../core/accounts/plans.js';
import { SCHEDULE_RULE } from '../core/accounts/schedule.js';
import { changedTags, MAX_TAGS, TAG_RULE } from '../core/accounts/tags.js';
import { fillText } from '../core/fill-text.js';
import { addAccountFileCommands } from './account-files.js';
import { addLimitCommands } from './account-limits.js';
import { addLink, choosePassword, type PasswordOptions, printCredentials } from './account-link.js';
import { addPlanUses } from './account-plan.js';
import { addPlayerLinkCommands } from './account-player-link.js';
import { addList, addShow, findAccount, toJson } from './account-show.js';
import { collectTag } from './account-tags.js';
import { cliActor } from './actor.js';
import { type AddCommands, CommandError, type CommandIo, load, printJson, printLine } from './command.js';
import { parseExpiry } from './expiry.js';
import { noPlan } from './plans.js';
import { confirm } from './prompt.js';
import { withCore } from './store.js';

const EXPIRES_HELP =
  'expiry: never, a duration from now (30d), or a date in UTC (2026-12-31, 2026-12-31T23:59:59)';

const AUTHORIZE_HELP = 'client addresses or networks that need no credentials';
const SCHEDULE_HELP =
  'days and hours at which it may be used, in the time zone of the configuration: "mon-fri 08:00-23:00; sat,sun 00:00-24:00"';
const ALLOWED_HELP = 'client addresses or networks from which it may log in';

/** Splits `a, b` as well as repeated options. */
const readAddresses = (text: string, before: readonly string[] = []): readonly string[] => [
  ...before,
  ...addressesOfText(text),
];

interface FieldOptions extends ContactOptions {
  remarks?: string;
  expires?: string;
  tag?: readonly string[];
  allowedClients?: readonly string[];
  schedule?: string;
}

export const addAccountCommands: AddCommands = (program, io) => {
  const account = program.command('account').description('manage accounts');
  addAdd(account, io);
  addList(account, io);
  addShow(account, io);
  addUpdate(account, io);
  addRename(account, io);
  addPlanUses(account, io);
  addLink(account, io);
  addPlayerLinkCommands(account, io);
  addRemove(account, io);
  addLimitCommands(account, io);
  addAccountFileCommands(account, io);
};

interface ContactOptions {
  email?: string;
  telegram?: string;
  language?: string;
}

function withContactOptions(command: Command): Command {
  return command
    .option('--email <address>', 'e-mail address for notices to the player')
    .option('--telegram <chat>', 'Telegram chat id for notices to the player')
    .addOption(
      new Option('--language <language>', 'language of notices to the player').choices(['zh', 'en', '']),
    );
}

/** An empty text removes a contact. */
function contactsOf({ email, telegram, language }: ContactOptions): Partial<Contacts> {
  return {
    ...(email === undefined ? {} : { email: email || null }),
    ...(telegram === undefined ? {} : { telegram: telegram || null }),
    ...(language === undefined ? {} : { language: (language || null) as Contacts['language'] }),
  };
}

function withPasswordOptions(command: Command): Command {
  return command
    .option('--generate', 'generate a random password and print it once')
    .option('--password-stdin', 'read the password from stdin');
}

function addAdd(account: Command, io: CommandIo): void {
  withContactOptions(withPasswordOptions(account.command('add')))
    .argument('<name>', 'user name')
    .description('add an account and print its proxy link')
    .option('--remarks <text>', 'notes about the account')
    .option('--expires <when>', EXPIRES_HELP)
    .option('--tag <tag>', 'add a tag (repeatable)', collectTag)
    .option('--plan <name>', 'a plan, which sets expiry and limits; --expires takes precedence')
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
                ...ACCOUNT_DEFAULTS,
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

function addUpdate(account: Command, io: CommandIo): void {
  withContactOptions(withPasswordOptions(account.command('update')))
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
    )
    .option('--allowed-clients <addresses>', `replace the ${ALLOWED_HELP}; "" allows all`, readAddresses)
    .option('--schedule <text>', `${SCHEDULE_HELP}; "" allows all`)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExamples:\n  pulsegate account update player --expires 30d\n  pulsegate account update player --authorize 203.0.113.7\n  pulsegate account update player --allowed-clients 203.0.113.0/24\n  pulsegate account update player --disable',
    )
    .action(async (nameOrId: string, options: UpdateOptions, command) => {
      if (options.enable && options.disable)
        throw new CommandError('--enable and --disable cannot be used together.', 2);
      if (Object.keys(options).every((name) => name === 'json'))
        throw new CommandError('No change given. See: pulsegate account update --help', 2);
      const loaded = await load(command, io);
      const expiresAt = options.expires === undefined ? undefined : parseExpiry(options.expires, Date.now());
      const isNewPassword = options.password || options.generate || options.passwordStdin;
      const chosen = isNewPassword ? await choosePassword(io, options) : undefined;
      await withCore(loaded, async (core) => {
        const { account: before } = findAccount(core, nameOrId);
        const { authorize = [], authorizedAddresses } = options;
        const isReaddressed = options.authorize !== undefined || authorizedAddresses !== undefined;
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
            contacts: contactsOf(options),
            authorizedAddresses: isReaddressed
              ? [...(authorizedAddresses ?? before.authorizedAddresses), ...authorize]
              : undefined,
            allowedClients: options.allowedClients,
            schedule: options.schedule,
          },
          cliActor(),
        );
        if (!updated.ok) throw refused(updated);
        if (chosen !== undefined)
          return printCredentials(io, loaded.config, core, options, { ...updated.account, ...chosen });
        if (options.json) printJson(io, toJson(findAccount(core, before.id), Date.now()));
        else printLine(io.stdout, `Updated ${before.username}.`);
      });
    });
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

function addRename(account: Command, io: CommandIo): void {
  account
    .command('rename')
    .argument('<account>', 'user name or id')
    .argument('<name>', 'new user name')
    .description('rename an account and end its live sessions; keeps heartbeats and history')
    .option('--json', 'print JSON')
    .action(async (nameOrId: string, username: string, options: { json?: true }, command) => {
      const loaded = await load(command, io);
      await withCore(loaded, async (core) => {
        const { account: before } = findAccount(core, nameOrId);
        const renamed = await core.accounts.patch(before.id, { username }, cliActor());
        if (!renamed.ok) throw new CommandError(REFUSALS[renamed.reason]);
        if (options.json) printJson(io, toJson(findAccount(core, before.id), Date.now()));
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
      const loaded = await load(command, io);
      await withCore(loaded, async (core) => {
        // Look up every account first: with a mistyped name, nothing is removed.
        const views = namesOrIds.map((nameOrId) => findAccount(core, nameOrId));
        const names = views.map((view) => view.account.username).join(', ');
        const entries = views.reduce((sum, { dataCount }) => sum + dataCount, 0);
        await confirm(io, options.yes ?? false, `${names} and ${entries} heartbeat entries will be removed.`);
        for (const view of views) {
          const { id, username } = view.account;
          const removed = await core.accounts.remove(id, cliActor());
          if (!removed.ok) throw new CommandError(REFUSALS[removed.reason]);
          printLine(io.stdout, `Removed ${username}.`);
        }
      });
    });
}

function refused({
  reason,
  address,
}: {
  readonly reason: keyof typeof REFUSALS;
  readonly address?: AddressRefusal;
}): CommandError {
  if (address === undefined) return new CommandError(REFUSALS[reason]);
  const text = fillText(ADDRESS_TEXTS[address.code], address.values);
  return new CommandError(`${text.charAt(0).toUpperCase()}${text.slice(1)}.`);
}

const REFUSALS: Readonly<Record<AddRefusal | UpdateRefusal | 'changed-meanwhile', string>> = {
  'empty-credentials': 'User name and password must not be empty.',
  'invalid-username': 'The user name must be 1 to 255 bytes of UTF-8 without control characters.',
  'invalid-password': 'The password must be 1 to 255 bytes of UTF-8 and not only white space.',
  'invalid-remarks': 'The remarks contain characters that cannot be stored.',
  'invalid-tags': `At most ${MAX_TAGS} tags, and ${TAG_RULE}.`,
  'invalid-expiry': 'The expiry must be in the years 0001 to 9999 (UTC).',
  'invalid-schedule': `The schedule must be ${SCHEDULE_RULE}.`,
  'invalid-email': 'The e-mail address is not one address such as name@example.com.',
  'invalid-telegram': 'The Telegram chat must be a number, or @ and the name of a channel.',
  'unknown-egress-class': 'The configuration has no such egress class.',
  'invalid-addresses': 'The authorized addresses cannot be stored.',
  'invalid-allowed-clients': 'The allowed client addresses cannot be stored.',
  'address-taken': 'Another account has one of these authorized addresses.',
  'username-taken': 'An account with this user name already exists.',
  'not-found': 'The account no longer exists.',
  'changed-meanwhile': 'Another change to the account came first. Try again.',
};
