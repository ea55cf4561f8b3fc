// Unknown fields of a request are refused with the nearest name, wherever they are, and nothing is changed.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { startTestAdmin, type TestAdmin } from '../../helpers/admin.js';
import { openApi } from '../../helpers/openapi.js';
import { suiteScope } from '../../helpers/suite.js';

type Fault = { path: string; code: string; message: string };

describe('unknown fields', () => {
  let admin: TestAdmin;
  let path: string;
  const scope = suiteScope();
  before(async () => {
    admin = await startTestAdmin(scope);
    path = `/api/v1/accounts/${await admin.addAccount('ann')}`;
  });

  const faultsOf = async (method: string, to: string, json?: unknown): Promise<string[]> => {
    const answer = await admin.api(method, to, json === undefined ? {} : { json });
    assert.equal(answer.status, 400, `${method} ${to} ${JSON.stringify(json)}: ${answer.text}`);
    const problem = JSON.parse(answer.text) as { code: string; errors: Fault[] };
    assert.equal(problem.code, 'validation');
    return problem.errors.map((error) => `${error.path} ${error.message}`);
  };

  it('of a change are refused, and the others are not applied', async () => {
    const before = (await admin.api('GET', path)).text;
    assert.match(
      (await faultsOf('PATCH', path, { credentials: 'new', remarks: 'x' })).join(),
      /^body\.credentials is unknown; the fields are username, password, /,
    );
    assert.deepEqual(await faultsOf('PATCH', path, { Remark: 'x' }), [
      'body.Remark is unknown; did you mean remarks?',
    ]);
    assert.deepEqual(await faultsOf('PATCH', path, { limits: { maxSession: 1 } }), [
      'body.limits.maxSession is unknown; did you mean maxSessions?',
    ]);
    assert.deepEqual(await faultsOf('PATCH', `${path}/limits`, { maxSession: 1 }), [
      'body.maxSession is unknown; did you mean maxSessions?',
    ]);
    assert.equal((await admin.api('GET', path)).text, before);
  });

  it('of a new account are refused, and the others are checked, too', async () => {
    const faults = await faultsOf('POST', '/api/v1/accounts', { username: 'bob', enabled: false });
    assert.match(faults.join('\n'), /^body\.enabled is unknown; did you mean isEnabled\?$/m);
    const batch = { list: [{ username: 'bob' }, { username: 'cid', remark: 'x' }] };
    assert.deepEqual(await faultsOf('POST', '/api/v1/accounts/batch', batch), [
      'body.list.1.remark is unknown; did you mean remarks?',
    ]);
    const proto = await admin.api('POST', '/api/v1/accounts', {
      headers: { 'content-type': 'application/json' },
      body: '{"username":"bob","password":"x","__proto__":{}}',
    });
    assert.match(proto.text, /body\.__proto__ is unknown|"path":"body.__proto__"/);
    assert.equal(admin.accounts.getByUsername('bob'), null);
  });

  it('of a query are refused, also where there is no query', async () => {
    assert.deepEqual(await faultsOf('GET', '/api/v1/accounts?limits=1'), [
      'query.limits is unknown; did you mean limit?',
    ]);
    assert.deepEqual(await faultsOf('GET', `${path}?x=1`), ['query.x is unknown; there are no fields here']);
  });

  it('of the whitelist are refused in its own form', async () => {
    const to = '/api/v1/settings/whitelist';
    for (const [query, json] of [
      ['', { whitelist: '', whitelists: '*' }],
      ['?keepAccess=true', { whitelist: '' }],
    ] as const) {
      const answer = await admin.api('PUT', to + query, { json });
      assert.deepEqual([answer.status, answer.text], [400, '"请求格式错误"']);
    }
  });

  it('the case of names is free as before, and the account API ignores unknown fields', async () => {
    assert.equal((await admin.api('PATCH', path, { json: { REMARKS: 'kept' } })).status, 200);
    await admin.addAccount('dora', { Unknown: 1 });
  });

  it('the document says so of every body', () => {
    const open: string[] = [];
    const look = (schema: unknown, at: string): void => {
      if (typeof schema !== 'object' || schema === null) return;
      if ('properties' in schema && !('additionalProperties' in schema)) open.push(at);
      for (const [name, part] of Object.entries(schema)) look(part, `${at}/${name}`);
    };
    look(openApi()['paths'], '');
    look(openApi()['components'], '');
    assert.deepEqual(open, []);
  });
});
