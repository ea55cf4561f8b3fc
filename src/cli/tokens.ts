// `pulsegate token`: API tokens for programs.
import { randomUUID } from 'node:crypto';
import { type Command, Option } from 'commander';
import type { Config } from '../config.js';
import { type ApiToken, type ApiTokens, createApiTokens } from '../core/auth/api-tokens.js';
import { TOKEN_SCOPES } from '../core/auth/token-scopes.js';
import type { Core } from '../parts/core.js';
import { cliActor } from './actor.js';
import { type AddCommands, CommandError, load, printJson, printLine } from './command.js';
import { parseExpiry } from './moments.js';
import { confirm } from './prompt.js';
import { iso } from './runs.js';
import { withCore } from './store.js';
import { formatMoment, printTable } from './table.js';

const MAX_NAME_CHARACTERS = 100;

export const addTokenCommands: AddCommands = (program, around) => {
  const token = program
    .command('token')
    .description('API tokens, by which programs use /api/v1')
    .addHelpText(
      'after',
      '\nExamples:\n  pulsegate token create billing --scope accounts:read accounts:write --expires 90d\n  pulsegate token revoke billing',
    );

  token
    .command('list')
    .description('tokens, oldest first; their secrets are shown only when they are made')
    .option('--json', 'as JSON')
    .action(async (options: { json?: true }, command: Command) => {
      const loaded = await load(command, around);
      await withCore(loaded, async (core) => {
        const tokens = (await openTokens(core, loaded.config)).list();
        if (options.json) return printJson(around, tokens.map(present));
        if (tokens.length === 0) return printLine(around.stderr, 'There are no tokens.');
        printTable(
          around,
          ['NAME', 'BEGINS WITH', 'SCOPES', 'CREATED', 'EXPIRES', 'LAST USED', 'FROM'],
          tokens.map((each) => [
            each.name,
            each.prefix,
            each.scopes.join(' '),
            formatMoment(each.createdAt, ''),
            formatMoment(each.expiresAt, 'never'),
            formatMoment(each.lastUsedAt, 'never'),
            each.lastUsedFrom ?? '',
          ]),
        );
      });
    });

  token
    .command('create')
    .argument('<name>', 'what it is for')
    .description('make a token and print its secret once')
    .addOption(
      new Option('--scope <scope...>', 'what it may do').choices([...TOKEN_SCOPES]).makeOptionMandatory(),
    )
    .option('--expires <when>', 'never, in so long (90d), or a date in UTC', 'never')
    .option('--json', 'as JSON')
    .action(async (name: string, options: CreateOptions, command: Command) => {
      if (name.trim() === '' || name.length > MAX_NAME_CHARACTERS)
        throw new CommandError(`A name is 1 to ${MAX_NAME_CHARACTERS} characters.`, 2);
      const expiresAt = parseExpiry(options.expires, Date.now());
      if (expiresAt !== null && expiresAt <= Date.now())
        throw new CommandError('--expires is past already.', 2);
      const loaded = await load(command, around);
      await withCore(loaded, async (core) => {
        const tokens = await openTokens(core, loaded.config);
        const made = await tokens.create(
          { name, scopes: [...new Set(options.scope)], expiresAt },
          cliActor(),
        );
        if (!made)
          throw new CommandError('There are as many tokens as admin.maxTokens permits. Revoke one first.');
        if (options.json) return printJson(around, { token: present(made.token), secret: made.secret });
        printLine(around.stdout, `${made.secret}   (shown only now; send it as Authorization: Bearer …)`);
      });
    });

  token
    .command('revoke')
    .argument('<token>', 'its name, its id, or how its secret begins, as `token list` prints it')
    .description('revoke a token; it is refused within a second')
    .option('--yes', 'do not ask')
    .action(async (wanted: string, options: { yes?: true }, command: Command) => {
      const loaded = await load(command, around);
      await withCore(loaded, async (core) => {
        const tokens = await openTokens(core, loaded.config);
        const found = findToken(tokens, wanted);
        await confirm(
          around,
          options.yes ?? false,
          `The token ${found.name} (${found.prefix}…) will be refused.`,
        );
        if (!(await tokens.revoke(found.id, cliActor())))
          throw new CommandError(`${found.name} was revoked meanwhile.`);
        printLine(around.stdout, `${found.name} was revoked.`);
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
  if (!only) throw new CommandError(`There is no token ${JSON.stringify(wanted)}. See: pulsegate token list`);
  if (matching.length > 1)
    throw new CommandError(
      `There are ${matching.length} tokens ${JSON.stringify(wanted)}. Say which by how its secret begins: ${matching.map(({ prefix }) => prefix).join(', ')}`,
    );
  return only;
}

/** As the API shows it, without the hash. */
function present({ hash: _, createdAt, expiresAt, lastUsedAt, ...token }: ApiToken) {
  return { ...token, createdAt: iso(createdAt), expiresAt: iso(expiresAt), lastUsedAt: iso(lastUsedAt) };
}
