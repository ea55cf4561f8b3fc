// `pulsegate account add`, `account update` and `account link`: they read or generate a password, and print the proxy link.
import { randomBytes } from 'node:crypto';
import { networkInterfaces } from 'node:os';
import { addressesOfText } from '../../core/accounts/access/address-list.js';
import { CONTACT_LANGUAGES, changedTags } from '../../core/accounts/fields/contacts.js';
import { CLIENT_FORMATS, clientText } from '../../core/accounts/player/client-formats.js';
import { type LinkAddress, socksLink } from '../../core/accounts/player/proxy-link.js';
import { type Api, unlessChangedMeanwhile } from '../shared/api.js';
import { CommandError, type CommandIo, notFound, printJson, wrongUsage } from '../shared/command.js';
import type { AddCommands } from '../shared/group.js';
import { ACCOUNT_LIMITS, enabling, expiry } from '../shared/options.js';
import { choice, type Described, madeOf, param, repeated } from '../shared/params.js';
import { PASSWORD_STDIN, readNewPassword } from '../shared/prompt.js';
import type { Run } from '../shared/run.js';
import { ACCOUNT_NAME, findAccount, tagsOption } from './find.js';

export const addLink: AddCommands = (account) =>
  account
    .command(
      'link',
      'print the proxy link of an account; asks for its password, which is stored only as a hash',
      {
        ...ACCOUNT_NAME,
        ...PASSWORD_STDIN,
        format: choice(
          '--format <name>  print only the configuration for this client program',
          CLIENT_FORMATS,
        ),
      },
    )
    .examples(
      'account link player',
      'account link player --password-stdin --format proxifier < password.txt > player.ppx',
    )
    .answers(async (run, { nameOrId, format, ...given }) => {
      if (run.json && format) throw wrongUsage('--json and --format cannot be used together.');
      const { password } = await choosePassword(run.io, given);
      const { id, username } = await findAccount(run, nameOrId);
      const wrong = `Wrong password for ${username}. To set a new one: pulsegate account update ${username} --generate`;
      const input = { params: { id }, body: { password } };
      await run.call('POST /accounts/{id}/link', input, { 'body.password': wrong });
      if (!format) return printCredentials(run, { id, username, password, isNew: false, isShown: true });
      const to = await readLinkAddress(run);
      const text = clientText(format, { username, password, host: to.host, port: to.port });
      if (text === null)
        throw new CommandError(
          `The format ${format} cannot represent this user name or password: it contains a field separator of the format. Use --format link.`,
        );
      // Only this on stdout, so that the caller can redirect it to a file.
      run.print(text.replace(/\n$/, ''));
      return noteGuess(run, to);
    });

type ChosenPassword = Awaited<ReturnType<typeof choosePassword>>;

/** Returns a password, whether it is new, and whether the output may contain it: never when it was typed without echo. */
async function choosePassword(
  io: CommandIo,
  given: { readonly generate?: boolean; readonly passwordStdin?: boolean },
) {
  const { generate, passwordStdin = false } = given;
  if (generate && passwordStdin) throw wrongUsage('--generate and --password-stdin cannot be used together.');
  // 15 bytes are 120 bits and 20 base64url characters, which need no escaping in a URL.
  if (generate) return { password: randomBytes(15).toString('base64url'), isNew: true, isShown: true };
  const password = await readNewPassword(io, passwordStdin, '--generate or --password-stdin');
  return { password, isNew: false, isShown: passwordStdin };
}

async function printCredentials(
  run: Run,
  { id, username, password, isNew, isShown }: { id: string; username: string } & ChosenPassword,
): Promise<undefined> {
  const to = await readLinkAddress(run);
  const link = socksLink({ username, password: isShown ? password : null }, to);
  if (run.json) printJson(run.io, { id, username, ...(isNew ? { password } : {}), link });
  else {
    run.print(`user name  ${username}`);
    if (isNew) run.print(`password   ${password}   (shown only once)`);
    run.print(`link       ${link}${isShown ? '' : '   (without the password)'}`);
  }
  return noteGuess(run, to);
}

/** The daemon would guess the host of the request, which a command's has none of. */
export async function readLinkAddress({ call }: Api): Promise<LinkAddress> {
  const { link } = await call('GET /settings/public-address');
  return link.guess === 'browser' ? { ...link, host: interfaceAddress(), guess: 'interface' } : link;
}

/** Says on stderr that the address in a link is a guess, or its port is unknown. */
function noteGuess({ note }: Run, { host, port, guess }: LinkAddress): undefined {
  const from = guess === 'listener' ? 'the address of socks.host' : 'an address of this machine';
  if (port === 0)
    note(
      'The port in the link is unknown: with socks.port 0 the daemon chooses a port at each start. The console shows the current port. Set socks.port for a fixed one.',
    );
  else if (guess !== null)
    note(
      `The address ${host} in the link is a guess: it is ${from}. If players connect to another address, set socks.publicHost (in the configuration or in the console).`,
    );
}

/** The first address of this machine that is not loopback. */
function interfaceAddress(): string {
  const outside = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .find(({ internal, family }) => !internal && family === 'IPv4');
  return outside?.address ?? '127.0.0.1';
}

const AUTHORIZE_HELP = 'client addresses or networks that need no credentials';
const SCHEDULE_HELP =
  'days and hours at which the account may be used, in the time zone of the configuration: "mon-fri 08:00-23:00; sat,sun 00:00-24:00"';
const ALLOWED_HELP =
  'client addresses, networks or countries from which the account may log in: 203.0.113.0/24, asn:64500, country:de';

/** An empty text removes a value. */
const text = (described: Described) => param(described, (given) => (given === '' ? null : given));
/** Splits `a, b` as well as repeated options. */
const addresses = (described: Described) => repeated(described, addressesOfText);

const PASSWORD = {
  generate: '--generate  generate a random password and print it once',
  ...PASSWORD_STDIN,
} as const;

/** The fields that `add` and `update` set alike; the help of an update says how a value is removed. */
const fields = (use: 'add' | 'update') => {
  const onUpdate = (words: string): string => (use === 'update' ? words : '');
  return {
    contacts: {
      email: text('--email <address>  e-mail address for notices to the player'),
      telegram: text('--telegram <chat>  Telegram chat id for notices to the player'),
      language: choice('--language <language>  language of notices to the player', [
        ...CONTACT_LANGUAGES,
        '',
      ]).finds(async (_, language) => (language === '' ? null : language)),
    },
    remarks: text(`--remarks <text>  notes about the account${onUpdate('; "" removes them')}`),
    expiresAt: expiry(
      '--expires <when>  expiry: never, a duration from now (30d), or a date in UTC (2026-12-31, 2026-12-31T23:59:59)',
    ),
    tags: tagsOption('--tag <tag>  add a tag (repeatable)'),
    allowedClients: addresses(
      use === 'add'
        ? `--allowed-clients <list>  ${ALLOWED_HELP}; default: everywhere`
        : `--allowed-clients <list>  replace the ${ALLOWED_HELP}; "" allows all`,
    ),
    schedule: text(`--schedule <text>  ${SCHEDULE_HELP}${onUpdate('; "" allows all')}`),
    limits: ACCOUNT_LIMITS,
    exit: text(
      `--exit <name>  exit by which its sessions leave (pulsegate exit list)${onUpdate('; "" for the default')}`,
    ),
  };
};

export const addAdd: AddCommands = (account) =>
  account
    .command('add', 'add an account and print its proxy link', {
      chosen: madeOf(PASSWORD, (given, { io }) => choosePassword(io, given)),
      ...fields('add'),
      username: '<name>  user name',
      plan: '--plan <name>  name of a plan, which sets expiry and limits; --expires takes precedence',
      isEnabled: madeOf({ disabled: '--disabled  create the account disabled' }, ({ disabled }) => !disabled),
      authorizedAddresses: addresses(`--authorize <addresses>  ${AUTHORIZE_HELP}`),
    })
    .examples(
      'account add player --generate --expires 30d',
      'account add player --password-stdin < password.txt',
    )
    .creates()
    .answers(async (run, { chosen, ...fields }) => {
      const { plan, expiresAt } = fields;
      const body = { ...fields, password: chosen.password };
      const refusals = plan === undefined ? {} : { 'body.plan': notFound('plan', plan) };
      const { account: added } = await run.call('POST /accounts', { body }, refusals);
      // Without an expiry a new account gets that of its plan.
      const removing =
        plan !== undefined && expiresAt === null
          ? run.call('PATCH /accounts/{id}', { params: { id: added.id }, body: { expiresAt } })
          : undefined;
      // The password is printed in any case: it is not stored where it can be read again.
      await removing?.catch(() => undefined);
      await printCredentials(run, { ...added, ...chosen });
      await removing;
    });

export const addUpdate: AddCommands = (account) =>
  account
    .command('update', 'update an account; fields you do not give stay as they are', {
      ...PASSWORD,
      ...fields('update'),
      ...ACCOUNT_NAME,
      password: '--password  prompt for a new password',
      isEnabled: enabling('--enable  allow logins', '--disable  refuse logins and end live sessions'),
      untag: tagsOption('--untag <tag>  remove a tag (repeatable)'),
      authorize: addresses(`--authorize <addresses>  add ${AUTHORIZE_HELP}`),
      authorizedAddresses: addresses(
        `--authorized-addresses <addresses>  replace the ${AUTHORIZE_HELP}; "" removes all`,
      ),
    })
    .examples(
      'account update player --expires 30d',
      'account update player --authorize 203.0.113.7',
      'account update player --allowed-clients 203.0.113.0/24',
      'account update player --disable',
    )
    .needs('change')
    .answers(async (run, { nameOrId, ...given }) => {
      const { generate, passwordStdin, password, untag, authorize, ...fields } = given;
      const { tags, authorizedAddresses } = fields;
      const isNewPassword = password || generate || passwordStdin;
      const chosen = isNewPassword ? await choosePassword(run.io, given) : undefined;
      const updated = await unlessChangedMeanwhile(async () => {
        const { id, etag: ifMatch, ...stored } = await findAccount(run, nameOrId);
        const body = {
          ...fields,
          password: chosen?.password,
          tags: (tags ?? untag) && changedTags(stored.tags, { add: tags ?? [], remove: untag ?? [] }),
          authorizedAddresses: (authorize ?? authorizedAddresses) && [
            ...(authorizedAddresses ?? stored.authorizedAddresses),
            ...(authorize ?? []),
          ],
        };
        return run.call('PATCH /accounts/{id}', { params: { id }, body, ifMatch });
      });
      const { id, username } = updated;
      if (chosen === undefined) return [updated, `Updated ${username}.`];
      const { createdAt } = await run.call('GET /accounts/{id}/subscription', { params: { id } });
      const replace = `pulsegate account subscription create ${username} --yes`;
      if (createdAt !== null) run.note(`The link of ${username} goes on working. To replace it: ${replace}`);
      return printCredentials(run, { ...updated, ...chosen });
    });
