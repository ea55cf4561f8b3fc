// `pulsegate token`: lists, creates and revokes API tokens.
import { TOKEN_SCOPES } from '../core/auth/operator.js';
import { worded } from './shared/api.js';
import { CommandError, found } from './shared/command.js';
import { type AddCommands, YES_OPTION } from './shared/group.js';
import { parseExpiry } from './shared/options.js';
import { formatIso } from './shared/table.js';

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

  token
    .command('create', 'create a token and print its secret once', {
      '<name>': 'token name',
      '--scope <scope...>': { help: 'scopes of the token', choices: TOKEN_SCOPES, isRequired: true },
      '--expires <when>': {
        help: 'expiry: never (default), a duration from now (90d), or a date in UTC',
        read: parseExpiry,
      },
    })
    .answers(async ({ call }, { name, scope: scopes, expires }) => {
      const body = { name, scopes, expiresAt: expires };
      const created = await worded(call('POST /tokens', { body }), {
        'body.name': new CommandError('The name must be 1 to 100 characters.', 2),
        'body.expiresAt': new CommandError('--expires is in the past.', 2),
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
