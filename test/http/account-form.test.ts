// The account form of CCProxy, with requests as panels send them.
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import { before, describe, it } from 'node:test';
import { parseForm } from '../../src/http/account-form/form.js';
import { ADMIN, startTestAdmin, type TestAdmin } from '../helpers/admin.js';
import { basic, send } from '../helpers/http.js';
import { suiteScope } from '../helpers/suite.js';

const ADD =
  'add=1&autodisable=1&enable=1&usepassword=1&enablesocks=1&enablewww=0&enabletelnet=0&enabledial=0&enableftp=0&enableothers=0&enablemail=0';
const ZONE = 'Asia/Shanghai';
const END = 'disabledate=2030-05-30&disabletime=20:20:20';

describe('the account form', () => {
  const scope = suiteScope();
  let admin: TestAdmin;
  before(async () => {
    admin = await startTestAdmin(scope, { accountForm: { zone: ZONE } });
  });

  const post = (body: string | Buffer, headers: Record<string, string> = {}) =>
    send(`${admin.url}/account`, {
      method: 'POST',
      headers: { authorization: basic(ADMIN.username, ADMIN.password), ...headers },
      body,
    });
  const account = (username: string) => admin.accounts.getByUsername(username)?.account;

  it('creates, changes, renames and deletes an account', async () => {
    const added = await post(
      `${ADD}&username=test&password=111&ipaddress=&macaddress=&connection=1&bandwidth=20480&${END}&userid=-1`,
    );
    assert.equal(added.status, 200, added.text);
    const created = account('test');
    assert.equal(created?.isEnabled, true);
    assert.equal(created?.expiresAt, Date.UTC(2030, 4, 30, 12, 20, 20));
    const { maxSessions, bytesPerSecondUp, bytesPerSecondDown } = created?.limits ?? {};
    assert.deepEqual([maxSessions, bytesPerSecondUp, bytesPerSecondDown], [1, 20_480, 20_480]);
    assert.equal((await post(`${ADD}&username=test&password=1&${END}&userid=-1`)).json, '该用户名已存在');

    const edited = await post(
      'edit=1&autodisable=1&enable=0&username=renamed&connection=-1&bandwidth=102400/-1&disabledate=2031-01-01&disabletime=00:00:00&userid=test',
    );
    assert.equal(edited.status, 200, edited.text);
    const renamed = account('renamed');
    assert.equal(renamed?.id, created?.id);
    assert.equal(renamed?.passwordHash, created?.passwordHash, 'an edit without a password keeps it');
    assert.equal(renamed?.isEnabled, false);
    assert.deepEqual(
      [renamed?.limits.maxSessions, renamed?.limits.bytesPerSecondUp, renamed?.limits.bytesPerSecondDown],
      [null, 102_400, null],
    );

    assert.equal(
      (await post('edit=1&useipaddress=1&ipaddress=192.0.2.0-192.0.2.3&userid=renamed')).status,
      200,
    );
    assert.deepEqual(account('renamed')?.allowedClients, ['192.0.2.0/30']);
    assert.equal(
      account('renamed')?.expiresAt,
      renamed?.expiresAt,
      'an edit keeps fields that it does not name',
    );

    assert.equal((await post('delete=1&userid=renamed')).status, 200);
    assert.equal(account('renamed'), undefined);
    assert.equal((await post('delete=1&userid=renamed')).json, '账号不存在');
    const entries = await admin.store.audit.list({}, null, 10);
    const actions = entries.map(({ action }) => action);
    assert.ok(actions.includes('account.create') && actions.includes('account.delete'), actions.join());
  });

  it('lists accounts in the HTML that panels parse', async () => {
    await post(
      `${ADD}&username=alpha001&password=aa12345&connection=5&bandwidth=102400/204800&${END}&userid=-1`,
    );
    await admin.addAccount('beta"<2>', { IsEnabled: false });
    const { text, headers } = await send(`${admin.url}/account`, {
      headers: { authorization: basic(ADMIN.username, ADMIN.password) },
    });
    assert.match(String(headers['content-security-policy']), /default-src 'none'/);
    // The expressions and the positions of `checked` are those of a panel in use.
    const values = (name: string) =>
      [...text.matchAll(new RegExp(`<input .* name="${name}" .* value="(.*?)"`, 'giu'))].map(
        ([, value]) => value,
      );
    const isChecked = (name: string, position: number) =>
      [...text.matchAll(new RegExp(`<input .* name="${name}" .*`, 'g'))].map(
        ([line]) => line.replace(/[<>/]/g, '').lastIndexOf('checked') === position,
      );
    assert.deepEqual(values('username'), ['alpha001', 'beta&quot;&lt;2&gt;']);
    assert.deepEqual(values('password'), ['', '']);
    assert.deepEqual(values('disabledate'), ['2030-05-30', '2037-12-31']);
    assert.deepEqual(values('disabletime'), ['20:20:20', '23:59:59']);
    assert.deepEqual(values('connection'), ['5', '-1']);
    assert.deepEqual(values('bandwidth'), ['102400/204800', '-1/-1']);
    assert.deepEqual(isChecked('enable', 46), [true, false]);
    assert.deepEqual(isChecked('usepassword', 51), [true, true]);
    assert.deepEqual(isChecked('autodisable', 51), [true, false]);

    const gamma = await admin.addAccount('gamma', { ExpiresAt: '9999-12-31T23:59:59' });
    const { text: later } = await send(`${admin.url}/account`, {
      headers: { authorization: basic(ADMIN.username, ADMIN.password) },
    });
    assert.match(
      later,
      /name="disabledate" {2}value="9999-12-31">\n.*name="disabletime" {2}value="23:59:59"/,
    );
    await admin.accounts.remove(gamma);
  });

  it('answers a client of HTTP/1.0 without a content type, and closes', async () => {
    const body = `${ADD}&username=old&password=client&${END}&userid=-1`;
    const { port } = new URL(admin.url);
    const socket = connect(Number(port), '127.0.0.1');
    const authorization = basic(ADMIN.username, ADMIN.password);
    socket.write(
      `POST /account HTTP/1.0\r\nHost: 127.0.0.1\r\nAuthorization: ${authorization}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    assert.match(await textOf(socket), /^HTTP\/1\.1 200 OK\r\n.*OK/s);
    assert.ok(account('old'));
  });

  it('has the guards of the account API, and is off unless configured', async () => {
    const anonymous = await send(`${admin.url}/account`, { method: 'POST', body: 'delete=1&userid=old' });
    assert.equal(anonymous.status, 401);
    assert.equal((await post('delete=1&userid=old', { origin: 'http://evil.example' })).status, 403);
    assert.equal((await post('delete=1&userid=old', { host: 'evil.example' })).status, 421);
    assert.equal((await post(Buffer.alloc(70_000, 'x'))).status, 413);
    assert.equal(
      (
        await send(`${admin.url}/account`, {
          method: 'DELETE',
          headers: { authorization: basic(ADMIN.username, ADMIN.password) },
        })
      ).status,
      405,
    );
    assert.ok(account('old'));
    const off = await startTestAdmin(scope);
    assert.equal((await off.api('GET', '/account')).status, 404);
  });
});

const REFUSED: [body: string, detail: RegExp][] = [
  ['', /add=1, edit=1 or delete=1/],
  ['add=1&username=a', /username and password/],
  ['add=1&username=a&password=b&usepassword=0', /usepassword is 0/],
  ['add=1&username=a&password=b&usemacaddress=1&macaddress=00', /MAC address/],
  ['add=1&username=a&password=b&autodisable=1&disabledate=30.5.2030', /the end is "30\.5\.2030 "/],
  ['add=1&username=a&password=b&autodisable=1&disabledate=2030-02-30&disabletime=00:00:00', /the end is/],
  ['add=1&username=a&password=b&connection=0', /connection is "0"; expected -1/],
  ['add=1&username=a&password=b&bandwidth=1/2/3', /bandwidth is/],
  ['add=1&username=a&password=b&bandwidth=fast', /bandwidth is/],
  ['add=1&username=a&password=b&useipaddress=1&ipaddress=home', /ipaddress is "home"/],
  ['add=1&username=a&username=b&password=c', /"username" is given more than once/],
  ['edit=1&userid=-1', /userid is missing/],
  ['delete=1', /userid is missing/],
  ['add=1&username=%FF%FF&password=b', /neither UTF-8 nor GBK/],
  [`delete=1&userid=a${'&x=1'.repeat(99)}`, /more than 100 fields/],
];

for (const [body, detail] of REFUSED) {
  it(`the account form refuses ${JSON.stringify(body)}`, () => {
    const form = parseForm(Buffer.from(body), ZONE);
    assert.ok(!form.ok);
    assert.match(form.detail ?? '', detail);
  });
}

it('the account form reads a character at the end of the body whole', () => {
  for (const end of ['', '\r\n']) {
    const form = parseForm(Buffer.from(`delete=1&userid=玩家你${end}`), ZONE);
    assert.ok(form.ok);
    assert.deepEqual(form.action, { kind: 'delete', user: '玩家你' });
  }
});

it('the account form reads UTF-8, GBK, percent escapes and repeated equal fields', () => {
  const names = [
    'username=%E7%8E%A9%E5%AE%B6',
    'username=玩家',
    'username=%CD%E6%BC%D2',
    'username=玩家&username=玩家',
  ];
  for (const name of names) {
    const form = parseForm(Buffer.from(`add=1&password=a%2Bb+100%&${name}`), ZONE);
    assert.ok(form.ok && form.action.kind === 'add');
    assert.deepEqual([form.action.username, form.action.password], ['玩家', 'a+b 100%']);
  }
});
