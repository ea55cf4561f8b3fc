// `pulsegate token`: lists, creates and revokes API tokens.
import { type Command, Option } from 'commander';
import { TOKEN_SCOPES } from '../core/auth/roles.js';
import { isoOrNull } from '../core/clock.js';
import { type Answer, withApi, worded } from './shared/api.js';
import { apiCommand } from './shared/api-command.js';
import { type AddCommands, CommandError, load, printJson, printLine } from './shared/command.js';
import { parseExpiry } from './shared/expiry.js';
import { confirm } from './shared/prompt.js';
import { formatIso } from './shared/table.js';

const MAX_NAME_CHARACTERS = 100;

export const addTokenCommands: AddCommands = (program, io) => {
  const token = apiCommand(program, io, 'token')
    .description('manage API tokens for /api/v1')
    .addHelpText(
      'after',
      '\nExamples:\n  pulsegate token create billing --scope accounts:read accounts:write --expires 90d\n  pulsegate token revoke billing',
    );

  token
    .command('list')
    .description('list tokens, oldest first, without their secrets')
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
    .command('create')
    .argument('<name>', 'token name')
    .description('create a token and print its secret once')
    .addOption(
      new Option('--scope <scope...>', 'scopes of the token')
        .choices([...TOKEN_SCOPES])
        .makeOptionMandatory(),
    )
    .option('--expires <when>', 'expiry: never, a duration from now (90d), or a date in UTC', 'never')
    .option('--json', 'print JSON')
    .action(async (name: string, options: CreateOptions, command: Command) => {
      if (name.trim() === '' || name.length > MAX_NAME_CHARACTERS)
        throw new CommandError(`The name must be 1 to ${MAX_NAME_CHARACTERS} characters.`, 2);
      const expiresAt = parseExpiry(options.expires, Date.now());
      if (expiresAt !== null && expiresAt <= Date.now())
        throw new CommandError('--expires is in the past.', 2);
      await withApi(await load(command, io), async ({ call }) => {
        const body = { name, scopes: options.scope, expiresAt: isoOrNull(expiresAt) };
        const created = await worded(call('POST /tokens', { body }), {
          'too-many-tokens': 'The limit admin.maxTokens is reached. Revoke a token first.',
        });
        if (options.json) return printJson(io, created);
        printLine(io.stdout, `${created.secret}   (shown only once; send it as Authorization: Bearer …)`);
      });
    });

  token
    .command('revoke')
    .argument('<token>', 'token name, id or prefix')
    .description('revoke a token; takes effect within a second')
    .option('--yes', 'skip the confirmation')
    .calls(async ({ call }, wanted: string, { yes }: { yes?: true }) => {
      const { id, name, prefix } = findToken((await call('GET /tokens')).items, wanted);
      await confirm(io, yes, `The token ${name} (${prefix}…) will be revoked.`);
      await worded(call('DELETE /tokens/{id}', { params: { id } }), {
        'no-token': `The token ${name} no longer exists.`,
      });
      printLine(io.stdout, `Revoked ${name}.`);
    });
};

type Token = Answer<'GET /tokens'>['items'][number];

interface CreateOptions {
  scope: (typeof TOKEN_SCOPES)[number][];
  expires: string;
  json?: true;
}

function findToken(tokens: readonly Token[], wanted: string): Token {
  const matching = tokens.filter(
    ({ id, name, prefix }) => name === wanted || id === wanted.toLowerCase() || prefix === wanted,
  );
  const [only] = matching;
  if (!only) throw new CommandError(`No such token: ${JSON.stringify(wanted)}. See: pulsegate token list`);
  if (matching.length > 1)
    throw new CommandError(
      `Ambiguous name: ${matching.length} tokens are named ${JSON.stringify(wanted)}. Use a prefix: ${matching.map(({ prefix }) => prefix).join(', ')}`,
    );
  return only;
}
