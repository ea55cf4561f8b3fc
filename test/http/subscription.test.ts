// The link of an account for client programs: what it answers to each, that programs get in with what it says, and that they no
// longer do when it is revoked.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { connectPg } from '../../src/store/pg/connect.js';
import { connectSqlite } from '../../src/store/sqlite/connect.js';
import { makeCertificate, type TestCertificate } from '../helpers/certificate.js';
import { fetchFrom } from '../helpers/console.js';
import { type ApiAnswer, startTestDaemon, type TestDaemon } from '../helpers/daemon.js';
import { databaseOf } from '../helpers/database.js';
import { eventually } from '../helpers/eventually.js';
import { freePort } from '../helpers/ports.js';
import { needs } from '../helpers/programs.js';
import { connectThrough } from '../helpers/socks-client.js';
import { suiteScope } from '../helpers/suite.js';
import { echo, startTarget, type Target } from '../helpers/targets.js';
import { associateThrough, UdpEnd } from '../helpers/udp-client.js';

const run = promisify(execFile);
const TIMEOUT_MS = 30_000;
const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/130.0 Safari/537.36';

interface ClashProxy {
  readonly name: string;
  readonly type: string;
  readonly server: string;
  readonly port: number;
  readonly username: string;
  readonly password: string;
  readonly tls?: boolean;
  readonly udp?: boolean;
}
interface Clash {
  readonly proxies: readonly ClashProxy[];
  readonly 'proxy-groups': readonly {
    readonly name: string;
    readonly type: string;
    readonly proxies: string[];
  }[];
}

describe('a subscription', needs('openssl'), () => {
  const scope = suiteScope();
  let daemon: TestDaemon;
  let certificate: TestCertificate;
  let target: Target;
  let tlsPort: number;
  let web: number;
  let linkPort: number;

  before(async () => {
    certificate = makeCertificate(scope);
    linkPort = await freePort();
    const { certFile: cert, keyFile: key } = certificate;
    daemon = await startTestDaemon(scope, {
      config: {
        timeZone: 'Asia/Shanghai',
        socks: {
          publicHost: '127.0.0.1',
          exitSuffix: ['jp', 'missing'],
          listeners: [
            { host: '127.0.0.1', port: 0, tls: { cert, key } },
            { host: '127.0.0.1', port: 0, proxyProtocol: true },
          ],
          proxyProtocolFrom: ['127.0.0.1'],
        },
        admin: {
          playerPage: {
            enabled: true,
            pac: true,
            port: linkPort,
            title: 'Gate 门',
            contact: 'Ask https://t.me/gate_help or us.',
          },
        },
      },
    });
    await daemon.api('POST', '/api/v1/exits', { name: 'jp', addresses: ['127.0.0.7'] });
    const ready = await daemon.waitForLine(({ msg }) => msg === 'ready');
    tlsPort = Number((ready['socks'] as string[])[1]?.replace(/^.*:/, ''));
    target = await startTarget(scope, echo);
    const server = createServer((request, response) => response.end(`seen ${request.socket.remoteAddress}`));
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    scope.after(() => server.close());
    web = (server.address() as AddressInfo).port;
  });

  async function makeLink(id: string): Promise<string> {
    const made = await daemon.api('POST', `/api/v1/accounts/${id}/subscription`);
    assert.equal(made.status, 201, made.text);
    return new URL((made.json as { url: string }).url).pathname;
  }
  async function addAccount(name: string, fields: object = {}): Promise<{ id: string; link: string }> {
    const id = await daemon.addAccount(name, `of ${name}`);
    if (Object.keys(fields).length > 0) await daemon.api('PATCH', `/api/v1/accounts/${id}`, fields);
    return { id, link: await makeLink(id) };
  }
  const ask = (path: string, userAgent = 'curl/8.5.0'): Promise<ApiAnswer> =>
    fetchFrom(daemon, 'GET', path, { 'user-agent': userAgent });
  async function clashOf(link: string): Promise<Clash> {
    const answer = await ask(`${link}?format=clash`);
    assert.equal(answer.status, 200, answer.text);
    return parse(answer.text) as Clash;
  }
  async function linesOf(link: string, format: 'v2rayn' | 'shadowrocket'): Promise<string[]> {
    const { text } = await ask(`${link}?format=${format}`);
    return Buffer.from(text, 'base64').toString().trim().split('\n');
  }

  it('lists every listener that players reach, those with a certificate first, and by every exit', async () => {
    const { link } = await addAccount('all');
    const { proxies, 'proxy-groups': groups } = await clashOf(link);
    const { port } = daemon.socks;
    assert.deepEqual(
      proxies.map(({ password: _, server: __, ...rest }) => rest),
      [
        { name: '127.0.0.1 TLS', type: 'socks5', port: tlsPort, username: 'all', tls: true, udp: true },
        { name: '127.0.0.1', type: 'socks5', port, username: 'all', udp: true },
        { name: '127.0.0.1 TLS jp', type: 'socks5', port: tlsPort, username: 'all+jp', tls: true, udp: true },
        { name: '127.0.0.1 jp', type: 'socks5', port, username: 'all+jp', udp: true },
      ],
    );
    assert.deepEqual(
      groups.map(({ name, type, proxies: members }) => [name, type, members.length]),
      [
        ['Gate 门', 'select', 5],
        ['Gate 门 auto', 'url-test', 4],
      ],
    );
    const { outbounds } = (await ask(`${link}?format=sing-box`)).json as {
      outbounds: { type: string; tls?: object }[];
    };
    assert.deepEqual(
      outbounds.map(({ type, tls }) => `${type}${tls ? ' tls' : ''}`),
      ['selector', 'urltest', 'http tls', 'socks', 'http tls', 'socks', 'direct'],
    );
    assert.deepEqual(
      (await linesOf(link, 'shadowrocket')).map((line) => line.slice(0, line.indexOf(':'))),
      ['https', 'socks', 'https', 'socks'],
    );
    const pac = await ask(`${link}?format=pac`, BROWSER);
    assert.match(pac.text, new RegExp(`HTTPS 127.0.0.1:${tlsPort}; PROXY 127.0.0.1:${port}; SOCKS5`));
  });

  it('has a listener that serves links and nothing else', async () => {
    const { id, link } = await addAccount('apart');
    const own = `http://127.0.0.1:${linkPort}`;
    const made = await daemon.api('POST', `/api/v1/accounts/${id}/subscription`);
    const { url } = made.json as { url: string };
    assert.ok(url.startsWith(`${own}/sub/`), url);
    assert.match(await (await fetch(`${url}?format=clash`)).text(), /^mode: rule/);
    assert.equal((await fetch(own + link)).status, 404, 'replaced');
    for (const path of [
      '/',
      '/api/v1/accounts',
      '/healthz',
      '/metrics',
      '/hooks/agent',
      '/ProxyAccount/GetCurrentUser',
    ]) {
      const answer = await fetch(own + path, { headers: { 'x-socks5-username': 'apart' } });
      assert.equal(answer.status, 404, path);
    }
  });

  it('tells programs apart, and what they show of the account', async () => {
    const expiresAt = '2100-01-01T00:00:00.000Z';
    const { link } = await addAccount('told', {
      expiresAt,
      limits: { quotaBytes: 5_000, quotaPeriod: 'month' },
    });
    for (const [program, type] of [
      ['ClashforWindows/0.20.39', 'text/yaml'],
      ['clash-verge/v2.0', 'text/yaml'],
      ['Stash/3.1.1 Clash/1.9.0', 'text/yaml'],
      ['SFI/1.12 (sing-box 1.12.0)', 'application/json'],
      ['HiddifyNext/4.1.1 (android) like ClashMeta v2ray sing-box', 'application/json'],
      ['Shadowrocket/2070 CFNetwork/1335', 'text/plain'],
      ['v2rayN/7.0', 'text/plain'],
      ['curl/8.5.0', 'text/plain'],
    ] as const) {
      const { headers, status } = await ask(link, program);
      assert.deepEqual([status, headers.get('content-type')], [200, `${type}; charset=utf-8`], program);
      const expire = Date.parse(expiresAt) / 1000;
      assert.equal(
        headers.get('subscription-userinfo'),
        `upload=0; download=0; total=5000; expire=${expire}`,
      );
      assert.equal(headers.get('profile-update-interval'), '12');
      assert.equal(headers.get('support-url'), 'https://t.me/gate_help');
      const title = headers.get('profile-title') ?? '';
      assert.equal(Buffer.from(title.slice('base64:'.length), 'base64').toString(), 'Gate 门');
      assert.match(
        headers.get('content-disposition') ?? '',
        /^attachment; filename\*=UTF-8''Gate%20%E9%97%A8\.\w+$/,
      );
      assert.ok(headers.get('profile-web-page-url')?.endsWith(link));
      assert.match(headers.get('cache-control') ?? '', /no-store/);
    }
    const refused = await ask(`${link}?format=surge`);
    assert.equal(refused.status, 400);
    assert.match(refused.text, /clash, sing-box, shadowrocket, v2rayn, links, pac, page/);
    const shown = (await ask(`${link}/status`, BROWSER)).json as Record<string, unknown>;
    assert.deepEqual([shown['hasTls'], shown['contact']], [true, 'Ask https://t.me/gate_help or us.']);
    assert.equal(shown['contactUrl'], 'https://t.me/gate_help');
    assert.ok(String(shown['subscription']).endsWith(link));
  });

  it('says in a named entry why the account cannot be used', async () => {
    const { id, link } = await addAccount('blocked');
    const nameAfter = async (change: object): Promise<string | undefined> => {
      const answer = await daemon.api('PATCH', `/api/v1/accounts/${id}`, change);
      assert.equal(answer.status, 200, answer.text);
      const { proxies } = await clashOf(link);
      return proxies.length === 1 ? proxies[0]?.name : undefined;
    };
    assert.equal(await nameAfter({ isEnabled: false }), '已停用 · Disabled');
    assert.equal(
      await nameAfter({ isEnabled: true, expiresAt: '2020-02-02T16:00:00Z' }),
      '已过期 · Expired 2020-02-03',
    );
    assert.equal(await nameAfter({ expiresAt: null }), undefined);
    assert.equal(await nameAfter({ limits: { quotaBytes: 1 } }), undefined, 'nothing is used yet');
    const session = await connectAs(link);
    session.send('more than a byte');
    await session.closed();
    await eventually(async () => assert.equal(await nameAfter({}), '流量已用完 · Quota used up'));
  });

  /** Connects with the credentials of the plain entry. */
  async function connectAs(link: string) {
    const { proxies } = await clashOf(link);
    const entry = proxies.find(({ tls }) => !tls);
    assert.ok(entry);
    return connectThrough(entry, target.host, target.port);
  }

  it('has its own password: revoking it ends its sessions and no others', async () => {
    const { id, link } = await addAccount('both');
    const { port } = daemon.socks;
    const own = await connectThrough(
      { port, username: 'both', password: 'of both' },
      target.host,
      target.port,
    );
    const byLink = await connectAs(link);
    const [{ password = '' } = {}] = (await clashOf(link)).proxies;
    assert.match(password, /^link-[\w-]{20}$/);
    const association = await associateThrough(scope, { port, username: 'both', password });
    const end = await UdpEnd.open(scope);
    association.send('127.0.0.1', end.port, 'hello');
    assert.equal((await end.receive()).data.toString(), 'hello');
    const second = await makeLink(id);
    await byLink.closed();
    await association.control.closed();
    await daemon.waitForLine(({ msg, end: why }) => msg === 'session ended' && why === 'link-revoked');
    assert.equal((await ask(link)).status, 404);
    await assert.rejects(connectThrough({ port, username: 'both', password }, target.host, target.port));
    (await connectAs(second)).destroy();
    own.send('still here');
    assert.equal((await own.read(10)).toString(), 'still here');
    own.destroy();
    const path = `/api/v1/accounts/${id}/subscription`;
    assert.equal((await daemon.api('DELETE', path)).status, 204);
    assert.equal((await ask(second)).status, 404);
    // The link of an import goes on working, for programs and for logins.
    const moved = await addAccount('moved');
    const files = '/api/v1/accounts/export?format=json&withHashes=true';
    const [file] = (JSON.parse((await daemon.api('GET', files)).text) as { username: string }[]).filter(
      ({ username }) => username === 'moved',
    );
    assert.ok(file);
    await daemon.api('DELETE', `/api/v1/accounts/${moved.id}`);
    assert.equal((await ask(moved.link)).status, 404);
    const imported = await daemon.api('POST', '/api/v1/accounts/import?format=json&dryRun=false', [file]);
    assert.equal(imported.status, 200, imported.text);
    await eventually(async () => (await connectAs(moved.link)).destroy());
  });

  it('is in no log and in no database', async () => {
    const { link } = await addAccount('secret');
    await ask(link);
    const [{ password = '' } = {}] = (await clashOf(link)).proxies;
    const token = link.slice('/sub/'.length);
    const shown = JSON.stringify(daemon.lines) + (await daemon.api('GET', '/api/v1/audit')).text;
    assert.ok(!shown.includes(token) && !shown.includes(password));
    const db = await connectDatabase();
    const rows = JSON.stringify([await db('accounts'), await db('audit')]);
    assert.ok(rows.includes('secret') && !rows.includes(token) && !rows.includes(password));
  });

  async function connectDatabase() {
    const options = await databaseOf(daemon.dataDir);
    const db =
      options.client === 'pg'
        ? connectPg(options.connection, 1)
        : connectSqlite(options.client, join(options.dataDir, 'pulsegate.db'), 5_000);
    scope.after(() => db.destroy());
    return db;
  }

  it('leaves the addresses of earlier versions valid, without the formats, until it is made or they are revoked', async () => {
    const db = await connectDatabase();
    const tokens = { page: 'A'.repeat(24), pac: 'B'.repeat(24) };
    const insert = async (accountId: string) => {
      for (const [kind, token] of Object.entries(tokens))
        await db('player_links').insert({
          account_id: accountId,
          kind,
          hash: createHash('sha256').update(token).digest('hex'),
          token: null,
          created_at: 1,
        });
    };
    const statuses = async () => {
      const paths = [
        `/player/${tokens.page}/status`,
        `/player/${tokens.page}?format=page`,
        `/pac/${tokens.pac}.pac`,
      ];
      return Promise.all(paths.map(async (path) => (await ask(path, BROWSER)).status));
    };
    const id = await daemon.addAccount('former', 'secret');
    const path = `/api/v1/accounts/${id}/subscription`;
    await insert(id);
    assert.deepEqual((await daemon.api('GET', path)).json, {
      isServed: true,
      createdAt: null,
      hasFormerAddress: true,
    });
    const page = await ask(`/player/${tokens.page}/status`, BROWSER);
    assert.deepEqual([page.status, (page.json as { subscription: null }).subscription], [200, null]);
    assert.match((await ask(`/pac/${tokens.pac}.pac`)).text, /FindProxyForURL/);
    const formats = await ask(`/player/${tokens.page}?format=clash`, 'clash');
    assert.doesNotMatch(formats.text, /proxies/);
    assert.equal((await daemon.api('DELETE', path)).status, 204);
    assert.deepEqual(await statuses(), [404, 404, 404]);
    assert.equal((await daemon.api('DELETE', path)).status, 404);
    await insert(id);
    await makeLink(id);
    assert.deepEqual(await statuses(), [404, 404, 404], 'the new link takes their place');
  });

  describe('real programs, set up field by field', () => {
    it('curl by each of the plain links, the encrypted ones too', needs('curl'), async () => {
      const { link } = await addAccount('curl');
      const links = (await ask(`${link}?format=links`)).text.trim().split('\n');
      assert.equal(links.length, 4);
      const seen = [];
      for (const each of links) {
        const proxy = each.replace(/#.*$/, '');
        const args = [
          '-sS',
          '-m',
          '20',
          '--proxy-cacert',
          certificate.certFile,
          '-x',
          proxy,
          `http://127.0.0.1:${web}/`,
        ];
        seen.push((await run('curl', args, { timeout: TIMEOUT_MS })).stdout);
      }
      assert.deepEqual(seen, ['seen 127.0.0.1', 'seen 127.0.0.1', 'seen 127.0.0.7', 'seen 127.0.0.7']);
    });

    it('v2ray by the list of v2rayN', needs('v2ray', 'curl'), async () => {
      const { link } = await addAccount('v2ray');
      const entry = (await linesOf(link, 'v2rayn')).find((line) => line.startsWith('socks://'));
      // As SocksFmt.cs of v2rayN reads it.
      const { username, hostname, port } = new URL(entry ?? '');
      const [user, pass] = Buffer.from(username, 'base64url').toString().split(/:(.*)/s);
      const local = await freePort();
      const config = {
        log: { loglevel: 'warning' },
        inbounds: [
          {
            listen: '127.0.0.1',
            port: local,
            protocol: 'socks',
            settings: { auth: 'password', accounts: [{ user: 'u', pass: 'p' }], udp: true, ip: '127.0.0.1' },
          },
        ],
        outbounds: [
          {
            protocol: 'socks',
            settings: { servers: [{ address: hostname, port: Number(port), users: [{ user, pass }] }] },
          },
        ],
      };
      const file = join(dirname(daemon.configFile), 'v2ray.json');
      writeFileSync(file, JSON.stringify(config));
      const program = spawn('v2ray', ['-config', file], { stdio: 'ignore' });
      scope.after(() => program.kill('SIGKILL'));
      const url = `http://127.0.0.1:${web}/`;
      await eventually(async () => {
        const { stdout } = await run('curl', [
          '-sS',
          '-m',
          '5',
          '-x',
          `socks5h://u:p@127.0.0.1:${local}`,
          url,
        ]);
        assert.equal(stdout, 'seen 127.0.0.1');
      });
      const end = await UdpEnd.open(scope);
      const association = await associateThrough(scope, { port: local, username: 'u', password: 'p' });
      association.send('127.0.0.1', end.port, 'over udp');
      assert.equal((await end.receive()).data.toString(), 'over udp');
    });
  });
});
