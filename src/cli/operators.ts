// `pulsegate operator`: manages the operators besides the administrator.
import { type Command, Option } from 'commander';
import { NO_BUDGET } from '../core/accounts/plans/budget.js';
import { MIN_OPERATOR_PASSWORD_CHARACTERS } from '../core/auth/operator.js';
import { ROLES, type Role } from '../core/auth/roles.js';
import { BUDGET_COLUMNS, BUDGET_HELP, type BudgetOptions, toBudget } from './operator-budget.js';
import { type Answer, type Api, withApi, worded } from './shared/api.js';
import { apiCommand } from './shared/api-command.js';
import {
  type AddCommands,
  CommandError,
  type CommandIo,
  load,
  printJson,
  printLine,
} from './shared/command.js';
import { parseByteSize, parseCount } from './shared/limit-options.js';
import { confirm, KEEP_TOKENS, readNewPassword } from './shared/prompt.js';
import { formatIso } from './shared/table.js';

const NO_TERMINAL = 'Cannot prompt for a password: stdin is not a terminal. Use --password-stdin.';

export const addOperatorCommands: AddCommands = (program, io) => {
  const operator = apiCommand(program, io, 'operator')
    .description('manage the operators besides the administrator')
    .addHelpText(
      'after',
      '\nRoles:\n  viewer    sees every account and changes nothing\n  seller    works on its own accounts within its budget, and sees no others\n  operator  works on every account, but not on settings, nodes and agents\n' +
        '\nExamples:\n  pulsegate operator add kim --role viewer\n  pulsegate operator add shop --role seller --accounts 100 --days 3000 --traffic 5TiB\n  pulsegate operator update kim --disable',
    );

  operator
    .command('list')
    .description('list operators by name')
    .lists('No operators besides the administrator. See: pulsegate operator add --help', readOperators, {
      NAME: ({ name }) => name,
      ROLE: ({ role }) => role,
      STATE: ({ isEnabled }) => (isEnabled ? 'enabled' : 'disabled'),
      ...BUDGET_COLUMNS,
      CREATED: ({ createdAt }) => formatIso(createdAt, ''),
    });

  addAdd(operator, io);
  addUpdate(operator, io);

  operator
    .command('second-factor-off')
    .argument('<name>', 'operator name or id')
    .description('disable the second factor of an operator, for lost codes; takes effect within a second')
    .calls(async (api, nameOrId: string) => {
      const { id, totpEnabled: wasOn } = await findOperator(api, nameOrId);
      if (wasOn) await worded(api.call('DELETE /operators/{id}/totp', { params: { id } }), REFUSALS);
      printLine(io.stdout, wasOn ? 'Second factor disabled.' : 'The second factor is already disabled.');
    });

  operator
    .command('remove')
    .argument('<name>', 'operator name or id')
    .description('remove an operator with its sessions and tokens')
    .option('--yes', 'skip the confirmation')
    .calls(async (api, nameOrId: string, { yes }: { yes?: true }) => {
      const { id, name } = await findOperator(api, nameOrId);
      const lost = `The operator ${name} and its tokens will be removed; its accounts become the administrator's.`;
      await confirm(io, yes, lost);
      await worded(api.call('DELETE /operators/{id}', { params: { id } }), REFUSALS);
      printLine(io.stdout, `Removed ${name}.`);
    });
};

function addAdd(operator: Command, io: CommandIo): void {
  operator
    .command('add')
    .argument('<name>', 'user name of the operator')
    .description('add an operator; takes effect within a second')
    .addOption(new Option('--role <role>', 'role of the operator').choices([...ROLES]).makeOptionMandatory())
    .option('--password-stdin', 'read the password from stdin')
    .option('--accounts <n>', BUDGET_HELP.accounts, parseCount)
    .option('--days <n>', BUDGET_HELP.days, parseCount)
    .option('--traffic <size>', BUDGET_HELP.traffic, parseByteSize)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExample:\n  pulsegate operator add kim --role viewer --password-stdin < password.txt',
    )
    .action(
      async (
        name: string,
        options: BudgetOptions & { role: Role; passwordStdin?: true; json?: true },
        command: Command,
      ) => {
        const password = await readNewPassword(io, options.passwordStdin ?? false, NO_TERMINAL);
        await withApi(await load(command, io), async ({ call }) => {
          const budget = { ...NO_BUDGET, ...toBudget(options) };
          const body = { name, role: options.role, password, budget };
          const created = await worded(call('POST /operators', { body }), REFUSALS);
          if (options.json) return printJson(io, created);
          printLine(io.stdout, `Added ${name} (${options.role}).`);
        });
      },
    );
}

interface UpdateOptions extends BudgetOptions {
  role?: Role;
  rename?: string;
  password?: true;
  passwordStdin?: true;
  keepTokens?: true;
  enable?: true;
  disable?: true;
  json?: true;
}

function addUpdate(operator: Command, io: CommandIo): void {
  operator
    .command('update')
    .argument('<name>', 'operator name or id')
    .description('update an operator; fields you do not give stay as they are')
    .addOption(new Option('--role <role>', 'role of the operator').choices([...ROLES]))
    .option('--rename <name>', 'new user name')
    .option('--password', 'prompt for a new password')
    .option('--password-stdin', 'read a new password from stdin')
    .option('--keep-tokens', KEEP_TOKENS)
    .option('--accounts <n>', BUDGET_HELP.accounts, parseCount)
    .option('--days <n>', BUDGET_HELP.days, parseCount)
    .option('--traffic <size>', BUDGET_HELP.traffic, parseByteSize)
    .option('--enable', 'allow sign-in')
    .option('--disable', 'end sessions, and refuse sign-in and tokens')
    .option('--json', 'print JSON')
    .action(async (nameOrId: string, options: UpdateOptions, command: Command) => {
      if (options.enable && options.disable)
        throw new CommandError('--enable and --disable cannot be used together.', 2);
      if (Object.keys(options).every((given) => given === 'json'))
        throw new CommandError('No change given. See: pulsegate operator update --help', 2);
      const isNewPassword = options.password || options.passwordStdin;
      if (options.keepTokens && !isNewPassword)
        throw new CommandError('--keep-tokens needs --password or --password-stdin.', 2);
      const password = isNewPassword
        ? await readNewPassword(io, options.passwordStdin ?? false, NO_TERMINAL)
        : undefined;
      await withApi(await load(command, io), async (api) => {
        const { id, name, tokens } = await findOperator(api, nameOrId);
        const body = {
          role: options.role,
          name: options.rename,
          isEnabled: options.enable ? true : options.disable ? false : undefined,
          password,
          budget: toBudget(options),
          revokeTokens: !options.keepTokens,
        };
        const change = api.call('PATCH /operators/{id}', { params: { id }, body });
        const changed = await worded(change, REFUSALS);
        if (options.json) return printJson(io, changed);
        printLine(io.stdout, `Updated ${name}.`);
        const revoked = isNewPassword && !options.keepTokens ? tokens : 0;
        if (revoked > 0) printLine(io.stdout, `Revoked API tokens: ${revoked}.`);
      });
    });
}

const readOperators = async ({ call }: Api): Promise<Operator[]> => (await call('GET /operators')).items;

async function findOperator(api: Api, nameOrId: string): Promise<Operator> {
  const items = await readOperators(api);
  const found =
    items.find(({ name }) => name === nameOrId) ?? items.find(({ id }) => id === nameOrId.toLowerCase());
  if (found) return found;
  throw new CommandError(`No such operator: ${JSON.stringify(nameOrId)}. See: pulsegate operator list`);
}

type Operator = Answer<'GET /operators'>['items'][number];

const REFUSALS = {
  'body.name': 'The name must be 1 to 255 bytes, without a colon or control characters.',
  'name-taken': 'Another operator or the administrator has this name.',
  'body.password': 'The password must be 1 to 255 bytes and not only white space.',
  'body.password short-password': `The password must have at least ${MIN_OPERATOR_PASSWORD_CHARACTERS} characters.`,
  'no-operator': 'The operator no longer exists.',
};
