// /api/v1/operators: operators beside the administrator, who alone manages them.
import { z } from 'zod';
import type { ApiTokens } from '../../core/auth/api-tokens.js';
import type { ConsoleSessions } from '../../core/auth/console-sessions.js';
import { MIN_OPERATOR_PASSWORD_CHARACTERS, type Operator } from '../../core/auth/operator.js';
import type { OperatorRefusal, Operators } from '../../core/auth/operators.js';
import type { Principals } from '../../core/auth/principals.js';
import { ROLES } from '../../core/auth/roles.js';
import { actorOf } from '../caller.js';
import { invalid, type ProblemAnswer } from './problem.js';
import { routesOf } from './route.js';
import { Count, Guid, IdParams, Time } from './schemas.js';
import { iso } from './times.js';

const Role = z.enum(ROLES).meta({
  id: 'Role',
  description:
    'viewer: sees every account and changes nothing; operator: works on every account, but not on the service itself.',
});

const OperatorItem = z
  .object({
    id: Guid,
    name: z.string(),
    role: Role,
    isEnabled: z.boolean(),
    createdAt: Time,
    totpEnabled: z.boolean(),
    /** API tokens that it has made. */
    tokens: Count,
  })
  .meta({ id: 'Operator' });

const Name = z.string().min(1).max(255);
const Password = z.string().min(1).max(255);

const NewOperator = z.object({ name: Name, password: Password, role: Role }).meta({ id: 'NewOperator' });

const OperatorChange = z
  .object({
    name: Name.optional(),
    /** Its console sessions end with another password, name or role. */
    password: Password.optional(),
    role: Role.optional(),
    /** false: it and its tokens can do nothing until it is enabled again. */
    isEnabled: z.boolean().optional(),
  })
  .meta({ id: 'OperatorChange', description: 'What is left out stays as it is.' });

export interface OperatorUses {
  readonly operators: Operators;
  readonly principals: Principals;
  readonly apiTokens: ApiTokens;
  readonly consoleSessions: Pick<ConsoleSessions, 'keepOnly'>;
  readonly onSettingChanged: () => void;
}

const { route } = routesOf<OperatorUses>('Operators');

export const operatorRoutes = [
  route(
    {
      method: 'GET',
      path: '/api/v1/operators',
      operationId: 'listOperators',
      summary: 'The operators beside the administrator.',
      access: 'administrator',
      request: {},
      responses: {
        200: {
          description: 'All of them, by name.',
          schema: z.object({ items: z.array(OperatorItem) }).meta({ id: 'Operators' }),
        },
      },
    },
    async (_asked, uses) => ({
      status: 200,
      body: { items: uses.operators.list().map((operator) => present(uses, operator)) },
    }),
  ),
  route(
    {
      method: 'POST',
      path: '/api/v1/operators',
      operationId: 'createOperator',
      summary: 'Adds an operator, who can sign in at once.',
      access: 'administrator',
      request: { body: NewOperator },
      responses: { 201: { description: 'Added.', schema: OperatorItem } },
      problems: [409],
    },
    async ({ body, caller }, uses) => {
      const created = await uses.operators.create(body, actorOf(caller));
      if (!created.ok) return REFUSALS[created.reason];
      await uses.principals.reload();
      uses.onSettingChanged();
      return { status: 201, body: present(uses, created.operator) };
    },
  ),
  route(
    {
      method: 'PATCH',
      path: '/api/v1/operators/{id}',
      operationId: 'changeOperator',
      summary: 'Changes the fields given; they hold at once.',
      access: 'administrator',
      request: { params: IdParams, body: OperatorChange },
      responses: { 200: { description: 'The operator as it is now.', schema: OperatorItem } },
      problems: [404, 409],
    },
    async ({ params, body, caller }, uses) => {
      const changed = await uses.operators.change(params.id.toLowerCase(), body, actorOf(caller));
      if (!changed.ok) return REFUSALS[changed.reason];
      uses.onSettingChanged();
      return { status: 200, body: present(uses, changed.operator) };
    },
  ),
  route(
    {
      method: 'DELETE',
      path: '/api/v1/operators/{id}',
      operationId: 'deleteOperator',
      summary: 'Removes an operator with its console sessions, tokens and second factor.',
      access: 'administrator',
      request: { params: IdParams },
      responses: { 204: { description: 'Removed.' } },
      problems: [404],
    },
    async ({ params, caller }, uses) => {
      const removed = await uses.operators.remove(params.id.toLowerCase(), actorOf(caller));
      if (!removed) return NO_OPERATOR;
      await uses.apiTokens.reload();
      uses.onSettingChanged();
      return { status: 204 };
    },
  ),
  route(
    {
      method: 'DELETE',
      path: '/api/v1/operators/{id}/totp',
      operationId: 'resetOperatorTotp',
      summary: 'Turns the second factor of an operator off, for one that is lost; its console sessions end.',
      access: 'administrator',
      request: { params: IdParams },
      responses: { 204: { description: 'Off.' } },
      problems: [404, 409],
    },
    async ({ params, caller }, { principals, operators, consoleSessions, onSettingChanged }) => {
      const id = params.id.toLowerCase();
      if (!operators.get(id)) return NO_OPERATOR;
      const factors = principals.factorsOf(id);
      const by = actorOf(caller);
      if (!(await factors?.secondFactor.forget(by))) {
        return { problem: 'conflict', detail: 'the second factor is off already' };
      }
      await factors?.recoveryCodes.forget(by);
      await consoleSessions.keepOnly(id, null);
      onSettingChanged();
      return { status: 204 };
    },
  ),
];

const NO_OPERATOR: ProblemAnswer = { problem: 'not-found', detail: 'there is no such operator' };

const REFUSALS: Readonly<Record<OperatorRefusal | 'not-found', ProblemAnswer>> = {
  'invalid-name': invalid('body.name', 'admin-username'),
  'name-taken': { problem: 'username-taken', detail: 'another operator or the administrator has the name' },
  'invalid-password': invalid('body.password', 'password'),
  'short-password': invalid('body.password', 'short-password', { min: MIN_OPERATOR_PASSWORD_CHARACTERS }),
  'not-found': NO_OPERATOR,
};

function present(
  { principals, apiTokens }: OperatorUses,
  { id, name, role, isEnabled, createdAt }: Operator,
) {
  return {
    ...{ id, name, role, isEnabled, createdAt: iso(createdAt) },
    totpEnabled: principals.factorsOf(id)?.secondFactor.isEnabled() ?? false,
    tokens: apiTokens.list(id).length,
  };
}
