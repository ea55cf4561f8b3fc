// `pulsegate admin`: the operator's own credentials.
import { createSecondFactor } from '../core/operator/second-factor.js';
import { cliActor } from './actor.js';
import { type AddCommands, CommandError, load, printLine } from './command.js';
import { readNewPassword } from './prompt.js';
import { withCore } from './store.js';

export const addAdminCommands: AddCommands = (program, around) => {
  const admin = program.command('admin').description("the operator's own user name and password");

  admin
    .command('set-password')
    .description('change the admin password; a running daemon takes it over within a second')
    .option('--username <name>', 'change the admin user name too')
    .option('--password-stdin', 'read the password from stdin instead of asking')
    .addHelpText('after', '\nExample:\n  pulsegate admin set-password --password-stdin < password.txt')
    .action(async (options: { username?: string; passwordStdin?: true }, command) => {
      const { config } = await load(command, around);
      const password = await readNewPassword(
        around,
        options.passwordStdin ?? false,
        'There is no terminal to ask on. Give the password on stdin, with --password-stdin.',
      );
      await withCore(config, async (core) => {
        const result = await core.credentials.set(options.username, password, cliActor());
        if (!result.ok) throw new CommandError(REFUSALS[result.reason]);
        printLine(around.stdout, `The password of ${result.username} was changed.`);
      });
    });

  admin
    .command('second-factor-off')
    .description('turn the second factor of the console off, when its codes are lost; counts within a second')
    .action(async (_options, command) => {
      const { config } = await load(command, around);
      await withCore(config, async (core) => {
        const secondFactor = createSecondFactor({ settings: core.store.settings, now: Date.now });
        await secondFactor.reload();
        const wasOn = await secondFactor.forget(cliActor());
        printLine(around.stdout, wasOn ? 'The second factor is off.' : 'The second factor was off already.');
      });
    });
};

const REFUSALS = {
  'invalid-username': 'The user name must be 1 to 255 bytes, without a colon or control characters.',
  'invalid-password': 'The password must be 1 to 255 bytes and not only white space.',
};
