// The player page: its secret address, its contents and changes, and that it gives access to one account only.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startTestAdmin } from '../helpers/admin.js';
import { runCommand } from '../helpers/command.js';
import { fetchFrom } from '../helpers/console.js';
import { type ApiAnswer, startTestDaemon, type TestDaemon } from '../helpers/daemon.js';
import { eventually } from '../helpers/eventually.js';
import { send } from '../helpers/http.js';
import { connectThrough } from '../helpers/socks-client.js';
import { suiteScope } from '../helpers/suite.js';
import { echo, startTarget, type Target } from '../helpers/targets.js';

interface Device {
  readonly address: string;
  readonly sessions: number;
}
interface Status {
  readonly username: string;
  readonly devices: readonly Device[];
  readonly authorizedAddresses: readonly string[];
  readonly ownAddress: string | null;
  readonly pac: string | null;
  readonly now: string;
  readonly usage: unknown;
}

/** Browsers get the page. */
const BROWSER = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36' };
/** Sets the player's address, as the trusted proxy does. */
const from = (address: string) => ({ 'x-forwarded-for': address, ...BROWSER });
/** An address outside the whitelist. */
const PLAYER = from('203.0.113.7');
/** Why the page itself cannot be tested; false when it can. */
const notBuilt = existsSync(fileURLToPath(new URL('../../player/index.html', import.meta.url)))
  ? false
  : 'the page of players is not built (npm run build)';
const UNKNOWN = '/sub/AAAAAAAAAAAAAAAAAAAAAAAA';

describe("a player's page", () => {
  const scope = suiteScope();
  let daemon: TestDaemon;
  let target: Target;
  const ids = new Map<string, string>();
  /** The path of the page by user name. */
  const pages = new Map<string, string>();

  before(async () => {
    daemon = await startTestDaemon(scope, {
      config: {
        socks: { maxAuthorizedAddresses: 2, publicHost: 'play.example' },
        admin: {
          trustedProxies: ['127.0.0.1'],
          playerPage: {
            enabled: true,
            pac: true,
            outsideWhitelist: true,
            url: 'https://play.example',
            mayChange: ['password', 'authorizedAddresses'],
            minCharacters: 6,
          },
        },
      },
    });
    target = await startTarget(scope, echo);
    // The header makes the test's own requests come from 127.0.0.1, which stays on the list.
    const list = await daemon.api('PUT', '/api/v1/settings/whitelist', {
      whitelist: '127.0.0.1, 198.51.100.1',
    });
    assert.equal(list.status, 200);
    for (const name of ['one', 'two', 'busy']) {
      ids.set(name, await daemon.addAccount(name, `of ${name}`, { Remarks: `remarks of ${name}` }));
      pages.set(name, await renewLink(name));
    }
  });

  /** Makes a new page address for an account. */
  async function renewLink(name: string): Promise<string> {
    const made = await daemon.api('POST', `/api/v1/accounts/${ids.get(name)}/subscription`);
    assert.equal(made.status, 201, made.text);
    const { url, guess } = made.json as { url: string; guess: string | null };
    assert.match(url, /^https:\/\/play\.example\/sub\/[\w-]{24}$/);
    assert.equal(guess, null);
    return url.slice('https://play.example'.length);
  }

  const ask = (method: string, path: string, body?: unknown, headers = PLAYER): Promise<ApiAnswer> =>
    fetchFrom(daemon, method, path, headers, body);
  const post = (name: string, path: string, body: unknown, headers = PLAYER): Promise<ApiAnswer> =>
    ask('POST', `${pages.get(name)}/${path}`, body, headers);
  async function status(name: string, headers = PLAYER): Promise<Status> {
    const answer = await ask('GET', `${pages.get(name)}/status`, undefined, headers);
    assert.equal(answer.status, 200, answer.text);
    return answer.json as Status;
  }
  const connectAs = (name: string, password = `of ${name}`) =>
    connectThrough({ port: daemon.socks.port, username: name, password }, target.host, target.port);
  async function auditOf(
    name: string,
  ): Promise<{ action: string; actor: string; via: string; address: string }[]> {
    const answer = await daemon.api('GET', `/api/v1/audit?via=player&search=${name}`);
    return (answer.json as { items: { action: string; actor: string; via: string; address: string }[] })
      .items;
  }

  it('is served outside the whitelist, with a strict policy, and must not be cached', {
    skip: notBuilt,
  }, async () => {
    const page = await ask('GET', pages.get('one') ?? '');
    assert.equal(page.status, 200);
    assert.match(page.headers.get('content-type') ?? '', /^text\/html/);
    assert.match(
      page.headers.get('content-security-policy') ?? '',
      /default-src 'none'.*frame-ancestors 'none'/,
    );
    assert.equal(page.headers.get('cache-control'), 'no-store');
    assert.equal(page.headers.get('referrer-policy'), 'no-referrer');
    assert.match(page.headers.get('x-robots-tag') ?? '', /noindex/);
    const [, script = ''] = /<script[^>]* src="([^"]+)"/.exec(page.text) ?? [];
    const code = await ask('GET', script);
    assert.equal(code.status, 200);
    assert.match(code.headers.get('cache-control') ?? '', /immutable/);
    assert.doesNotMatch(
      code.text,
      /\/api\/v1|listAccounts|whitelist/,
      'the console’s code is not for players',
    );
    const consolePage = await ask('GET', '/');
    assert.equal(consolePage.status, 403, 'the console stays behind the whitelist');
  });

  it('shows the data of its account that a player may see', async () => {
    const { text, headers } = await ask('GET', `${pages.get('one')}/status`);
    assert.equal(headers.get('cache-control'), 'no-store');
    const shown = JSON.parse(text) as Status;
    assert.equal(shown.username, 'one');
    for (const secret of ['remarks of one', 'two', ids.get('one') ?? '', 'egressClass', 'tags'])
      assert.ok(!text.includes(secret), secret);
  });

  it('tells the address that the server sees, and the traffic of seven days', async () => {
    const seen = await ask('GET', `${pages.get('one')}/seen`);
    assert.deepEqual(seen.json, { address: '203.0.113.7' });
    const { days } = (await ask('GET', `${pages.get('one')}/traffic`)).json as { days: { day: string }[] };
    assert.equal(days.length, 7);
    assert.equal((await ask('GET', `${UNKNOWN}/traffic`)).status, 404);
    assert.equal((await ask('GET', `${pages.get('one')}/picture`)).status, 404, 'none is set');
  });

  it('has one address, which the operator renews and revokes', async () => {
    const old = pages.get('one') ?? '';
    pages.set('one', await renewLink('one'));
    assert.equal((await ask('GET', old)).status, 404);
    await status('one');
    const path = `/api/v1/accounts/${ids.get('one')}/subscription`;
    assert.equal((await daemon.api('DELETE', path)).status, 204);
    assert.equal((await ask('GET', pages.get('one') ?? '')).status, 404);
    assert.equal((await daemon.api('DELETE', path)).status, 404);
    const { json } = await daemon.api('GET', path);
    assert.deepEqual(json, { isServed: true, createdAt: null, hasFormerAddress: false });
    pages.set('one', await renewLink('one'));
    const { items } = (await daemon.api('GET', `/api/v1/audit?objectId=${ids.get('one')}`)).json as {
      items: { action: string }[];
    };
    const actions = items.map(({ action }) => action);
    assert.equal(actions.filter((action) => action === 'account.subscription').length, 3);
    assert.equal(actions.filter((action) => action === 'account.subscription-revoke').length, 1);
    const shown = JSON.stringify(daemon.lines) + (await daemon.api('GET', '/api/v1/audit')).text;
    assert.ok(![old, ...pages.values()].some((secret) => shown.includes(secret.slice('/sub/'.length))));
  });

  it('answers an unknown token like an unknown path', async () => {
    const answers = await Promise.all(
      [UNKNOWN, `${UNKNOWN}/status`, '/sub', '/sub/x', '/player/x', `${pages.get('two')}/nothing`].map(
        (path) => ask('GET', path, undefined, from('203.0.113.40')),
      ),
    );
    const [first, ...others] = answers.map(({ status: code, text, headers }) => ({
      code,
      text,
      type: headers.get('content-type'),
      policy: headers.get('cache-control'),
    }));
    assert.deepEqual(first, {
      code: 404,
      text: '"路径不存在"',
      type: 'application/json; charset=utf-8',
      policy: 'no-store',
    });
    for (const other of others) assert.deepEqual(other, first);
  });

  it('refuses too many guesses without locking out others at the same address', async () => {
    // The proxy itself, which is the address of the administrator too.
    const guesser = BROWSER as typeof PLAYER;
    const guesses = await Promise.all(
      Array.from({ length: 20 }, () => ask('GET', UNKNOWN, undefined, guesser)),
    );
    assert.ok(guesses.every(({ status: code }) => code === 404));
    const refused = await ask('GET', UNKNOWN, undefined, guesser);
    assert.equal(refused.status, 429);
    assert.ok(Number(refused.headers.get('retry-after')) > 0);
    await status('two', guesser);
    assert.equal((await daemon.api('GET', '/api/v1/accounts')).status, 200, 'the administrator from there');
  });

  it('disconnects a device: the sessions of its address, and of no other account', async () => {
    const [ownSession, otherSession] = [await connectAs('one'), await connectAs('two')];
    const [device] = await eventually(async () => {
      const { devices } = await status('one');
      assert.equal(devices.length, 1);
      return devices;
    });
    assert.equal(device?.address, '127.0.0.1');
    const ended = await post('one', 'devices/end', { address: device?.address });
    assert.equal(ended.status, 200, ended.text);
    await ownSession.closed();
    await eventually(async () => assert.deepEqual((await status('one')).devices, []));
    assert.equal((await status('two')).devices.length, 1, 'the other account has the same address');
    const [entry] = await auditOf('one');
    assert.deepEqual(
      { action: entry?.action, actor: entry?.actor, address: entry?.address },
      { action: 'session.end', actor: 'one', address: '203.0.113.7' },
    );
    otherSession.destroy();
  });

  it('sets a new password, and ends the sessions of the old one', async () => {
    const session = await connectAs('one');
    const made = await post('one', 'password', {});
    assert.equal(made.status, 200, made.text);
    const { password, formats } = made.json as {
      password: string;
      formats: { format: string; text: string }[];
    };
    await session.closed();
    const link = formats.find(({ format }) => format === 'link')?.text ?? '';
    assert.ok(link.startsWith(`socks5h://one:${password}@`), link);
    const again = await connectAs('one', password);
    again.destroy();
    await assert.rejects(connectAs('one'), 'the old password');
    const chosen = await post('one', 'password', { password: 'of one' });
    assert.equal((chosen.json as { password: string }).password, 'of one');
    const short = await post('one', 'password', { password: 'of on' });
    assert.equal(short.status, 400);
    assert.match(short.text, /"code":"short-password","values":\{"min":6\}/);
    assert.equal((await post('one', 'password', { password: '  ' })).status, 400);
    assert.ok((await auditOf('one')).some(({ action }) => action === 'account.password'));
  });

  it('outlives a reset of the password, unless the reset replaces it', async () => {
    const id = await daemon.addAccount('leaked', 'first');
    const reset = async (body: object) => {
      const answer = await daemon.api('POST', `/api/v1/accounts/${id}/password`, body);
      assert.equal(answer.status, 200, answer.text);
      return (answer.json as { subscription: { url: string } | null }).subscription;
    };
    assert.equal(await reset({ replaceSubscription: true }), null, 'there is no link');
    const made = await daemon.api('POST', `/api/v1/accounts/${id}/subscription`);
    const page = new URL((made.json as { url: string }).url).pathname;
    const statusOf = async (path: string) => (await ask('GET', `${path}/status`)).status;
    assert.equal(await reset({}), null);
    assert.equal(await statusOf(page), 200);
    const replaced = await reset({ password: 'second', replaceSubscription: true });
    assert.equal(await statusOf(page), 404);
    assert.equal(await statusOf(new URL(replaced?.url ?? '').pathname), 200);
  });

  it("authorizes the player's own address, as a trusted proxy reports it", async () => {
    const added = await post('one', 'addresses', {}, from('203.0.113.7'));
    assert.deepEqual((added.json as Status).authorizedAddresses, ['203.0.113.7']);
    assert.equal((added.json as Status).ownAddress, null, 'the address is already authorized');
    const taken = await post('two', 'addresses', {}, from('203.0.113.7'));
    assert.equal(taken.status, 409);
    assert.ok(!taken.text.includes('one'), 'the response does not name the account that has it');
    const six = await post('one', 'addresses', {}, from('2001:db8:1:2:3::4'));
    assert.deepEqual((six.json as Status).authorizedAddresses, ['203.0.113.7', '2001:db8:1:2::/64']);
    assert.equal(
      (await post('one', 'addresses', {}, from('203.0.113.8'))).status,
      400,
      'maxAuthorizedAddresses is 2',
    );
    const removed = await post('one', 'addresses/remove', { address: '203.0.113.7' });
    assert.deepEqual((removed.json as Status).authorizedAddresses, ['2001:db8:1:2::/64']);
    // Without the header, the address would be the proxy's own, and every player would log in as this account.
    const own = await ask('POST', `${pages.get('one')}/addresses`, {}, BROWSER as typeof PLAYER);
    assert.equal(own.status, 409);
  });

  it('gives no access to another account', async () => {
    const otherId = ids.get('two') ?? '';
    const session = await connectAs('two');
    const { items } = (await daemon.api('GET', `/api/v1/sessions?accountId=${otherId}`)).json as {
      items: { id: string }[];
    };
    await daemon.api('PATCH', `/api/v1/accounts/${otherId}`, { authorizedAddresses: ['198.51.100.9'] });
    const before = await status('two');
    const token = (pages.get('two') ?? '').slice('/sub/'.length);
    // The requests name the other account in every part that could contain a name. Each must be ignored.
    const tries = [otherId, 'two', items[0]?.id ?? '', token].flatMap((name) => {
      const query = `?id=${name}&accountId=${name}&username=${name}&token=${name}`;
      const body = { id: name, accountId: name, username: name, address: name, ids: [name] };
      return [
        ask('GET', `${pages.get('one')}/status${query}`),
        post('one', `devices/end${query}`, body),
        post('one', `addresses/remove${query}`, { ...body, address: '198.51.100.9' }),
        ask('GET', `${pages.get('one')}/${name}/status`),
        ask('DELETE', `${pages.get('one')}/devices/${name}`),
      ];
    });
    for (const answer of await Promise.all(tries)) {
      assert.ok([200, 404].includes(answer.status), answer.text);
      if (answer.status === 200) assert.equal((answer.json as Status).username, 'one');
    }
    assert.deepEqual(
      { ...(await status('two')), now: 0, devices: [], usage: 0 },
      { ...before, now: 0, devices: [], usage: 0 },
    );
    assert.equal((await status('two')).devices.length, 1, 'its session continues');
    session.destroy();
    const asOperator = await fetchFrom(daemon, 'GET', '/api/v1/accounts', {
      authorization: `Bearer ${token}`,
    });
    assert.equal(asOperator.status, 401, 'the token of a page is no API token');
  });

  it('refuses changes of a disabled account, and limits the number of changes', async () => {
    const path = `/api/v1/accounts/${ids.get('busy')}`;
    await daemon.api('PATCH', path, { isEnabled: false });
    assert.equal((await post('busy', 'password', {})).status, 403);
    await daemon.api('PATCH', path, { isEnabled: true });
    for (let change = 0; change < 20; change += 1)
      assert.equal((await post('busy', 'devices/end', { address: '192.0.2.1' })).status, 200);
    const refused = await post('busy', 'devices/end', { address: '192.0.2.1' });
    assert.equal(refused.status, 429);
    assert.ok(Number(refused.headers.get('retry-after')) > 3_000);
    await status('busy');
  });

  it("has a PAC file as one of its formats, made from the operator's rules", async () => {
    const { pac } = await status('two');
    assert.equal(pac, `https://play.example${pages.get('two')}?format=pac`);
    const file = pac?.slice('https://play.example'.length) ?? '';

    const rules = { rules: [{ match: '*.game.example', via: 'proxy' }], otherwise: 'direct' };
    assert.equal((await daemon.api('PUT', '/api/v1/settings/pac', rules)).status, 200);
    const first = await ask('GET', file);
    assert.equal(first.status, 200);
    assert.equal(first.headers.get('content-type'), 'application/x-ns-proxy-autoconfig');
    assert.match(first.text, /"below",".game.example",1/);
    assert.ok(
      first.text.includes(`PROXY play.example:${daemon.socks.port}; SOCKS5 play.example:`),
      first.text,
    );
    const etag = first.headers.get('etag') ?? '';
    // `fetch` would request a fresh copy.
    const conditional = () => send(daemon.adminUrl + file, { headers: { ...PLAYER, 'if-none-match': etag } });
    const again = await conditional();
    assert.deepEqual([again.status, again.text], [304, '']);
    await daemon.api('PUT', '/api/v1/settings/pac', { rules: [], otherwise: 'proxy' });
    assert.equal((await conditional()).status, 200);

    for (const match of ['*', 'a b', '例.example'])
      assert.equal(
        (
          await daemon.api('PUT', '/api/v1/settings/pac', {
            rules: [{ match, via: 'proxy' }],
            otherwise: 'direct',
          })
        ).status,
        400,
        match,
      );
    const many = (n: number) => ({
      rules: Array.from({ length: n }, (_, i) => ({ match: `g${i}.example`, via: 'proxy' })),
      otherwise: 'direct',
    });
    assert.equal((await daemon.api('PUT', '/api/v1/settings/pac', many(1_001))).status, 400);
    assert.equal((await daemon.api('PUT', '/api/v1/settings/pac', many(1_000))).status, 200);
  });

  it('is removed with its account, and can be managed on the command line', async () => {
    const cli = (...args: string[]) =>
      runCommand(dirname(daemon.configFile), ['account', 'subscription', ...args]);
    const made = await cli('create', 'busy', '--yes');
    assert.equal(made.code, 0, made.stderr);
    const page = made.stdout.trim().slice('https://play.example'.length);
    assert.equal((await ask('GET', `${page}/status`)).status, 200);
    assert.equal(
      (await ask('GET', pages.get('busy') ?? '')).status,
      404,
      'the new address replaces the old one',
    );
    assert.match((await cli('show', 'busy')).stdout, /^Link created 20/);
    assert.equal((await cli('revoke', 'busy', '--yes')).code, 0);
    assert.equal((await ask('GET', page)).status, 404);
    pages.set('busy', await renewLink('busy'));
    assert.equal((await daemon.api('DELETE', `/api/v1/accounts/${ids.get('busy')}`)).status, 200);
    assert.equal((await ask('GET', pages.get('busy') ?? '')).status, 404);
  });
});

describe('the configuration of the player page', () => {
  const scope = suiteScope();

  it('is off by default', async (t) => {
    const off = await startTestAdmin(t);
    const id = await off.addAccount('one');
    const refused = await off.api('POST', `/api/v1/accounts/${id}/subscription`);
    assert.equal(refused.status, 409);
    assert.equal((await off.api('GET', UNKNOWN)).status, 404);
  });

  it('keeps the page behind the whitelist when it is on', async () => {
    const on = await startTestDaemon(scope, {
      config: {
        admin: {
          trustedProxies: ['127.0.0.1'],
          playerPage: { enabled: true, mayChange: [], maxRequestsPerMinute: 4 },
        },
      },
    });
    await on.api('PUT', '/api/v1/settings/whitelist', { whitelist: '127.0.0.1' });
    const made = await on.api(
      'POST',
      `/api/v1/accounts/${await on.addAccount('one', 'secret')}/subscription`,
    );
    const { url, guess } = made.json as { url: string; guess: string };
    assert.ok(url.startsWith(`${on.adminUrl}/sub/`), url);
    assert.equal(guess, 'browser');
    const path = url.slice(on.adminUrl.length);
    assert.equal((await fetchFrom(on, 'GET', path, PLAYER)).status, 403);
    const page = await fetchFrom(on, 'GET', path, BROWSER);
    assert.equal(page.status, notBuilt ? 503 : 200, page.text);
    for (const action of ['password', 'addresses'])
      assert.equal((await fetchFrom(on, 'POST', `${path}/${action}`, {}, {})).status, 403);
    assert.equal((await fetchFrom(on, 'GET', `${path}/status`, {})).status, 200);
    const fifth = await fetchFrom(on, 'GET', `${path}/status`, {});
    assert.equal(fifth.status, 429, 'the fifth request of a minute');
    assert.ok(Number(fifth.headers.get('retry-after')) >= 1);
  });
});
