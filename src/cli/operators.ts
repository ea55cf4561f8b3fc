// `pulsegate operator` and `pulsegate token`: the operators besides the administrator, and API tokens.
import { type Budget, NO_BUDGET } from '../core/accounts/plans/budget.js';
import { ROLES, TOKEN_SCOPES } from '../core/auth/operator.js';
import { withoutUndefined } from '../http/fields.js';
import { type Answer, type Api, worded } from './shared/api.js';
import { CommandError, found } from './shared/command.js';
import { type AddCommands, type ValuesOf, YES_OPTION } from './shared/group.js';
import { parseByteSize, parseCount, parseExpiry, requireChange } from './shared/options.js';
import { KEEP_TOKENS, PASSWORD_STDIN, readNewPassword } from './shared/prompt.js';
import { formatBytes } from './shared/table.js';

const OPERATOR = { '<name>': 'operator name or id' } as const;
const BUDGET = {
  '--accounts <n>': {
    help: 'budget of a seller: accounts to create; none removes the limit',
    read: parseCount,
  },
  '--days <n>': {
    help: 'budget of a seller: days to give to accounts, in total; none removes the limit',
    read: parseCount,
  },
  '--traffic <size>': {
    help: 'budget of a seller: traffic to grant by quotas (500GiB); none removes the limit',
    read: parseByteSize,
  },
} as const;

const WRONG_NAME = {
  'body.name': 'The name must be 1 to 255 bytes, without a colon or control characters.',
  'name-taken': 'Another operator or the administrator has this name.',
};

export const addOperatorCommands: AddCommands = (program) => {
  const operator = program
    .group('operator', 'manage the operators besides the administrator')
    .help(
      '\nRoles:\n  viewer    sees every account and changes nothing\n  seller    works on its own accounts within its budget, and sees no others\n  operator  works on every account, but not on settings, nodes and agents',
    )
    .examples(
      'operator add kim --role viewer',
      'operator add shop --role seller --accounts 100 --days 3000 --traffic 5TiB',
      'operator update kim --disable',
    );

  operator
    .command('list', 'list operators by name')
    .lists('No operators besides the administrator. See: pulsegate operator add --help', 'GET /operators', [
      { NAME: 'name', ROLE: 'role', STATE: ({ isEnabled }) => (isEnabled ? 'enabled' : 'disabled') },
      { ACCOUNTS: budgetColumn('accounts', String) },
      { DAYS: budgetColumn('days', String, (days) => days.toFixed(1)) },
      { TRAFFIC: budgetColumn('bytes', formatBytes), CREATED: 'createdAt' },
    ]);

  operator
    .command('add', 'add an operator; takes effect within a second', {
      '<name>': 'user name of the operator',
      '--role <role>': { help: 'role of the operator', choices: ROLES, isRequired: true },
      ...PASSWORD_STDIN,
      ...BUDGET,
    })
    .examples('operator add kim --role viewer --password-stdin < password.txt')
    .answers(async ({ call, io }, { name, role, ...given }) => {
      const password = await readNewPassword(io, given);
      const body = { name, role, password, budget: { ...NO_BUDGET, ...budgetOf(given) } };
      const added = await worded(call('POST /operators', { body }), WRONG_NAME);
      return [added, `Added ${name} (${role}).`];
    });

  operator
    .command('update', 'update an operator; fields you do not give stay as they are', {
      ...OPERATOR,
      '--role <role>': { help: 'role of the operator', choices: ROLES },
      '--rename <name>': 'new user name',
      '--password': 'prompt for a new password',
      '--password-stdin': 'read a new password from stdin',
      '--keep-tokens': KEEP_TOKENS,
      ...BUDGET,
      '--enable': 'allow sign-in',
      '--disable': 'end sessions, and refuse sign-in and tokens',
    })
    .answers(async (run, { name: nameOrId, ...given }) => {
      const isEnabled = requireChange('operator update', given);
      const isNewPassword = given.password || given.passwordStdin;
      if (given.keepTokens && !isNewPassword)
        throw new CommandError('--keep-tokens needs --password or --password-stdin.', 2);
      const password = isNewPassword ? await readNewPassword(run.io, given) : undefined;
      const { id, name, tokens } = await findOperator(run, nameOrId);
      const { role, rename, keepTokens } = given;
      const body = {
        role,
        name: rename,
        isEnabled,
        password,
        budget: budgetOf(given),
        revokeTokens: !keepTokens,
      };
      const change = run.call('PATCH /operators/{id}', { params: { id }, body });
      const changed = await worded(change, WRONG_NAME);
      const revoked = isNewPassword && !keepTokens && tokens > 0 ? `\nRevoked API tokens: ${tokens}.` : '';
      return [changed, `Updated ${name}.${revoked}`];
    });

  operator
    .command(
      'second-factor-off',
      'disable the second factor of an operator, for lost codes; takes effect within a second',
      OPERATOR,
    )
    .runs(async (run, { name }) => {
      const { id, totpEnabled: wasOn } = await findOperator(run, name);
      if (wasOn) await run.call('DELETE /operators/{id}/totp', { params: { id } });
      return wasOn ? 'Second factor disabled.' : 'The second factor is already disabled.';
    });

  operator
    .command('remove', 'remove an operator with its sessions and tokens', { ...OPERATOR, ...YES_OPTION })
    .runs(async (run, { name: nameOrId }) => {
      const { id, name } = await findOperator(run, nameOrId);
      await run.confirm(
        `The operator ${name} and its tokens will be removed; its accounts become the administrator's.`,
      );
      await run.call('DELETE /operators/{id}', { params: { id } });
      return `Removed ${name}.`;
    });
};

type Operator = Answer<'GET /operators'>['items'][number];

async function findOperator({ call }: Pick<Api, 'call'>, nameOrId: string): Promise<Operator> {
  const { items } = await call('GET /operators');
  const named = items.find(({ name }) => name === nameOrId);
  return found(named ?? items.find(({ id }) => id === nameOrId.toLowerCase()), 'operator', nameOrId);
}

/** Returns the bounds that the options set. */
const budgetOf = ({ accounts, days, traffic: bytes }: ValuesOf<typeof BUDGET>) =>
  withoutUndefined<Partial<Budget>>({ accounts, days, bytes });

/** Used amount and bound of a part; empty for other roles. */
function budgetColumn(part: keyof Budget, bound: (n: number) => string, amount = bound) {
  return ({ role, budget: { [part]: most }, used }: Operator): string => {
    if (role !== 'seller') return '';
    return most === null ? amount(used[part]) : `${amount(used[part])} of ${bound(most)}`;
  };
}

export const addTokenCommands: AddCommands = (program) => {
  const token = program
    .group('token', 'manage API tokens for /api/v1')
    .examples(
      'token create billing --scope accounts:read accounts:write --expires 90d',
      'token revoke billing',
    );

  token
    .command('list', 'list tokens, oldest first, without their secrets')
    .lists('No API tokens.', 'GET /tokens', [
      { NAME: 'name', PREFIX: 'prefix', SCOPES: 'scopes', CREATED: 'createdAt', EXPIRES: 'expiresAt' },
      { 'LAST USED': 'lastUsedAt', ADDRESS: 'lastUsedFrom' },
    ]);

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
