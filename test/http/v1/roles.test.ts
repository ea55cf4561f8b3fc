// The access of each role to every route. A route without a decision in this file fails the test.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import { ROLES, type Role } from '../../../src/core/auth/operator.js';
import { routes } from '../../../src/http/v1/routes.js';
import { type Console, codeOf, fetchFrom, signIn } from '../../helpers/console.js';
import { type ApiAnswer, startTestDaemon } from '../../helpers/daemon.js';
import { basic } from '../../helpers/http.js';
import { manyOperators, operatorsInTurn } from '../../helpers/operators.js';
import { suiteScope } from '../../helpers/suite.js';
import { fromBase32, totpCodes } from '../../helpers/totp.js';

/**
 * `all`: every signed-in user; `own`: every signed-in user, who sees only their own data; `overview`: data of all accounts
 * together; `operator`: no sellers and viewers; `seller`: sellers and the administrator; the others depend on the scopes of the role. sellers.test.ts tests which accounts a seller sees.
 */
type Decision =
  | 'public'
  | 'all'
  | 'own'
  | 'read'
  | 'write'
  | 'overview'
  | 'operator'
  | 'seller'
  | 'administrator';

const DECISIONS: Readonly<Record<string, Decision>> = {
  signIn: 'public',
  signOut: 'own',
  getMe: 'own',
  enrolTotp: 'own',
  confirmSession: 'own',
  confirmTotp: 'own',
  renewRecoveryCodes: 'own',
  disableTotp: 'own',
  setAdminPassword: 'own',
  listTokens: 'own',
  createToken: 'own',
  revokeToken: 'own',
  listAudit: 'own',
  getOverview: 'overview',
  getOverviewHistory: 'overview',
  streamEvents: 'read',
  exportAccounts: 'read',
  importAccounts: 'write',
  createAccounts: 'write',
  changeAccounts: 'write',
  listTags: 'read',
  listAccounts: 'read',
  createAccount: 'write',
  getAccount: 'read',
  changeAccount: 'write',
  deleteAccount: 'write',
  resetPassword: 'write',
  getCredentials: 'write',
  getAccountLimits: 'read',
  changeAccountLimits: 'write',
  resetAccountUsage: 'write',
  getSubscription: 'read',
  createSubscription: 'write',
  revokeSubscription: 'write',
  getContactStates: 'read',
  sendContactCode: 'write',
  handOver: 'write',
  confirmContact: 'write',
  listSessions: 'read',
  endSession: 'write',
  endSessions: 'write',
  listLogins: 'read',
  getTraffic: 'read',
  getTrafficReport: 'read',
  exportTraffic: 'read',
  getTimeline: 'read',
  listHeartbeats: 'read',
  trace: 'operator',
  readReport: 'operator',
  getHeartbeatSeries: 'read',
  getHeartbeatSums: 'read',
  getPlans: 'read',
  listAgents: 'administrator',
  sendMessage: 'administrator',
  listRuns: 'administrator',
  getRun: 'administrator',
  cancelRun: 'administrator',
  rerunRun: 'administrator',
  listAgentSessions: 'administrator',
  getAgentSession: 'administrator',
  deleteAgentSession: 'administrator',
  listExits: 'administrator',
  addExit: 'administrator',
  getExit: 'administrator',
  changeExit: 'administrator',
  removeExit: 'administrator',
  testExit: 'administrator',
  listNodes: 'administrator',
  drainNode: 'administrator',
  undrainNode: 'administrator',
  listOperators: 'administrator',
  createOperator: 'administrator',
  changeOperator: 'administrator',
  deleteOperator: 'administrator',
  resetOperatorTotp: 'administrator',
  getWhitelist: 'administrator',
  setWhitelist: 'administrator',
  checkWhitelist: 'administrator',
  getGameRules: 'administrator',
  setGameRules: 'administrator',
  forgetGameRules: 'administrator',
  testGameRules: 'administrator',
  getRetention: 'administrator',
  setRetention: 'administrator',
  listEventReceivers: 'seller',
  addEventReceiver: 'seller',
  changeEventReceiver: 'seller',
  removeEventReceiver: 'seller',
  testEventReceiver: 'seller',
  listEventDeliveries: 'seller',
  retryEventDelivery: 'seller',
  listNotices: 'administrator',
  retryNotice: 'administrator',
  discardNotices: 'administrator',
  previewNoticeSettings: 'administrator',
  getNoticeSettings: 'administrator',
  setNoticeSettings: 'administrator',
  testNotice: 'administrator',
  getPublicAddress: 'administrator',
  setPublicAddress: 'administrator',
  setPlans: 'administrator',
  getPacRules: 'administrator',
  setPacRules: 'administrator',
  getEffectiveConfig: 'administrator',
  downloadBackup: 'administrator',
  listLog: 'administrator',
  getOpenApi: 'all',
  getDocs: 'all',
};

const PASSWORD = 'a-good-password';
const LIST = '/ProxyAccount/GetProxyAccountList';

describe('operators', async () => {
  const daemon = await startTestDaemon(suiteScope(), {
    operators: [
      ...manyOperators('viewer', 9, PASSWORD),
      ...manyOperators('seller', 1, PASSWORD),
      ...manyOperators('operator', 5, PASSWORD),
    ],
  });
  const admin = await signIn(daemon);
  const nextOperator = operatorsInTurn(daemon.operators);
  const signInAs = (username: string, more = {}) => signIn(daemon, { username, password: PASSWORD, ...more });
  const credentials = (name: string, password = PASSWORD) => ({ authorization: basic(name, password) });

  it('every route has a decision in this file', () => {
    assert.deepEqual(routes.map(({ operationId }) => operationId).sort(), Object.keys(DECISIONS).sort());
  });

  it('every route refuses a role without the right, before it checks the request', async () => {
    const all = (await admin.api('GET', '/api/v1/me')).json as { operations: string[] };
    assert.deepEqual([...all.operations].sort(), Object.keys(DECISIONS).sort());
    const may: Readonly<Record<Role, readonly Decision[]>> = {
      viewer: ['public', 'all', 'own', 'read', 'overview'],
      seller: ['public', 'all', 'own', 'read', 'write', 'seller'],
      operator: ['public', 'all', 'own', 'read', 'write', 'overview', 'operator'],
    };
    for (const role of ROLES) {
      const allowed = may[role];
      const signedIn = await signInAs(nextOperator(role).name);
      const { operations } = (await signedIn.api('GET', '/api/v1/me')).json as { operations: string[] };
      for (const { method, path, operationId } of routes) {
        const decision = DECISIONS[operationId] ?? 'administrator';
        assert.equal(operations.includes(operationId), allowed.includes(decision), `${role} ${operationId}`);
        // The requests are empty, so that they change nothing: an allowed one finds no such object, or lacks a body.
        if (['signOut', 'enrolTotp', 'streamEvents'].includes(operationId)) continue;
        const answer = await signedIn.api(method, path.replace(/\{\w+\}/g, randomUUID()));
        const isRefused = answer.status === 403 && codeOf(answer) === 'wrong-role';
        assert.equal(
          isRefused,
          !allowed.includes(decision),
          `${role} ${operationId}: ${answer.status} ${answer.text.slice(0, 200)}`,
        );
        assert.notEqual(answer.status, 500, operationId);
      }
    }
  });

  it('an operator signs in by name, and has its own role, password and audit entries', async () => {
    const { name } = nextOperator('operator');
    const signedIn = await signInAs(name);
    const other = await signInAs(name);
    const me = (await signedIn.api('GET', '/api/v1/me')).json as Record<string, unknown>;
    assert.deepEqual([me['username'], me['role'], me['totpEnabled']], [name, 'operator', false]);
    assert.ok((me['scopes'] as string[]).includes('accounts:write'));

    const made = await signedIn.api('POST', '/api/v1/accounts', { username: `of-${name}` });
    assert.equal(made.status, 201, made.text);
    const audit = (await signedIn.api('GET', '/api/v1/audit')).json as {
      items: { actor: string; action: string }[];
      total: number;
    };
    assert.deepEqual(
      audit.items.map(({ actor, action }) => [actor, action]),
      [
        [name, 'account.create'],
        [name, 'operator.new-address'],
      ],
    );
    assert.equal(audit.total, 2, 'the total does not count the entries of others');

    const wrong = { current: 'not-this-one', next: 'another-password' };
    const changePassword = '/api/v1/settings/admin-password';
    assert.equal((await signedIn.api('PUT', changePassword, wrong)).status, 400);
    const right = { current: PASSWORD, next: 'another-password' };
    assert.equal((await signedIn.api('PUT', changePassword, right)).status, 204);
    assert.equal((await signedIn.api('GET', '/api/v1/me')).status, 200);
    assert.equal((await other.api('GET', '/api/v1/me')).status, 401, 'its other session ended');
    assert.equal((await admin.api('GET', '/api/v1/me')).status, 200, "the administrator's session did not");
    assert.equal((await daemon.api('GET', LIST)).status, 200, "the administrator's password is unchanged");
  });

  it('a token has at most the rights of its operator, is listed for the operator alone, and is removed with the operator', async () => {
    const { id, name } = nextOperator('operator');
    const signedIn = await signInAs(name);
    const ask = (scopes: string[]) => signedIn.api('POST', '/api/v1/tokens', { name: 'bill', scopes });
    assert.equal(codeOf(await ask(['settings:write'])), 'wrong-role');
    const { secret, token } = (await ask(['accounts:read', 'accounts:write'])).json as {
      secret: string;
      token: { id: string; operator: string };
    };
    assert.equal(token.operator, name);
    const use = (method: string, path: string, body?: unknown) =>
      fetchFrom(daemon, method, path, { authorization: `Bearer ${secret}` }, body);
    assert.equal((await use('POST', '/api/v1/accounts', { username: `t-${name}` })).status, 201);
    const { actor } = (await auditEntriesOf(`t-${name}`))[0] ?? {};
    assert.equal(actor, `${name}/bill`);

    const another = await signInAs(nextOperator('operator').name);
    const shown = await another.api('GET', '/api/v1/tokens');
    assert.deepEqual(shown.json, { items: [] });
    assert.equal((await another.api('DELETE', `/api/v1/tokens/${token.id}`)).status, 404);
    assert.ok(
      (await admin.api('GET', '/api/v1/tokens')).text.includes(token.id),
      'the administrator sees all tokens',
    );

    const change = (fields: object) => admin.api('PATCH', `/api/v1/operators/${id}`, fields);
    await change({ role: 'viewer' });
    assert.equal((await use('GET', '/api/v1/accounts')).status, 200);
    assert.equal((await use('POST', '/api/v1/accounts', { username: 'no' })).status, 403);
    await change({ isEnabled: false });
    assert.equal((await use('GET', '/api/v1/accounts')).status, 401);
    await change({ isEnabled: true });
    assert.equal((await use('GET', '/api/v1/accounts')).status, 200);
    assert.equal((await admin.api('DELETE', `/api/v1/operators/${id}`)).status, 204);
    assert.equal((await use('GET', '/api/v1/accounts')).status, 401);
    assert.ok(!(await admin.api('GET', '/api/v1/tokens')).text.includes(token.id));
  });

  it("an operator's sessions end when its password, role or name changes, and when it is disabled or removed", async () => {
    const changes = [
      { password: 'another-password' },
      { role: 'operator' },
      { name: `renamed-${randomUUID()}` },
      { isEnabled: false },
      null,
    ];
    for (const change of changes) {
      const { id, name } = nextOperator('viewer');
      const signedIn = await signInAs(name);
      assert.equal((await signedIn.api('GET', '/api/v1/me')).status, 200);
      const path = `/api/v1/operators/${id}`;
      const answer = change ? await admin.api('PATCH', path, change) : await admin.api('DELETE', path);
      assert.ok(answer.status < 300, answer.text);
      assert.equal((await signedIn.api('GET', '/api/v1/me')).status, 401, JSON.stringify(change));
    }
    assert.equal((await admin.api('GET', '/api/v1/me')).status, 200);
  });

  it('each operator has its own second factor, which the administrator can reset', async () => {
    const { id, name } = nextOperator('viewer');
    const signedIn = await signInAs(name);
    assert.equal((await fetchFrom(daemon, 'GET', LIST, credentials(name))).status, 200);
    const { next, codes } = await turnOnTotp(signedIn);
    const attempt = (code?: string) =>
      fetchFrom(
        daemon,
        'POST',
        '/api/v1/session',
        {},
        { username: name, password: PASSWORD, ...(code ? { code } : {}) },
      );
    assert.equal(codeOf(await attempt()), 'totp-required');
    assert.equal((await attempt(next)).status, 200);
    assert.equal((await attempt(codes[0])).status, 200);
    const key = { 'idempotency-key': `codes-${id}` };
    const renew = (body?: object) => signedIn.api('POST', '/api/v1/session/recovery-codes', body, key);
    assert.equal((await renew()).status, 400, 'a session alone, which may be stolen, makes no new codes');
    const renewed = (await renew({ code: codes[1] })).json as { codes: string[] };
    const repeated = await renew({ code: codes[1] });
    assert.equal(repeated.headers.get('idempotency-replayed'), 'true', repeated.text);
    assert.deepEqual(repeated.json, renewed, 'the code is used up, and the answer was lost');
    assert.equal((await attempt(codes[2])).status, 401, 'an earlier recovery code');
    assert.equal((await attempt(renewed.codes[0])).status, 200);
    assert.equal(
      (await fetchFrom(daemon, 'GET', LIST, credentials(name))).status,
      401,
      'Basic is refused with a second factor',
    );
    const me = (await admin.api('GET', '/api/v1/me')).json as { totpEnabled: boolean };
    assert.equal(me.totpEnabled, false, 'the administrator has no second factor');
    assert.equal((await admin.api('DELETE', `/api/v1/operators/${id}/totp`)).status, 204);
    assert.equal((await admin.api('DELETE', `/api/v1/operators/${id}/totp`)).status, 409);
    assert.equal((await attempt()).status, 200);
  });

  it('the account API accepts operators with their rights, and answers with its own texts', async () => {
    const viewer = nextOperator('viewer').name;
    const operator = nextOperator('operator').name;
    const add = (name: string, username: string) =>
      fetchFrom(daemon, 'POST', '/ProxyAccount/AddProxyAccount', credentials(name), {
        Username: username,
        Password: 'p',
      });
    assert.equal((await fetchFrom(daemon, 'GET', LIST, credentials(viewer))).status, 200);
    const refused = await add(viewer, 'by-viewer');
    assert.deepEqual([refused.status, refused.json], [403, '没有权限']);
    assert.equal((await add(operator, `by-${operator}`)).json, '添加账号成功');
    assert.equal((await auditEntriesOf(`by-${operator}`))[0]?.actor, operator);
    assert.equal((await fetchFrom(daemon, 'GET', LIST, credentials(operator, 'wrong-password'))).status, 401);
  });

  it('the name of an operator is unique and not the administrator’s; short passwords are refused', async () => {
    const { name } = nextOperator('viewer');
    const add = (fields: object) =>
      admin.api('POST', '/api/v1/operators', {
        name: `n-${randomUUID()}`,
        password: PASSWORD,
        role: 'viewer',
        ...fields,
      });
    assert.deepEqual(codesOf(await add({ name })), [409, 'username-taken']);
    assert.deepEqual(codesOf(await add({ name: 'admin' })), [409, 'username-taken']);
    assert.deepEqual(codesOf(await add({ name: 'a:b' })), [400, 'validation']);
    assert.deepEqual(codesOf(await add({ password: '1234567' })), [400, 'validation']);
    assert.deepEqual(codesOf(await add({ role: 'root' })), [400, 'validation']);
    assert.equal((await add({ password: '12345678' })).status, 201);
    const list = (await admin.api('GET', '/api/v1/operators')).text;
    assert.ok(!list.includes('sha256$'), 'no hash');
    const log = (await admin.api('GET', '/api/v1/audit?action=operator.create&limit=1000')).text;
    assert.ok(!log.includes(PASSWORD) && !log.includes('sha256$'));
  });

  async function auditEntriesOf(search: string): Promise<{ actor: string }[]> {
    const answer = await admin.api('GET', `/api/v1/audit?search=${encodeURIComponent(search)}`);
    return (answer.json as { items: { actor: string }[] }).items;
  }
});

const codesOf = (answer: ApiAnswer) => [answer.status, codeOf(answer)];

/** Turns the second factor on; `next` is a code that is still valid, `codes` are the recovery codes. */
async function turnOnTotp(signedIn: Console): Promise<{ next: string; codes: readonly string[] }> {
  const offered = (await signedIn.api('POST', '/api/v1/session/totp')).json as { secret: string };
  const code = totpCodes(fromBase32(offered.secret));
  const answer = await signedIn.api('PUT', '/api/v1/session/totp', { code: code(0) });
  assert.equal(answer.status, 200, answer.text);
  return { next: code(1), codes: (answer.json as { codes: string[] }).codes };
}
