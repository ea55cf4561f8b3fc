// `pulsegate admin`: the administrator's credentials.
import { readAdminCredentials } from '../config/credentials.js';
import type { CredentialSources } from '../core/auth/admin-credentials.js';
import { MIN_PASSWORD_CHARACTERS } from '../core/auth/people-passwords.js';
import { createSecondFactor } from '../core/auth/second-factor.js';
import { CommandError, cliActor } from './shared/command.js';
import type { AddCommands } from './shared/group.js';
import { KEEP_TOKENS, PASSWORD_STDIN, readNewPassword } from './shared/prompt.js';
import { withExistingCore } from './shared/run.js';

export const addAdminCommands: AddCommands = (program) =>
  program
    .group('admin', "change the administrator's credentials")

    .command('set-password', 'set the administrator password; a running daemon applies it within a second', {
      username: '--username <name>  also set the administrator user name',
      ...PASSWORD_STDIN,
      ...KEEP_TOKENS,
    })
    .examples('admin set-password --password-stdin < password.txt')
    .creates()
    .runs(async ({ io, load, core }, { username, keepTokens = false, passwordStdin }) => {
      const { givenBy: ofThisProcess } = await readAdminCredentials(io.env);
      // Check before the prompt, so that nobody types a password in vain.
      const ofLastStart = await withExistingCore(await load(), ({ credentials }) => credentials.givenBy());
      rejectManagedCredentials({ ...ofLastStart, ...ofThisProcess }, username);
      const password = await readNewPassword(io, passwordStdin);
      const { store, credentials } = await core();
      const tokens = keepTokens ? [] : await store.apiTokens.all();
      const revoked = tokens.filter(({ operatorId }) => operatorId === null).length;
      const result = await credentials.set(username, password, cliActor(), !keepTokens);
      if (!result.ok) throw new CommandError(REFUSALS[result.reason]);
      const lost = revoked > 0 ? `\nRevoked API tokens: ${revoked}.` : '';
      return `Password of ${result.username} changed.${lost}`;
    })

    .command(
      'second-factor-off',
      'disable the second factor of the console, for lost codes; takes effect within a second',
    )
    .runs(async ({ core }) => {
      const { settings } = (await core()).store;
      const secondFactor = createSecondFactor({ settings, now: Date.now });
      await secondFactor.reload();
      const wasOn = await secondFactor.disable(cliActor());
      return wasOn ? 'Second factor disabled.' : 'The second factor is already disabled.';
    });

/** @throws CommandError when the daemon sets the credentials at each start, from a variable or a file that the error names */
function rejectManagedCredentials(givenBy: CredentialSources, username: string | undefined): void {
  const undone = (source: string, what: string, instead: string) =>
    new CommandError(
      `Nothing was changed: ${source} sets ${what} at each start of the daemon, which would undo the change.\n${instead}`,
    );
  const change =
    'Change the password there and restart the daemon, or remove it there, restart, and run this command again.';
  if (givenBy.password !== undefined) throw undone(givenBy.password, 'the administrator password', change);
  if (username !== undefined && givenBy.username !== undefined)
    throw undone(givenBy.username, 'the administrator user name', 'Change it there, or omit --username.');
}

const REFUSALS = {
  'invalid-username': 'The user name must be 1 to 255 bytes, without a colon or control characters.',
  'invalid-password': 'The password must be 1 to 255 bytes and not only white space.',
  'short-password': `The password must have at least ${MIN_PASSWORD_CHARACTERS} characters.`,
};
