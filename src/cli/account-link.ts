// Passwords of accounts on the command line: chosen, and shown with the link or another client format.
import { randomBytes } from 'node:crypto';
import { type Command, Option } from 'commander';
import type { Config } from '../config.js';
import { CLIENT_FORMATS, type ClientFormat, clientText } from '../core/accounts/client-formats.js';
import { verifyPassword } from '../core/accounts/password.js';
import { socksLink } from '../core/accounts/proxy-link.js';
import type { Core } from '../parts/core.js';
import { find } from './account-show.js';
import { CommandError, load, printJson, printLine, type Surroundings } from './command.js';
import { guessNote, readLinkAddress } from './link.js';
import { readNewPassword } from './prompt.js';
import { withCore } from './store.js';

export interface PasswordOptions {
  passwordStdin?: true;
  generate?: true;
}

export function addLink(account: Command, around: Surroundings): void {
  account
    .command('link')
    .argument('<account>', 'user name or id')
    .description('print the link of an account, for its password; only a hash of it is stored')
    .option('--password-stdin', 'read the password from stdin instead of asking')
    .addOption(
      new Option('--format <name>', 'print only this: what a program of the player pastes or opens').choices(
        CLIENT_FORMATS,
      ),
    )
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      '\nExamples:\n  pulsegate account link player\n  pulsegate account link player --password-stdin --format proxifier < password.txt > player.ppx',
    )
    .action(async (nameOrId: string, options: LinkOptions, command) => {
      if (options.json && options.format)
        throw new CommandError('--json and --format exclude each other.', 2);
      const loaded = await load(command, around);
      const { password } = await choosePassword(around, options);
      await withCore(loaded, async (core) => {
        const { account: it } = find(core, nameOrId);
        if (!verifyPassword(password, it.passwordHash)) {
          throw new CommandError(
            `This is not the password of ${it.username}. A new one: pulsegate account update ${it.username} --generate`,
          );
        }
        if (options.format)
          return printFormat(around, loaded.config, core, options.format, { ...it, password });
        await printCredentials(around, loaded.config, core, options, {
          ...it,
          password,
          isNew: false,
          // It is what was asked for.
          isShown: true,
        });
      });
    });
}

interface LinkOptions {
  passwordStdin?: true;
  format?: ClientFormat;
  json?: true;
}

/** Only the text itself on stdout, so that it can be written to a file. */
async function printFormat(
  around: Surroundings,
  config: Config,
  { store }: Core,
  format: ClientFormat,
  login: { readonly username: string; readonly password: string },
): Promise<void> {
  const to = await readLinkAddress(config, store.settings);
  const text = clientText(format, { ...login, host: to.host, port: to.port });
  if (text === null)
    throw new CommandError(
      `The format ${format} cannot carry this user name or password: a mark in it separates its fields. Use --format link.`,
    );
  printLine(around.stdout, text.replace(/\n$/, ''));
  const note = guessNote(to);
  if (note !== null) printLine(around.stderr, note);
}

/** A password, whether it was made just now, and whether it may be shown: what was typed without echo is not. */
interface ChosenPassword {
  readonly password: string;
  readonly isNew: boolean;
  readonly isShown: boolean;
}

export async function choosePassword(
  around: Surroundings,
  options: PasswordOptions,
): Promise<ChosenPassword> {
  if (options.generate && options.passwordStdin) {
    throw new CommandError('--generate and --password-stdin exclude each other.', 2);
  }
  // 15 bytes are 20 characters, 120 bits, and none of them needs escaping in a link.
  if (options.generate)
    return { password: randomBytes(15).toString('base64url'), isNew: true, isShown: true };
  const otherwise = 'There is no terminal to ask for the password on. Use --generate, or --password-stdin.';
  const password = await readNewPassword(around, options.passwordStdin ?? false, otherwise);
  return { password, isNew: false, isShown: options.passwordStdin ?? false };
}

export async function printCredentials(
  around: Surroundings,
  config: Config,
  { store }: Core,
  { json }: { json?: true },
  { id, username, password, isNew, isShown }: { id: string; username: string } & ChosenPassword,
): Promise<void> {
  const to = await readLinkAddress(config, store.settings);
  const link = socksLink({ username, password: isShown ? password : null }, to);
  const note = guessNote(to);
  if (json) printJson(around, { id, username, ...(isNew ? { password } : {}), link });
  else {
    printLine(around.stdout, `user name  ${username}`);
    if (isNew) printLine(around.stdout, `password   ${password}   (shown only now)`);
    printLine(around.stdout, `link       ${link}${isShown ? '' : '   (without the password)'}`);
  }
  if (note !== null) printLine(around.stderr, note);
}
