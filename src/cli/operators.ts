// `pulsegate operator` and `pulsegate token`: the operators besides the administrator, and API tokens.
import { type Budget, NO_BUDGET } from '../core/accounts/plans/budget.js';
import { ROLES, TOKEN_SCOPES } from '../core/auth/operator.js';
import type { Api, ItemOf } from './shared/api.js';
import { CommandError, found, wrongUsage } from './shared/command.js';
import type { AddCommands } from './shared/group.js';
import { byteSize, count, enabling, expiry } from './shared/options.js';
import { choice, madeOf, param, type ValuesOf } from './shared/params.js';
import { KEEP_TOKENS, PASSWORD_STDIN, readNewPassword } from './shared/prompt.js';
import type { Run } from './shared/run.js';
import { formatBytes } from './shared/table.js';

const OPERATOR = { operator: param('<name>  operator name or id').finds(findOperator) };
const role = choice('--role <role>  role of the operator', ROLES);
const BUDGET = {
  accounts: count('--accounts <n>  budget of a seller: accounts to create; none removes the limit'),
  days: count('--days <n>  budget of a seller: days to give to accounts, in total; none removes the limit'),
  bytes: byteSize(
    '--traffic <size>  budget of a seller: traffic to grant by quotas (500GiB); none removes the limit',
  ),
};
const CHANGED_PASSWORD = {
  password: '--password  prompt for a new password',
  passwordStdin: '--password-stdin  read a new password from stdin',
  ...KEEP_TOKENS,
} as const;
const REFUSALS = {
  'body.name': 'The name must be 1 to 255 bytes, without a colon or control characters.',
  'name-taken': 'Another operator or the administrator has this name.',
};

export const addOperatorCommands: AddCommands = (program) =>
  program
    .group('operator', 'manage the operators besides the administrator', REFUSALS)
    .help(
      '\nRoles:\n  viewer    sees every account and changes nothing\n  seller    works on its own accounts within its budget, and sees no others\n  operator  works on every account, but not on settings, nodes and agents',
    )
    .examples(
      'operator add kim --role viewer',
      'operator add shop --role seller --accounts 100 --days 3000 --traffic 5TiB',
      'operator update kim --disable',
    )

    .command('list', 'list operators by name')
    .lists('No operators besides the administrator. See: pulsegate operator add --help', 'GET /operators', [
      { NAME: 'name', ROLE: 'role', STATE: ({ isEnabled }) => (isEnabled ? 'enabled' : 'disabled') },
      { ACCOUNTS: budgetColumn('accounts', String) },
      { DAYS: budgetColumn('days', String, (days) => days.toFixed(1)) },
      { TRAFFIC: budgetColumn('bytes', formatBytes), CREATED: 'createdAt' },
    ])

    .command('add', 'add an operator; takes effect within a second', {
      name: '<name>  user name of the operator',
      role: role.required(),
      password: madeOf(PASSWORD_STDIN, ({ passwordStdin }, { io }) => readNewPassword(io, passwordStdin)),
      budget: madeOf(BUDGET, (given) => ({ ...NO_BUDGET, ...given })),
    })
    .examples('operator add kim --role viewer --password-stdin < password.txt')
    .calls('POST /operators', ({ name, role }) => `Added ${name} (${role}).`)

    .command('update', 'update an operator; fields you do not give stay as they are', {
      role,
      name: '--rename <name>  new user name',
      secret: madeOf(CHANGED_PASSWORD, readChangedPassword),
      budget: BUDGET,
      isEnabled: enabling(
        '--enable  allow sign-in',
        '--disable  end sessions, and refuse sign-in and tokens',
      ),
      ...OPERATOR,
    })
    .needs('change')
    .answers(async ({ call }, { operator: { id, name, tokens }, secret, ...fields }) => {
      const changed = await call('PATCH /operators/{id}', { params: { id }, body: { ...fields, ...secret } });
      const isRevoked = secret?.revokeTokens && tokens > 0;
      return [changed, `Updated ${name}.${isRevoked ? `\nRevoked API tokens: ${tokens}.` : ''}`];
    })

    .command(
      'second-factor-off',
      'disable the second factor of an operator, for lost codes; takes effect within a second',
      OPERATOR,
    )
    .runs(async ({ call }, { operator: { id, totpEnabled: wasOn } }) => {
      if (wasOn) await call('DELETE /operators/{id}/totp', { params: { id } });
      return wasOn ? 'Second factor disabled.' : 'The second factor is already disabled.';
    })

    .command('remove', 'remove an operator with its sessions and tokens', OPERATOR)
    .asks(
      ({ operator: { name } }) =>
        `The operator ${name} and its tokens will be removed; its accounts become the administrator's.`,
    )
    .does('DELETE /operators/{id}', ({ operator: { name } }) => `Removed ${name}.`);

async function readChangedPassword(given: ValuesOf<typeof CHANGED_PASSWORD>, { io }: Pick<Run, 'io'>) {
  const { password, passwordStdin, keepTokens = false } = given;
  if (password || passwordStdin)
    return { password: await readNewPassword(io, passwordStdin), revokeTokens: !keepTokens };
  if (keepTokens) throw wrongUsage('--keep-tokens needs --password or --password-stdin.');
  return undefined;
}

type Operator = ItemOf<'GET /operators'>;

async function findOperator({ call }: Pick<Api, 'call'>, nameOrId: string): Promise<Operator> {
  const { items } = await call('GET /operators');
  const named = items.find(({ name }) => name === nameOrId);
  return found(named ?? items.find(({ id }) => id === nameOrId.toLowerCase()), 'operator', nameOrId);
}

/** Used amount and bound of a part; empty for other roles. */
function budgetColumn(part: keyof Budget, bound: (n: number) => string, amount = bound) {
  return ({ role, budget: { [part]: most }, used }: Operator): string => {
    if (role !== 'seller') return '';
    return most === null ? amount(used[part]) : `${amount(used[part])} of ${bound(most)}`;
  };
}

export const addTokenCommands: AddCommands = (program) =>
  program
    .group('token', 'manage API tokens for /api/v1', {
      'body.name': wrongUsage('The name must be 1 to 100 characters.'),
      'body.expiresAt': wrongUsage('--expires is in the past.'),
      'too-many-tokens': 'The limit admin.maxTokens is reached. Revoke a token first.',
    })
    .examples(
      'token create billing --scope accounts:read accounts:write --expires 90d',
      'token revoke billing',
    )

    .command('list', 'list tokens, oldest first, without their secrets')
    .lists('No API tokens.', 'GET /tokens', [
      { NAME: 'name', PREFIX: 'prefix', SCOPES: 'scopes', CREATED: 'createdAt', EXPIRES: 'expiresAt' },
      { 'LAST USED': 'lastUsedAt', ADDRESS: 'lastUsedFrom' },
    ])

    .command('create', 'create a token and print its secret once', {
      name: '<name>  token name',
      scopes: choice('--scope <scope...>  scopes of the token', TOKEN_SCOPES).required(),
      expiresAt: expiry(
        '--expires <when>  expiry: never (default), a duration from now (90d), or a date in UTC',
      ),
    })
    .calls(
      'POST /tokens',
      (_, { secret }) => `${secret}   (shown only once; send it as Authorization: Bearer …)`,
    )

    .command('revoke', 'revoke a token; takes effect within a second', {
      token: param('<token>  token name, id or prefix').finds(findToken),
    })
    .asks(({ token: { name, prefix } }) => `The token ${name} (${prefix}…) will be revoked.`)
    .does('DELETE /tokens/{id}', ({ token: { name } }) => `Revoked ${name}.`);

async function findToken({ call }: Api, wanted: string) {
  const { items } = await call('GET /tokens');
  const matching = items.filter(
    ({ id, name, prefix }) => name === wanted || id === wanted.toLowerCase() || prefix === wanted,
  );
  if (matching.length > 1)
    throw new CommandError(
      `Ambiguous name: ${matching.length} tokens are named ${JSON.stringify(wanted)}. Use a prefix: ${matching.map(({ prefix }) => prefix).join(', ')}`,
    );
  return found(matching[0], 'token', wanted);
}
