// `pulsegate token`: lists, creates and revokes API tokens.
import { randomUUID } from 'node:crypto';
import { type Command, Option } from 'commander';
import type { Config } from '../config.js';
import { type ApiToken, type ApiTokens, createApiTokens } from '../core/auth/api-tokens.js';
import { TOKEN_SCOPES } from '../core/auth/token-scopes.js';
import { iso, isoOrNull } from '../core/clock.js';
import type { Core } from '../parts/core.js';
import { cliActor } from './actor.js';
import { type AddCommands, CommandError, load, printJson, printLine } from './command.js';
import { parseExpiry } from './expiry.js';
import { confirm } from './prompt.js';
import { withCore } from './store.js';
import { formatTime, printTable } from './table.js';

const MAX_NAME_CHARACTERS = 100;

/** The number of tokens of an operator; null: of the administrator. */
export async function countTokens({ store }: Core, operatorId: string | null): Promise<number> {
  return (await store.apiTokens.all()).filter((token) => token.operatorId === operatorId).length;
}

export const addTokenCommands: AddCommands = (program, io) => {
  const token = program
    .command('token')
    .description('manage API tokens for /api/v1')
    .addHelpText(
      'after',
      '\nExamples:\n  pulsegate token create billing --scope accounts:read accounts:write --expires 90d\n  pulsegate token revoke billing',
    );

  token
    .command('list')
    .description('list tokens, oldest first, without their secrets')
    .option('--json', 'print JSON')
    .action(async (options: { json?: true }, command: Command) => {
      const loaded = await load(command, io);
      await withCore(loaded, async (core) => {
        const tokens = (await openTokens(core, loaded.config)).list();
        if (options.json) return printJson(io, tokens.map(present));
        if (tokens.length === 0) return printLine(io.stderr, 'No API tokens.');
        printTable(
          io,
          ['NAME', 'PREFIX', 'SCOPES', 'CREATED', 'EXPIRES', 'LAST USED', 'ADDRESS'],
          tokens.map((each) => [
            each.name,
            each.prefix,
            each.scopes.join(' '),
            formatTime(each.createdAt, ''),
            formatTime(each.expiresAt, 'never'),
            formatTime(each.lastUsedAt, 'never'),
            each.lastUsedFrom ?? '',
          ]),
        );
      });
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
      const loaded = await load(command, io);
      await withCore(loaded, async (core) => {
        const tokens = await openTokens(core, loaded.config);
        const created = await tokens.create(
          { name, scopes: [...new Set(options.scope)], expiresAt, operatorId: null },
          cliActor(),
        );
        if (!created) throw new CommandError('The limit admin.maxTokens is reached. Revoke a token first.');
        if (options.json) return printJson(io, { token: present(created.token), secret: created.secret });
        printLine(io.stdout, `${created.secret}   (shown only once; send it as Authorization: Bearer …)`);
      });
    });

  token
    .command('revoke')
    .argument('<token>', 'token name, id or prefix')
    .description('revoke a token; takes effect within a second')
    .option('--yes', 'skip the confirmation')
    .action(async (wanted: string, options: { yes?: true }, command: Command) => {
      const loaded = await load(command, io);
      await withCore(loaded, async (core) => {
        const tokens = await openTokens(core, loaded.config);
        const found = findToken(tokens, wanted);
        await confirm(
          io,
          options.yes ?? false,
          `The token ${found.name} (${found.prefix}…) will be revoked.`,
        );
        if (!(await tokens.revoke(found.id, cliActor())))
          throw new CommandError(`The token ${found.name} no longer exists.`);
        printLine(io.stdout, `Revoked ${found.name}.`);
      });
    });
};

interface CreateOptions {
  scope: string[];
  expires: string;
  json?: true;
}

async function openTokens({ store }: Core, { admin }: Config): Promise<ApiTokens> {
  const tokens = createApiTokens({
    store: store.apiTokens,
    now: Date.now,
    newId: randomUUID,
    maxTokens: admin.maxTokens,
    onError: () => undefined,
  });
  await tokens.reload();
  return tokens;
}

function findToken(tokens: ApiTokens, wanted: string): ApiToken {
  const matching = tokens
    .list()
    .filter(({ id, name, prefix }) => name === wanted || id === wanted.toLowerCase() || prefix === wanted);
  const [only] = matching;
  if (!only) throw new CommandError(`No such token: ${JSON.stringify(wanted)}. See: pulsegate token list`);
  if (matching.length > 1)
    throw new CommandError(
      `Ambiguous name: ${matching.length} tokens are named ${JSON.stringify(wanted)}. Use a prefix: ${matching.map(({ prefix }) => prefix).join(', ')}`,
    );
  return only;
}

/** The token in the form of /api/v1, without the hash. */
function present({ hash: _, createdAt, expiresAt, lastUsedAt, ...token }: ApiToken) {
  return {
    ...token,
    createdAt: iso(createdAt),
    expiresAt: isoOrNull(expiresAt),
    lastUsedAt: isoOrNull(lastUsedAt),
  };
}
