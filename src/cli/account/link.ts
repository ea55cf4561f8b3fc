// Account passwords on the command line: reads or generates one, and prints the proxy link or a client configuration.
import { randomBytes } from 'node:crypto';
import { networkInterfaces } from 'node:os';
import { CLIENT_FORMATS, clientText } from '../../core/accounts/player/client-formats.js';
import { type LinkAddress, socksLink } from '../../core/accounts/player/proxy-link.js';
import type { Api } from '../shared/api.js';
import { CommandError, type CommandIo, printJson } from '../shared/command.js';
import type { Group, Run } from '../shared/group.js';
import { choice } from '../shared/params.js';
import { PASSWORD_STDIN, readNewPassword } from '../shared/prompt.js';
import { ACCOUNT_NAME, findAccount } from './find.js';

export function addLink(account: Group): void {
  account
    .command(
      'link',
      'print the proxy link of an account; asks for its password, which is stored only as a hash',
      ACCOUNT_NAME,
      PASSWORD_STDIN,
      {
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
      if (run.json && format) throw new CommandError('--json and --format cannot be used together.', 2);
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
}

/** A password, whether it was generated, and whether the output may contain it: never when it was typed without echo. */
interface ChosenPassword {
  readonly password: string;
  readonly isNew: boolean;
  readonly isShown: boolean;
}

export async function choosePassword(
  io: CommandIo,
  given: { readonly generate?: boolean; readonly passwordStdin?: boolean },
): Promise<ChosenPassword> {
  const { generate, passwordStdin = false } = given;
  if (generate && passwordStdin)
    throw new CommandError('--generate and --password-stdin cannot be used together.', 2);
  // 15 bytes are 120 bits and 20 base64url characters, which need no escaping in a URL.
  if (generate) return { password: randomBytes(15).toString('base64url'), isNew: true, isShown: true };
  const password = await readNewPassword(io, passwordStdin, '--generate or --password-stdin');
  return { password, isNew: false, isShown: passwordStdin };
}

export async function printCredentials(
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
