// `pulsegate token`: lists, creates and revokes API tokens.
import { TOKEN_SCOPES } from '../core/auth/operator.js';
import { isoOrNull } from '../core/clock.js';
import { worded } from './shared/api.js';
import { CommandError, found } from './shared/command.js';
import { type AddCommands, YES_OPTION } from './shared/group.js';
import { parseExpiry } from './shared/options.js';
import { formatIso } from './shared/table.js';

const MAX_NAME_CHARACTERS = 100;

export const addTokenCommands: AddCommands = (program) => {
  const token = program
    .group('token', 'manage API tokens for /api/v1')
    .examples(
      'token create billing --scope accounts:read accounts:write --expires 90d',
      'token revoke billing',
    );

  token
    .command('list', 'list tokens, oldest first, without their secrets')
    .lists('No API tokens.', async ({ call }) => (await call('GET /tokens')).items, {
      NAME: ({ name }) => name,
      PREFIX: ({ prefix }) => prefix,
      SCOPES: ({ scopes }) => scopes.join(' '),
      CREATED: ({ createdAt }) => formatIso(createdAt, ''),
      EXPIRES: ({ expiresAt }) => formatIso(expiresAt, 'never'),
      'LAST USED': ({ lastUsedAt }) => formatIso(lastUsedAt, 'never'),
      ADDRESS: ({ lastUsedFrom }) => lastUsedFrom ?? '',
    });

  const expiry = { help: 'expiry: never, a duration from now (90d), or a date in UTC', initial: 'never' };
  token
    .command('create', 'create a token and print its secret once', {
      '<name>': 'token name',
      '--scope <scope...>': { help: 'scopes of the token', choices: TOKEN_SCOPES, isRequired: true },
      '--expires <when>': expiry,
    })
    .answers(async ({ call }, { name, scope: scopes, expires }) => {
      if (name.trim() === '' || name.length > MAX_NAME_CHARACTERS)
        throw new CommandError(`The name must be 1 to ${MAX_NAME_CHARACTERS} characters.`, 2);
      const expiresAt = parseExpiry(expires, Date.now());
      if (expiresAt !== null && expiresAt <= Date.now())
        throw new CommandError('--expires is in the past.', 2);
      const body = { name, scopes, expiresAt: isoOrNull(expiresAt) };
      const created = await worded(call('POST /tokens', { body }), {
        'too-many-tokens': 'The limit admin.maxTokens is reached. Revoke a token first.',
      });
      return [created, `${created.secret}   (shown only once; send it as Authorization: Bearer …)`];
    });

  token
    .command('revoke', 'revoke a token; takes effect within a second', {
      '<token>': 'token name, id or prefix',
      ...YES_OPTION,
    })
    .runs(async ({ call, confirm }, { token: wanted }) => {
      const { items } = await call('GET /tokens');
      const matching = items.filter(
        ({ id, name, prefix }) => name === wanted || id === wanted.toLowerCase() || prefix === wanted,
      );
      if (matching.length > 1)
        throw new CommandError(
          `Ambiguous name: ${matching.length} tokens are named ${JSON.stringify(wanted)}. Use a prefix: ${matching.map(({ prefix }) => prefix).join(', ')}`,
        );
      const { id, name, prefix } = found(matching[0], 'token', wanted);
      await confirm(`The token ${name} (${prefix}…) will be revoked.`);
      await call('DELETE /tokens/{id}', { params: { id } });
      return `Revoked ${name}.`;
    });
};
