// /api/v1/operators: the operators besides the administrator. Only the administrator manages them.
import { z } from 'zod';
import type { Budget as Bounds } from '../../../core/accounts/plans/budget.js';
import { type Operator, ROLES } from '../../../core/auth/operator.js';
import { hasSameAccess, type OperatorRefusal } from '../../../core/auth/operators.js';
import { MIN_PASSWORD_CHARACTERS } from '../../../core/auth/people-passwords.js';
import { grouped, withoutUndefined } from '../../../core/maps.js';
import { DAY_MS, withTimes } from '../../../core/time/clock.js';
import { failure, invalid, type ProblemAnswer } from '../../api/problem.js';
import { DONE, routesOf } from '../../api/route.js';
import { Bytes, Count, component, Guid, listOf, RevokeTokens, Time } from '../../api/schemas.js';
import { actorOf } from '../../caller.js';
import type { Services } from '../../services.js';

const Bound = z.int().min(0).nullable();

/** null: no bound. */
export const Budget = component('Budget', {
  /** Number of created accounts. */
  accounts: Bound,
  /** Sum of the days given to all accounts. */
  days: Bound,
  /** Sum of the quotas granted, for every period until an account expires; used traffic is spent. */
  bytes: Bound,
});

/** The used part of the budget. Reducing or deleting an account refunds nothing. */
export const BudgetUsed = component('BudgetUsed', { accounts: Count, days: z.number().min(0), bytes: Bytes });

/** Presents a used budget, with days rounded to a hundredth. */
export const presentUsed = ({ accounts, ms, bytes }: Operator['used']) => ({
  accounts,
  days: Math.round((ms / DAY_MS) * 100) / 100,
  bytes,
});

const Role = z.enum(ROLES).meta({
  id: 'Role',
  description:
    'viewer: sees every account and changes nothing; seller: works on its own accounts within its budget, and sees no others; operator: works on every account, but not on the service itself.',
});

const OperatorItem = component('Operator', {
  id: Guid,
  name: z.string(),
  role: Role,
  isEnabled: z.boolean(),
  createdAt: Time,
  totpEnabled: z.boolean(),
  /** Number of API tokens that the operator made. */
  tokens: Count,
  accounts: Count,
  /** A seller's budget: the bounds of what accounts may get, and the used part. */
  budget: Budget,
  used: BudgetUsed,
});

const Name = z.string().min(1).max(255);
const Password = z.string().min(1).max(255);

const NewOperator = component('NewOperator', {
  name: Name,
  password: Password,
  role: Role,
  /** Budget of a seller; left out: no bounds. */
  budget: Budget.optional(),
});

const OperatorChange = z
  .object({
    name: Name.optional(),
    /** Changing password, name or role ends the operator's console sessions. */
    password: Password.optional(),
    role: Role.optional(),
    /** With a new password. */
    revokeTokens: RevokeTokens,
    /** false: the operator and its tokens have no access until it is enabled again. */
    isEnabled: z.boolean().optional(),
    /** Changes only the bounds that it contains. */
    budget: Budget.partial().meta({ id: 'BudgetChange' }).optional(),
  })
  .meta({ id: 'OperatorChange', description: 'A field that is left out stays unchanged.' });

const { route } = routesOf('Operators');

export const operatorRoutes = [
  route('GET /api/v1/operators', 'listOperators', 'administrator', {
    summary: 'The operators besides the administrator.',
    success: [200, 'All of them, by name.', listOf(OperatorItem, 'Operators')],
    async handle(_input, deps) {
      // Accounts at this and other daemons use the budgets, so read the current values.
      await deps.operators.reload();
      const owned = accountsByOwner(deps);
      return { body: { items: deps.operators.list().map((operator) => present(deps, operator, owned)) } };
    },
  }),
  route('POST /api/v1/operators', 'createOperator', 'administrator', {
    summary: 'Adds an operator, who can sign in at once.',
    needsConfirmation: true,
    request: { body: NewOperator },
    success: [201, 'Added.', OperatorItem],
    problems: [409],
    async handle({ body, caller }, deps) {
      const created = await deps.operators.create(body, actorOf(caller));
      if (!created.ok) return REFUSALS[created.reason];
      await deps.principals.reload();
      deps.onSettingChanged();
      return { body: present(deps, created.operator) };
    },
  }),
  route('PATCH /api/v1/operators/{id}', 'changeOperator', 'administrator', {
    summary: 'Changes the given fields; they apply at once.',
    needsConfirmation: ({ name, password, role, isEnabled }) =>
      [name, password, role].some((field) => field !== undefined) || isEnabled === true,
    request: { body: OperatorChange },
    success: [200, 'The operator as it is now.', OperatorItem],
    problems: [409],
    async handle({ params, body, caller }, deps) {
      const budget = body.budget && withoutUndefined<Partial<Bounds>>(body.budget);
      const change = { ...body, budget };
      const before = deps.operators.get(params.id);
      const changed = await deps.operators.change(params.id, change, actorOf(caller));
      if (!changed.ok) return REFUSALS[changed.reason];
      if (!before || !hasSameAccess(before, changed.operator)) {
        await deps.consoleSessions.keepOnly(changed.operator.id, null);
        await deps.apiTokens.reload();
      }
      await deps.operators.reload();
      deps.onSettingChanged();
      return { body: present(deps, deps.operators.get(changed.operator.id) ?? changed.operator) };
    },
  }),
  route('DELETE /api/v1/operators/{id}', 'deleteOperator', 'administrator', {
    summary:
      "Removes an operator with its console sessions, tokens and second factor; its accounts become the administrator's.",
    success: [204, 'Removed.'],
    async handle({ params: { id }, caller }, deps) {
      const accounts = accountsByOwner(deps).get(id) ?? [];
      const removed = await deps.operators.remove(id, actorOf(caller));
      if (!removed) return NO_OPERATOR;
      await deps.accounts.refresh(accounts.map(({ account }) => account.id));
      await deps.apiTokens.reload();
      deps.onSettingChanged();
      return DONE;
    },
  }),
  route('DELETE /api/v1/operators/{id}/totp', 'resetOperatorTotp', 'administrator', {
    summary: 'Turns off the second factor of an operator who lost it; the operator’s console sessions end.',
    needsConfirmation: true,
    success: [204, 'Off.'],
    problems: [409],
    async handle({ params: { id }, caller }, { principals, operators, consoleSessions, onSettingChanged }) {
      if (!operators.get(id)) return NO_OPERATOR;
      if (!(await principals.secondFactorOf(id)?.disable(actorOf(caller)))) {
        return failure('conflict', 'factor-off');
      }
      await consoleSessions.keepOnly(id, null);
      onSettingChanged();
      return DONE;
    },
  }),
];

const NO_OPERATOR: ProblemAnswer = failure('not-found', 'no-operator');

const REFUSALS: Readonly<Record<OperatorRefusal | 'not-found', ProblemAnswer>> = {
  'invalid-name': invalid('body.name', 'admin-username'),
  'name-taken': failure('username-taken', 'name-taken'),
  'invalid-password': invalid('body.password', 'password'),
  'short-password': invalid('body.password', 'short-password', { min: MIN_PASSWORD_CHARACTERS }),
  'not-found': NO_OPERATOR,
};

const accountsByOwner = ({ accounts }: Pick<Services, 'accounts'>) =>
  grouped(accounts.list(), ({ account }) => account.owner);

function present(deps: Services, { passwordHash: _, ...operator }: Operator, owned = accountsByOwner(deps)) {
  const { id, used } = operator;
  return {
    ...withTimes(operator, 'createdAt'),
    totpEnabled: deps.principals.secondFactorOf(id)?.isEnabled() ?? false,
    tokens: deps.apiTokens.list(id).length,
    accounts: owned.get(id)?.length ?? 0,
    used: presentUsed(used),
  };
}
