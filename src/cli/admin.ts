// `pulsegate admin`: the administrator's credentials.
import { adminCredentialsGivenBy } from '../config/credentials.js';
import { type CredentialSources, MIN_ADMIN_PASSWORD_CHARACTERS } from '../core/auth/admin-credentials.js';
import { createSecondFactor } from '../core/auth/second-factor.js';
import { cliActor } from './shared/actor.js';
import { type AddCommands, CommandError, load, printLine } from './shared/command.js';
import { KEEP_TOKENS, readNewPassword } from './shared/prompt.js';
import { withCore, withExistingCore } from './shared/store.js';

export const addAdminCommands: AddCommands = (program, io) => {
  const admin = program.command('admin').description("change the administrator's credentials");

  admin
    .command('set-password')
    .description('set the administrator password; a running daemon applies it within a second')
    .option('--username <name>', 'also set the administrator user name')
    .option('--password-stdin', 'read the password from stdin')
    .option('--keep-tokens', KEEP_TOKENS)
    .addHelpText('after', '\nExample:\n  pulsegate admin set-password --password-stdin < password.txt')
    .action(async (options: { username?: string; passwordStdin?: true; keepTokens?: true }, command) => {
      const loaded = await load(command, io);
      const ofThisProcess = await adminCredentialsGivenBy(io.env);
      // Check before the prompt, so that nobody types a password in vain.
      const ofLastStart = await withExistingCore(loaded, (core) => core.credentials.givenBy());
      rejectManagedCredentials({ ...ofLastStart, ...ofThisProcess }, options.username);
      const password = await readNewPassword(
        io,
        options.passwordStdin ?? false,
        'Cannot prompt for a password: stdin is not a terminal. Use --password-stdin.',
      );
      await withCore(
        loaded,
        async (core) => {
          const tokens = options.keepTokens ? [] : await core.store.apiTokens.all();
          const revoked = tokens.filter(({ operatorId }) => operatorId === null).length;
          const by = cliActor();
          const result = await core.credentials.set(options.username, password, by, !options.keepTokens);
          if (!result.ok) throw new CommandError(REFUSALS[result.reason]);
          printLine(io.stdout, `Password of ${result.username} changed.`);
          if (revoked > 0) printLine(io.stdout, `Revoked API tokens: ${revoked}.`);
        },
        { mayCreate: true },
      );
    });

  admin
    .command('second-factor-off')
    .description('disable the second factor of the console, for lost codes; takes effect within a second')
    .action(async (_options, command) => {
      await withCore(await load(command, io), async (core) => {
        const secondFactor = createSecondFactor({ settings: core.store.settings, now: Date.now });
        await secondFactor.reload();
        const wasOn = await secondFactor.disable(cliActor());
        printLine(io.stdout, wasOn ? 'Second factor disabled.' : 'The second factor is already disabled.');
      });
    });
};

/** @throws CommandError when the daemon sets the credentials at each start, from a variable or a file that the error names */
function rejectManagedCredentials(givenBy: CredentialSources, username: string | undefined): void {
  const reject = (what: string, source: string, instead: string) => {
    throw new CommandError(
      `Nothing was changed: ${source} sets ${what} at each start of the daemon, which would undo the change.\n${instead}`,
    );
  };
  if (givenBy.password !== undefined) {
    const instead =
      'Change the password there and restart the daemon, or remove it there, restart, and run this command again.';
    reject('the administrator password', givenBy.password, instead);
  }
  if (username !== undefined && givenBy.username !== undefined)
    reject('the administrator user name', givenBy.username, 'Change it there, or omit --username.');
}

const REFUSALS = {
  'invalid-username': 'The user name must be 1 to 255 bytes, without a colon or control characters.',
  'invalid-password': 'The password must be 1 to 255 bytes and not only white space.',
  'short-password': `The password must have at least ${MIN_ADMIN_PASSWORD_CHARACTERS} characters.`,
};
