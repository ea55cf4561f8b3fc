// Account passwords on the command line: reads or generates one, and prints the proxy link or a client configuration.
import { randomBytes } from 'node:crypto';
import { type Command, Option } from 'commander';
import { CLIENT_FORMATS, type ClientFormat, clientText } from '../../core/accounts/player/client-formats.js';
import { socksLink } from '../../core/accounts/player/proxy-link.js';
import { type Api, withApi, worded } from '../shared/api.js';
import { CommandError, type CommandIo, load, printJson, printLine } from '../shared/command.js';
import { readNewPassword } from '../shared/prompt.js';
import { findAccount } from './find.js';
import { guessedAddressNote, readLinkAddress } from './link-address.js';

export interface PasswordOptions {
  passwordStdin?: true;
  generate?: true;
}

export function addLink(account: Command, io: CommandIo): void {
  account
    .command('link')
    .argument('<account>', 'user name or id')
    .description('print the proxy link of an account; asks for its password, which is stored only as a hash')
    .option('--password-stdin', 'read the password from stdin')
    .addOption(
      new Option('--format <name>', 'print only the configuration for this client program').choices(
        CLIENT_FORMATS,
      ),
    )
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExamples:\n  pulsegate account link player\n  pulsegate account link player --password-stdin --format proxifier < password.txt > player.ppx',
    )
    .action(async (nameOrId: string, options: LinkOptions, command) => {
      if (options.json && options.format)
        throw new CommandError('--json and --format cannot be used together.', 2);
      const loaded = await load(command, io);
      const { password } = await choosePassword(io, options);
      await withApi(loaded, async (api) => {
        const found = await findAccount(api, nameOrId);
        const checked = api.call('POST /accounts/{id}/link', {
          params: { id: found.id },
          body: { password },
        });
        await worded(checked, {
          'body.password': `Wrong password for ${found.username}. To set a new one: pulsegate account update ${found.username} --generate`,
        });
        const login = { ...found, password };
        if (options.format) return printFormat(io, api, options.format, login);
        await printCredentials(io, api, options, { ...login, isNew: false, isShown: true });
      });
    });
}

interface LinkOptions {
  passwordStdin?: true;
  format?: ClientFormat;
  json?: true;
}

/** Prints only the configuration text to stdout, so that the caller can redirect it to a file. */
async function printFormat(
  io: CommandIo,
  api: Api,
  format: ClientFormat,
  login: { readonly username: string; readonly password: string },
): Promise<void> {
  const to = await readLinkAddress(api);
  const text = clientText(format, { ...login, host: to.host, port: to.port });
  if (text === null)
    throw new CommandError(
      `The format ${format} cannot represent this user name or password: it contains a field separator of the format. Use --format link.`,
    );
  printLine(io.stdout, text.replace(/\n$/, ''));
  const note = guessedAddressNote(to);
  if (note !== null) printLine(io.stderr, note);
}

/** A password, whether it was generated, and whether the output may contain it: never when it was typed without echo. */
interface ChosenPassword {
  readonly password: string;
  readonly isNew: boolean;
  readonly isShown: boolean;
}

export async function choosePassword(io: CommandIo, options: PasswordOptions): Promise<ChosenPassword> {
  if (options.generate && options.passwordStdin) {
    throw new CommandError('--generate and --password-stdin cannot be used together.', 2);
  }
  // 15 bytes are 120 bits and 20 base64url characters, which need no escaping in a URL.
  if (options.generate)
    return { password: randomBytes(15).toString('base64url'), isNew: true, isShown: true };
  const noTerminalText =
    'Cannot prompt for a password: stdin is not a terminal. Use --generate or --password-stdin.';
  const password = await readNewPassword(io, options.passwordStdin ?? false, noTerminalText);
  return { password, isNew: false, isShown: options.passwordStdin ?? false };
}

export async function printCredentials(
  io: CommandIo,
  api: Api,
  { json }: { json?: true },
  { id, username, password, isNew, isShown }: { id: string; username: string } & ChosenPassword,
): Promise<void> {
  const to = await readLinkAddress(api);
  const link = socksLink({ username, password: isShown ? password : null }, to);
  const note = guessedAddressNote(to);
  if (json) printJson(io, { id, username, ...(isNew ? { password } : {}), link });
  else {
    printLine(io.stdout, `user name  ${username}`);
    if (isNew) printLine(io.stdout, `password   ${password}   (shown only once)`);
    printLine(io.stdout, `link       ${link}${isShown ? '' : '   (without the password)'}`);
  }
  if (note !== null) printLine(io.stderr, note);
}
