// Rights removed during a request: the test holds the body back until the administrator has made the change.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, it } from 'node:test';
import { signIn } from '../../helpers/console.js';
import { startTestDaemon } from '../../helpers/daemon.js';
import { basic, parseExchange } from '../../helpers/http.js';
import { manyOperators, operatorsInTurn } from '../../helpers/operators.js';
import { suiteScope } from '../../helpers/suite.js';

const PASSWORD = 'a-good-password';

describe('rights lost during a request', async () => {
  const daemon = await startTestDaemon(suiteScope(), {
    operators: [...manyOperators('seller', 9, PASSWORD), ...manyOperators('operator', 2, PASSWORD)],
  });
  const admin = await signIn(daemon);
  const nextOperator = operatorsInTurn(daemon.operators);
  const pathOf = ({ id }: { id: string }) => `/api/v1/operators/${id}`;

  /** Sends the head, and resolves once the daemon has accepted it. The returned function sends the body and returns the response. */
  async function hold(method: string, path: string, body: string, headers: Readonly<Record<string, string>>) {
    const { hostname, port } = new URL(daemon.adminUrl);
    const socket = connect(Number(port), hostname);
    const head = [
      `${method} ${path} HTTP/1.1`,
      'Host: localhost',
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Expect: 100-continue',
      'Connection: close',
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ];
    socket.write(`${head.join('\r\n')}\r\n\r\n`);
    const [first] = (await once(socket, 'data')) as [Buffer];
    assert.match(first.toString(), /^HTTP\/1\.1 100 /);
    return async () => {
      let received = '';
      socket.on('data', (chunk: Buffer) => {
        received += chunk.toString();
      });
      socket.write(body);
      await once(socket, 'close');
      return parseExchange(received);
    };
  }

  const requests = {
    '/api/v1': (username: string) =>
      ['/api/v1/accounts', 'application/json', JSON.stringify({ username })] as const,
    import: (username: string) =>
      ['/api/v1/accounts/import', 'text/csv', `username,password\n${username},p\n`] as const,
    'the account API': (username: string) =>
      [
        '/ProxyAccount/AddProxyAccount',
        'application/json',
        JSON.stringify({ Username: username, Password: 'p' }),
      ] as const,
  };
  const losses = { disabled: { isEnabled: false }, demoted: { role: 'viewer' }, removed: null };

  for (const [route, requestOf] of Object.entries(requests)) {
    for (const [how, change] of Object.entries(losses)) {
      it(`an operator that is ${how} during a request by ${route} adds no account`, async () => {
        const operator = nextOperator('seller');
        const { name } = operator;
        const path = pathOf(operator);
        const username = `u-${randomUUID()}`;
        const [url, type, body] = requestOf(username);
        const finish = await hold('POST', url, body, {
          'Content-Type': type,
          Authorization: basic(name, PASSWORD),
        });
        const loss = change ? await admin.api('PATCH', path, change) : await admin.api('DELETE', path);
        assert.ok(loss.status < 300, loss.text);
        const answer = await finish();
        assert.equal(answer.status, how === 'demoted' ? 403 : 401, JSON.stringify(answer.json));
        assert.ok(!(await admin.api('GET', `/api/v1/accounts?search=${username}`)).text.includes(username));
      });
    }
  }

  it('a session that the administrator ended stays ended after a delayed request and after the operator is enabled again', async () => {
    const operator = nextOperator('operator');
    const { name } = operator;
    const path = pathOf(operator);
    const session = await signIn(daemon, { username: name, password: PASSWORD });
    const body = JSON.stringify({ current: PASSWORD, next: 'another-password' });
    const finish = await hold('PUT', '/api/v1/settings/admin-password', body, {
      'Content-Type': 'application/json',
      Cookie: session.cookie,
      Origin: 'http://localhost',
    });
    await admin.api('PATCH', path, { isEnabled: false });
    assert.equal((await finish()).status, 401);
    await admin.api('PATCH', path, { isEnabled: true });
    assert.equal((await session.api('GET', '/api/v1/me')).status, 401);
    await signIn(daemon, { username: name, password: PASSWORD });
  });

  it('a request from a page of another site is refused with a code for translations', async () => {
    const headers = { 'sec-fetch-site': 'cross-site' };
    const answer = await admin.api('PATCH', `/api/v1/accounts/${randomUUID()}`, { remarks: 'x' }, headers);
    const { code, detail, reason } = answer.json as Record<string, unknown>;
    assert.deepEqual(
      [answer.status, code, reason, detail],
      [403, 'cross-site', { code: 'cross-site', values: {} }, 'the console session is for its own page'],
    );
  });

  it("a token and a console session lose the operator's rights during a request, too", async () => {
    const operator = nextOperator('operator');
    const { name } = operator;
    const path = pathOf(operator);
    const session = await signIn(daemon, { username: name, password: PASSWORD });
    const made = await session.api('POST', '/api/v1/tokens', { name: 't', scopes: ['accounts:write'] });
    const { secret, token } = made.json as { secret: string; token: { id: string } };
    const body = JSON.stringify({ username: `u-${randomUUID()}` });
    const json = { 'Content-Type': 'application/json' };
    const byToken = () =>
      hold('POST', '/api/v1/accounts', body, { ...json, Authorization: `Bearer ${secret}` });
    const demoted = await byToken();
    const bySession = await hold('POST', '/api/v1/accounts', body, {
      ...json,
      Cookie: session.cookie,
      Origin: 'http://localhost',
    });
    await admin.api('PATCH', path, { role: 'viewer' });
    assert.equal((await demoted()).status, 403);
    assert.equal((await bySession()).status, 403);
    await admin.api('PATCH', path, { role: 'operator' });
    const revoked = await byToken();
    assert.equal((await admin.api('DELETE', `/api/v1/tokens/${token.id}`)).status, 204);
    assert.equal((await revoked()).status, 401);
  });
});
