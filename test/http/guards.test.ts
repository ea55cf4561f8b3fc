// The guards before the router: whitelist, host, credentials, origin, and the response to a failed login.
import assert from 'node:assert/strict';
import { Agent } from 'node:http';
import { describe, it, test } from 'node:test';
import { ADMIN, startTestAdmin, type TestAdmin } from '../helpers/admin.js';
import { eventually } from '../helpers/eventually.js';
import { basic, exchange, parseExchange, send } from '../helpers/http.js';
import { IPV6, needs } from '../helpers/programs.js';
import { suiteScope } from '../helpers/suite.js';

const LIST = '/ProxyAccount/GetProxyAccountList';
const CURRENT = '/ProxyAccount/GetCurrentUser';
const authorization = basic(ADMIN.username, ADMIN.password);
const wrong = basic(ADMIN.username, 'wrong');

async function saveWhitelist(admin: TestAdmin, whitelist: string): Promise<void> {
  const saved = await admin.api('PUT', '/api/v1/settings/whitelist', { json: { whitelist } });
  assert.equal(saved.status, 200, saved.text);
  assert.deepEqual(saved.json, { whitelist });
}

test('a changed whitelist applies from the next request, also on an open connection', async (t) => {
  const admin = await startTestAdmin(t);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.after(async () => agent.destroy());
  const ask = async (method: string, path: string, body?: string) => {
    const headers = { authorization, 'content-type': 'application/json' };
    return send(admin.url + path, { method, headers, body, agent });
  };
  assert.equal((await ask('GET', LIST)).status, 200);
  assert.equal((await ask('PUT', '/api/v1/settings/whitelist', '{"whitelist":"10.9.8.7"}')).status, 200);
  const refused = await ask('GET', LIST);
  assert.deepEqual([refused.status, refused.text], [403, '"IP不在白名单中"']);
  const sockets = Object.values({ ...agent.sockets, ...agent.freeSockets }).flat();
  assert.equal(sockets.length, 1, 'all requests were sent on one connection');
});

test('the whitelist is checked before credentials, GetCurrentUser and unknown paths', async (t) => {
  const admin = await startTestAdmin(t);
  await saveWhitelist(admin, '10.0.0.0/8, 2001:db8::*');
  for (const path of [LIST, CURRENT, '/nowhere', '/api/v1/settings/whitelist']) {
    for (const headers of [{}, { authorization }, { authorization: wrong }]) {
      const answer = await send(admin.url + path, { headers });
      assert.deepEqual([answer.status, answer.text], [403, '"IP不在白名单中"'], path);
    }
  }
  const problem = JSON.parse((await send(`${admin.url}/api/v1/accounts`)).text) as Record<string, unknown>;
  assert.deepEqual(problem['reason'], { code: 'not-whitelisted', values: { address: '127.0.0.1' } });
});

describe('the whitelist', async () => {
  const admin = await startTestAdmin(suiteScope());
  for (const whitelist of [
    '',
    '*',
    ' , ，\n',
    '127.0.0.1',
    '127.*',
    '127.0.0.*',
    '10.0.0.1，127.0.0.1',
    '::ffff:127.0.0.1',
    '127.0.0.0/8',
    '1.1.1.1\n127.0.0.1',
  ]) {
    test(`${JSON.stringify(whitelist)} allows 127.0.0.1`, async () => {
      await saveWhitelist(admin, whitelist);
      assert.equal((await admin.api('GET', LIST)).status, 200);
    });
  }
});

test('a whitelist with an invalid entry is refused, and the old one stays', async (t) => {
  const admin = await startTestAdmin(t);
  await saveWhitelist(admin, '127.0.0.1, ::1');
  const refused = await admin.api('PUT', '/api/v1/settings/whitelist', {
    json: { whitelist: '10.0.0.1, nonsense' },
  });
  assert.deepEqual([refused.status, refused.text], [400, '"请求格式错误"']);
  assert.match(String(refused.headers['x-error-detail']), /"nonsense"/);
  assert.deepEqual((await admin.api('GET', '/api/v1/settings/whitelist')).json, {
    whitelist: '127.0.0.1, ::1',
  });
});

test('a whitelist that cannot be stored gets 500, and the old one stays', async (t) => {
  const admin = await startTestAdmin(t);
  await admin.store.close();
  const failed = await admin.api('PUT', '/api/v1/settings/whitelist', { json: { whitelist: '10.0.0.1' } });
  assert.deepEqual([failed.status, failed.text], [500, '"服务器内部错误"']);
  assert.equal((await admin.api('GET', LIST)).status, 200);
});

test(
  'IPv6 clients are matched as IPv6, and IPv4 clients of a dual-stack listener as IPv4',
  needs(IPV6),
  async (t) => {
    const admin = await startTestAdmin(t);
    const v6 = await admin.listen('::1');
    const dual = (await admin.listen('::')).replace('[::]', '127.0.0.1');
    const status = async (url: string) => (await send(url + LIST, { headers: { authorization } })).status;
    await saveWhitelist(admin, '127.0.0.1');
    assert.deepEqual(await Promise.all([admin.url, v6, dual].map(status)), [200, 403, 200]);
    await saveWhitelist(admin, '::1, 127.0.0.1');
    assert.deepEqual(await Promise.all([admin.url, v6, dual].map(status)), [200, 200, 200]);
  },
);

const FORWARDED: [string, string, string | undefined][] = [
  ['no header', '127.0.0.1', undefined],
  ['one address', '203.0.113.9', '203.0.113.9'],
  ['the rightmost that is not trusted', '203.0.113.9', '198.51.100.1, 203.0.113.9'],
  ['trusted hops are skipped', '203.0.113.9', '198.51.100.1, 203.0.113.9, 10.1.2.3'],
  ['a mapped address', '203.0.113.9', '::ffff:203.0.113.9'],
  ['only trusted hops: the leftmost', '10.0.0.1', '10.0.0.1, 10.0.0.2'],
  ['IPv6', '2001:db8::1', '2001:DB8:0::1'],
];
describe('behind a trusted proxy', async () => {
  const admin = await startTestAdmin(suiteScope(), { trustedProxies: ['127.0.0.1', '10.0.0.0/8'] });
  for (const [name, client, header] of FORWARDED) {
    test(`X-Forwarded-For names the client: ${name}`, async () => {
      await admin.whitelist.save(client);
      const headers = { authorization, ...(header === undefined ? {} : { 'x-forwarded-for': header }) };
      assert.equal((await send(admin.url + LIST, { headers })).status, 200);
      await admin.whitelist.save('192.0.2.1');
      assert.equal((await send(admin.url + LIST, { headers })).status, 403);
    });
  }
});

describe('an invalid address in X-Forwarded-For', async () => {
  const admin = await startTestAdmin(suiteScope(), { trustedProxies: ['127.0.0.1'] });
  await admin.addAccount('a');
  for (const garbage of ['unknown', '203.0.113.9:80', '"203.0.113.9"', '_hidden', '1.2.3', '127.0.0.1, x']) {
    test(`${garbage} is in no whitelist and no local range`, async () => {
      await admin.whitelist.save('');
      const headers = { authorization, 'x-forwarded-for': garbage, 'x-socks5-username': 'a' };
      assert.equal((await send(admin.url + CURRENT, { headers })).text, '"仅允许本地或内网访问"');
      await admin.whitelist.save('127.0.0.1, 203.0.113.9');
      assert.equal((await send(admin.url + LIST, { headers })).status, 403);
    });
  }
});

test('X-Forwarded-For of an untrusted peer is ignored', async (t) => {
  const admin = await startTestAdmin(t);
  await admin.whitelist.save('203.0.113.9');
  for (const name of ['x-forwarded-for', 'x-real-ip', 'forwarded', 'x-client-ip', 'true-client-ip']) {
    const headers = { authorization, [name]: '203.0.113.9' };
    assert.equal((await send(admin.url + LIST, { headers })).status, 403, name);
  }
});

test('requests that an untrusted proxy forwards do not count as local, and the log says so once', async (t) => {
  const admin = await startTestAdmin(t);
  await admin.addAccount('a');
  const ask = (path: string, headers: Record<string, string>) =>
    send(admin.url + path, { headers: { authorization, 'x-socks5-username': 'a', ...headers } });
  const forwarded = {
    'x-forwarded-for': '203.0.113.9',
    forwarded: 'for=203.0.113.9',
    'x-real-ip': '10.0.0.9',
  };
  assert.equal((await ask(CURRENT, {})).status, 200);
  assert.equal((await ask('/metrics', {})).status, 200);
  for (const [name, value] of Object.entries(forwarded)) {
    assert.equal((await ask(CURRENT, { [name]: value })).text, '"仅允许本地或内网访问"', name);
    assert.equal((await ask('/metrics', { [name]: value })).status, 403, name);
    for (const [whitelist, status] of [
      ['127.0.0.1, ::1', 403],
      ['*', 200],
      ['', 200],
    ] as const) {
      await admin.whitelist.save(whitelist);
      assert.equal((await ask(LIST, { [name]: value })).status, status, `${name}, whitelist ${whitelist}`);
    }
  }
  const warnings = admin.lines.filter(({ msg }) => msg === 'untrusted forwarding header');
  assert.equal(warnings.length, 1);
  assert.match(String(warnings[0]?.['advice']), /admin\.trustedProxies/);
});

test('requests of a trusted proxy without X-Forwarded-For do not count as local', async (t) => {
  const admin = await startTestAdmin(t, { trustedProxies: ['127.0.0.1'] });
  await admin.addAccount('a');
  const headers = { 'x-socks5-username': 'a', 'x-real-ip': '203.0.113.9' };
  assert.equal((await send(admin.url + CURRENT, { headers })).status, 403);
});

const HOSTS: [string, boolean][] = [
  ['127.0.0.1', true],
  ['127.0.0.1:8080', true],
  ['203.0.113.5:80', true],
  ['[::1]:8080', true],
  ['[2001:db8::5]', true],
  ['localhost', true],
  ['LocalHost:1', true],
  ['localhost.', true],
  ['console.example', true],
  ['Console.Example:8443', true],
  ['a.b.games.example', true],
  ['my_pulsegate:8080', true],
  ['games.example', false],
  ['evil.example', false],
  ['console.example.evil.example', false],
  ['xconsole.example', false],
  ['127.0.0.1.evil.example', false],
  ['localhost.evil.example', false],
  ['0x7f.1', false],
  ['2130706433', false],
  ['127.1', false],
  ['[127.0.0.1]', false],
  ['[localhost]', false],
  ['::1', false],
  ['user@127.0.0.1', false],
  ['evil.example:80:80', false],
];
test('only IP addresses, localhost and allowedHosts are accepted as host; the log names the setting', async (t) => {
  const admin = await startTestAdmin(t, {
    allowedHosts: ['console.example', '*.games.example', 'my_pulsegate'],
  });
  await admin.addAccount('a');
  for (const [host, isAllowed] of HOSTS) {
    const headers = { host, authorization, 'x-socks5-username': 'a' };
    for (const path of ['/', CURRENT, LIST, '/metrics', '/api/v1/me']) {
      const { status } = await send(admin.url + path, { headers });
      assert.equal(status, isAllowed ? 200 : 421, `${host} ${path}`);
    }
  }
  const refused = await send(admin.url + LIST, { headers: { host: 'evil.example', authorization } });
  assert.equal(refused.text, '"主机名未获允许，请在 admin.allowedHosts 中列出"');
  assert.match(String(refused.headers['x-error-detail']), /"evil\.example".*admin\.allowedHosts/);
  const problem = await send(`${admin.url}/api/v1/me`, { headers: { host: 'evil.example', authorization } });
  assert.equal((problem.json as { code: string }).code, 'host-not-allowed');
  const lines = admin.lines.filter(({ msg }) => msg === 'host not allowed');
  assert.equal(lines.filter(({ host }) => host === 'evil.example').length, 1, 'once');
  assert.equal(lines[0]?.['setting'], 'admin.allowedHosts');
});

test('health checks and paths with their own token accept every host name; the whitelist is checked first', async (t) => {
  const admin = await startTestAdmin(t);
  const headers = { host: 'evil.example' };
  for (const [path, status] of [
    ['/healthz', 200],
    ['/readyz', 200],
    ['/hooks/agent', 401],
  ] as const) {
    assert.equal((await send(admin.url + path, { headers })).status, status, path);
  }
  await admin.whitelist.save('10.0.0.1');
  assert.equal((await send(admin.url + LIST, { headers })).status, 403);
});

test('every host in a request is checked: repeated, in an absolute target, and forwarded by a proxy', async (t) => {
  const admin = await startTestAdmin(t, { trustedProxies: ['127.0.0.1'], allowedHosts: ['console.example'] });
  const raw = async (target: string, ...hosts: string[]) => {
    const lines = hosts.map((host) => `Host: ${host}\r\n`).join('');
    const head = `GET ${target} HTTP/1.1\r\n${lines}Authorization: ${authorization}\r\nConnection: close\r\n\r\n`;
    return parseExchange(await exchange(admin.url, head)).status;
  };
  assert.equal(await raw(LIST, 'localhost', 'evil.example'), 421);
  assert.equal(await raw(LIST, ''), 421);
  assert.equal(await raw(`http://evil.example${LIST}`, 'localhost'), 421);
  assert.equal(await raw(`http://console.example${LIST}`, 'localhost'), 200);
  const proxied = async (headers: Record<string, string>) =>
    (
      await send(admin.url + LIST, {
        headers: { authorization, 'x-forwarded-for': '203.0.113.9', ...headers },
      })
    ).status;
  assert.equal(await proxied({ 'x-forwarded-host': 'console.example' }), 200);
  assert.equal(await proxied({ 'x-forwarded-host': 'evil.example' }), 421);
  assert.equal(await proxied({ 'x-forwarded-host': 'console.example, evil.example' }), 421);
  assert.equal(await proxied({ forwarded: 'for=203.0.113.9;host="console.example:443";proto=https' }), 200);
  assert.equal(await proxied({ forwarded: 'for=203.0.113.9;host=evil.example' }), 421);
  assert.equal(await proxied({ host: 'evil.example', 'x-forwarded-host': 'console.example' }), 421);
});

test('a page served through a trusted proxy under another name may make changes', async (t) => {
  const admin = await startTestAdmin(t, { trustedProxies: ['127.0.0.1'], allowedHosts: ['console.example'] });
  const put = (headers: Record<string, string>) =>
    admin.api('PUT', '/api/v1/settings/whitelist', {
      json: { whitelist: '' },
      headers: { origin: 'https://console.example', ...headers },
    });
  assert.equal((await put({ 'x-forwarded-host': 'console.example' })).status, 200);
  assert.equal((await put({})).status, 403);
});

test('an invalid trusted proxy stops the start', async (t) => {
  await assert.rejects(
    startTestAdmin(t, { trustedProxies: ['proxy.example'] }),
    /admin\.trustedProxies.*proxy\.example/,
  );
});

const RANGES: [string, boolean][] = [
  ['127.0.0.1', true],
  ['127.255.255.255', true],
  ['10.0.0.0', true],
  ['10.255.255.255', true],
  ['172.16.0.1', true],
  ['172.31.255.255', true],
  ['192.168.0.1', true],
  ['::ffff:192.168.1.1', true],
  ['fc00::1', true],
  ['fdff:ffff::1', true],
  ['fe80::1', true],
  ['febf::1', true],
  ['126.255.255.255', false],
  ['128.0.0.1', false],
  ['9.255.255.255', false],
  ['11.0.0.0', false],
  ['172.15.255.255', false],
  ['172.32.0.0', false],
  ['192.167.255.255', false],
  ['192.169.0.0', false],
  ['169.254.1.1', false],
  ['100.64.0.1', false],
  ['0.0.0.0', false],
  ['8.8.8.8', false],
  ['::1', false],
  ['::', false],
  ['fbff::1', false],
  ['fe00::1', false],
  ['fec0::1', false],
  ['2001:db8::1', false],
  ['::ffff:8.8.8.8', false],
];
test('GetCurrentUser answers exactly the local and private ranges of the specification', async (t) => {
  const admin = await startTestAdmin(t, { trustedProxies: ['127.0.0.1/32'] });
  await admin.addAccount('a');
  for (const [address, isLocal] of RANGES) {
    const headers = { 'x-forwarded-for': address, 'x-socks5-username': 'a' };
    const answer = await send(admin.url + CURRENT, { headers });
    assert.equal(answer.status, isLocal ? 200 : 403, address);
    if (!isLocal) assert.equal(answer.text, '"仅允许本地或内网访问"');
  }
  // The range is checked before the header.
  const outside = await send(admin.url + CURRENT, { headers: { 'x-forwarded-for': '8.8.8.8' } });
  assert.equal(outside.status, 403);
});

test("a request from one of the daemon's own outbound sockets is refused, whatever its headers", async (t) => {
  const peers: [string, number][] = [];
  const admin = await startTestAdmin(t, {
    isOwnOutbound: (peer, local) => {
      assert.equal(local.address, '127.0.0.1', 'unmapped');
      peers.push([peer.address, peer.port]);
      return true;
    },
  });
  const dual = (await admin.listen('::')).replace('[::]', '127.0.0.1');
  for (const path of [LIST, CURRENT, '/', '/nowhere']) {
    const answer = await send(dual + path, { headers: { authorization, 'x-socks5-username': 'a' } });
    assert.deepEqual([answer.status, answer.text], [403, '"禁止通过代理访问管理接口"']);
  }
  for (const [address, port] of peers) {
    assert.equal(address, '127.0.0.1', 'unmapped');
    assert.ok(port > 0);
  }
});

describe('credentials and headers of one server', async () => {
  const admin = await startTestAdmin(suiteScope());

  it('a password with colons and non-ASCII characters logs in; the scheme ignores case', async () => {
    for (const scheme of ['Basic', 'basic', 'BASIC', 'bAsIc']) {
      const headers = { authorization: authorization.replace('Basic', scheme) };
      assert.equal((await send(admin.url + LIST, { headers })).status, 200);
    }
  });

  it('two Authorization headers are refused', async () => {
    const header = `Authorization: ${authorization}\r\n`;
    const received = await exchange(
      admin.url,
      `GET ${LIST} HTTP/1.1\r\nHost: x\r\n${header}${header}Connection: close\r\n\r\n`,
    );
    assert.equal(parseExchange(received).status, 401);
  });

  it('a failed login is logged without the password', async () => {
    const answer = await send(admin.url + LIST, { headers: { authorization: basic('eve\n', 'guess-1') } });
    assert.equal(answer.status, 401);
    const failures = admin.lines.filter(
      ({ msg, username }) => msg === 'admin login failed' && String(username).startsWith('eve'),
    );
    assert.equal(failures.length, 1);
    assert.deepEqual(failures[0], {
      level: 'warn',
      msg: 'admin login failed',
      client: '127.0.0.1',
      username: 'eve\\x0a',
    });
    assert.doesNotMatch(JSON.stringify(admin.lines), /guess-1/);
  });

  it('a request without credentials is refused like a wrong login, and is not logged as one', async () => {
    const linesBefore = admin.lines.length;
    assert.equal((await send(admin.url + LIST)).status, 401);
    assert.equal((await send(`${admin.url}/api/v1/accounts`)).status, 401);
    assert.equal((await send(admin.url + LIST, { headers: { authorization: 'Bearer x' } })).status, 401);
    const failures = admin.lines.slice(linesBefore).filter(({ msg }) => msg === 'admin login failed');
    assert.equal(failures.length, 1, 'only the request with credentials');
  });

  it('no header or field overrides the method', async () => {
    const headers = {
      'x-http-method-override': 'POST',
      'x-http-method': 'POST',
      'x-method-override': 'POST',
    };
    const answer = await admin.api('GET', '/ProxyAccount/AddProxyAccount?_method=POST', { headers });
    assert.equal(answer.status, 405);
  });
});

test('only refused logins are delayed: a missing user header is not', async (t) => {
  // A delay this long would fail the test by its time limit.
  const admin = await startTestAdmin(t, { random: () => 1e6 });
  assert.equal((await send(admin.url + CURRENT)).status, 401);
  assert.equal((await admin.api('GET', '/nowhere')).status, 404);
});

for (const [name, path, request] of [
  ['a refused login', LIST, { headers: { authorization: wrong } }],
  [
    'a refused sign-in to the console',
    '/api/v1/session',
    {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username: 'admin', password: 'wrong' }),
    },
  ],
] as const) {
  test(`${name} is delayed, and delays no other request`, async (t) => {
    const admin = await startTestAdmin(t, { random: () => 1e6 });
    let isAnswered = false;
    void send(admin.url + path, request).then(
      () => {
        isAnswered = true;
      },
      () => undefined,
    );
    await eventually(() => assert.ok(admin.lines.some(({ msg }) => msg === 'admin login failed')));
    assert.equal((await admin.api('GET', LIST)).status, 200);
    assert.equal(isAnswered, false);
  });
}

test('the number of delayed logins per source is limited; further connections are closed', async (t) => {
  let extraSeconds = 1e6;
  const admin = await startTestAdmin(t, {
    maxDelayedPerSource: 5,
    trustedProxies: ['127.0.0.1'],
    random: () => extraSeconds,
  });
  const attempt = (client: string) =>
    send(admin.url + LIST, { headers: { authorization: wrong, 'x-forwarded-for': client } }).then(
      (answer) => answer.status,
      () => 'closed',
    );
  const closed = new Map<string, number>();
  const start = (source: string, clients: readonly string[]): void => {
    closed.set(source, 0);
    for (const client of clients)
      void attempt(client).then(() => closed.set(source, (closed.get(source) ?? 0) + 1));
  };
  start('flood', new Array<string>(30).fill('203.0.113.1'));
  start(
    'one IPv6 /64',
    Array.from({ length: 10 }, (_, i) => `2001:db8:0:1::${i + 1}`),
  );
  start(
    'other sources',
    Array.from({ length: 10 }, (_, i) => `203.0.113.${i + 2}`),
  );
  // Every attempt is either delayed, and logged at once, or closed.
  const delayed = () => admin.lines.filter(({ msg }) => msg === 'admin login failed').length;
  const decided = () => [...closed.values()].reduce((sum, count) => sum + count, delayed());
  await eventually(() => assert.equal(decided(), 50));
  assert.deepEqual(Object.fromEntries(closed), { flood: 25, 'one IPv6 /64': 5, 'other sources': 0 });

  extraSeconds = 0;
  for (let round = 1; round <= 2; round += 1) {
    const answers = await Promise.all(Array.from({ length: 5 }, () => attempt('203.0.113.99')));
    assert.deepEqual(answers, [401, 401, 401, 401, 401], 'a delay that has ended counts no longer');
  }
});

test('closing the connection early does not shorten the delay', async (t) => {
  const admin = await startTestAdmin(t, { maxDelayedPerSource: 2, random: () => 1e6 });
  const guess = `GET ${LIST} HTTP/1.1\r\nHost: x\r\n\r\n`;
  const controller = new AbortController();
  const request = { signal: controller.signal, headers: { authorization: wrong } };
  const aborted = [1, 2].map(() => fetch(admin.url + LIST, request).catch(() => 'aborted'));
  await eventually(() => admin.lines.length >= 2);
  controller.abort();
  await Promise.all(aborted);
  assert.equal(await exchange(admin.url, guess), '');
});

const FOREIGN: [string, Record<string, string>][] = [
  ['Sec-Fetch-Site cross-site', { 'sec-fetch-site': 'cross-site' }],
  ['Sec-Fetch-Site same-site', { 'sec-fetch-site': 'same-site' }],
  ['Sec-Fetch-Site in capitals', { 'sec-fetch-site': 'CROSS-SITE' }],
  ['another origin', { origin: 'http://evil.example' }],
  ['the null origin', { origin: 'null' }],
  ['an empty origin', { origin: '' }],
  ['a file origin', { origin: 'file://' }],
  ['our address on another port', { origin: 'http://127.0.0.1:1' }],
  ['our host as the user of another', { origin: 'http://{host}@evil.example' }],
  ['our host as the beginning of another', { origin: 'http://{host}.evil.example' }],
  ['a path after our host', { origin: 'http://{host}/' }],
  ['two origins', { origin: 'http://{host} http://evil.example' }],
  [
    'Sec-Fetch-Site same-origin with the Origin of another site',
    { 'sec-fetch-site': 'same-origin', origin: 'http://evil.example' },
  ],
];
describe('a change from another site', { concurrency: 8 }, async () => {
  const admin = await startTestAdmin(suiteScope());
  for (const [name, headers] of FOREIGN) {
    test(`is refused: ${name}`, async () => {
      const filled = fillHost(headers, admin.url);
      const json = { Username: 'a', Password: 'b' };
      for (const [method, path] of [
        ['POST', '/ProxyAccount/AddProxyAccount'],
        ['PUT', '/api/v1/settings/whitelist'],
        ['POST', '/nowhere'],
      ] as const) {
        const answer = await admin.api(method, path, { json, headers: filled });
        assert.deepEqual([answer.status, answer.text], [403, '"禁止跨站请求"']);
      }
      assert.equal(admin.directory.size, 0);
      assert.equal(
        (await admin.api('GET', LIST, { headers: filled })).status,
        200,
        'reading changes nothing',
      );
      const anonymous = await send(`${admin.url}/ProxyAccount/AddProxyAccount`, {
        method: 'POST',
        headers: filled,
      });
      assert.equal(anonymous.status, 401, 'credentials are checked first');
    });
  }
});

const OWN: [string, Record<string, string>][] = [
  ['a program without these headers', {}],
  ['our own page', { 'sec-fetch-site': 'same-origin', origin: 'http://{host}' }],
  ['a page behind TLS', { origin: 'https://panel.example', host: 'panel.example' }],
  ['a page behind TLS that names the port', { origin: 'https://panel.example', host: 'panel.example:443' }],
  ['a request of the user itself', { 'sec-fetch-site': 'none' }],
];
describe('a change from the own origin', async () => {
  const admin = await startTestAdmin(suiteScope(), { allowedHosts: ['panel.example'] });
  for (const [index, [name, headers]] of OWN.entries()) {
    test(`is accepted: ${name}`, async () => {
      const json = { Username: `a${index}`, Password: 'b' };
      const answer = await admin.api('POST', '/ProxyAccount/AddProxyAccount', {
        json,
        headers: fillHost(headers, admin.url),
      });
      assert.equal(answer.status, 200, answer.text);
    });
  }
});

function fillHost(headers: Record<string, string>, url: string): Record<string, string> {
  const host = new URL(url).host;
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, value.replace('{host}', host)]),
  );
}
