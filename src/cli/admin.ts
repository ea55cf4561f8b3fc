// `pulsegate admin`: the operator's own credentials.
import { adminCredentialsGivenBy } from '../config/credentials.js';
import { type GivenBy, MIN_ADMIN_PASSWORD_CHARACTERS } from '../core/auth/admin-credentials.js';
import { createSecondFactor } from '../core/auth/second-factor.js';
import { cliActor } from './actor.js';
import { type AddCommands, CommandError, load, printLine } from './command.js';
import { readNewPassword } from './prompt.js';
import { withCore, withCoreIfThere } from './store.js';

export const addAdminCommands: AddCommands = (program, around) => {
  const admin = program.command('admin').description("the operator's own user name and password");

  admin
    .command('set-password')
    .description('change the admin password; a running daemon takes it over within a second')
    .option('--username <name>', 'change the admin user name too')
    .option('--password-stdin', 'read the password from stdin instead of asking')
    .addHelpText('after', '\nExample:\n  pulsegate admin set-password --password-stdin < password.txt')
    .action(async (options: { username?: string; passwordStdin?: true }, command) => {
      const loaded = await load(command, around);
      const here = await adminCredentialsGivenBy(around.env);
      // Before the question: nobody types a password that cannot be taken.
      const atLastStart = await withCoreIfThere(loaded, (core) => core.credentials.givenBy());
      refuseGiven({ ...atLastStart, ...here }, options.username);
      const password = await readNewPassword(
        around,
        options.passwordStdin ?? false,
        'There is no terminal to ask on. Give the password on stdin, with --password-stdin.',
      );
      await withCore(
        loaded,
        async (core) => {
          const result = await core.credentials.set(options.username, password, cliActor());
          if (!result.ok) throw new CommandError(REFUSALS[result.reason]);
          printLine(around.stdout, `The password of ${result.username} was changed.`);
        },
        { mayCreate: true },
      );
    });

  admin
    .command('second-factor-off')
    .description('turn the second factor of the console off, when its codes are lost; counts within a second')
    .action(async (_options, command) => {
      const loaded = await load(command, around);
      await withCore(loaded, async (core) => {
        const secondFactor = createSecondFactor({ settings: core.store.settings, now: Date.now });
        await secondFactor.reload();
        const wasOn = await secondFactor.forget(cliActor());
        printLine(around.stdout, wasOn ? 'The second factor is off.' : 'The second factor was off already.');
      });
    });
};

/** @throws CommandError where a start would undo the change, saying what gives the credentials then */
function refuseGiven(givenBy: GivenBy, username: string | undefined): void {
  const refuse = (what: string, by: string, instead: string) => {
    throw new CommandError(
      `Nothing was changed: at each start of the daemon ${by} sets ${what}, and would undo the change.\n${instead}`,
    );
  };
  if (givenBy.password !== undefined) {
    const instead =
      'Change the password there and restart the daemon. Or remove it there, restart, and run this again.';
    refuse("the administrator's password", givenBy.password, instead);
  }
  if (username !== undefined && givenBy.username !== undefined)
    refuse("the administrator's user name", givenBy.username, 'Change it there, or leave --username out.');
}

const REFUSALS = {
  'invalid-username': 'The user name must be 1 to 255 bytes, without a colon or control characters.',
  'invalid-password': 'The password must be 1 to 255 bytes and not only white space.',
  'short-password': `The password must have at least ${MIN_ADMIN_PASSWORD_CHARACTERS} characters.`,
};
