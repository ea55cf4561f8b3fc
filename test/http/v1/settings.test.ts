// The settings on a real daemon: whitelist, game rules, retention, password, effective configuration, backup.
import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, test } from 'node:test';
import { parse, stringify } from 'yaml';
import { runCommand } from '../../helpers/command.js';
import { codeOf, fetchFrom, signIn } from '../../helpers/console.js';
import { ADMIN, startTestDaemon } from '../../helpers/daemon.js';
import { eventually } from '../../helpers/eventually.js';
import { basic } from '../../helpers/http.js';
import { connectThrough } from '../../helpers/socks-client.js';
import { suiteScope } from '../../helpers/suite.js';
import { echo, startTarget } from '../../helpers/targets.js';

type Json = Record<string, unknown>;
const WHITELIST = '/api/v1/settings/whitelist';
const GAMES = '/api/v1/settings/games';
const RETENTION = '/api/v1/settings/retention';

describe('settings', async () => {
  const secret = 'a-secret-of-more-than-32-characters-long';
  const daemon = await startTestDaemon(suiteScope(), {
    config: { webhooks: { enabled: true, secret } },
    env: { PULSEGATE_LOG__LEVEL: 'debug' },
  });

  it('a whitelist is explained entry by entry, and one that locks its author out is refused with keepMyAccess', async () => {
    const check = async (whitelist: string, address?: string) => {
      const answer = await daemon.api('POST', `${WHITELIST}/check`, { whitelist, address });
      assert.equal(answer.status, 200, answer.text);
      return answer.json as Json & { entries: Json[] };
    };
    const explained = await check('10.0.0.0/8, 192.168.1.7，10.1*\n2001:db8::/33, fe80::*, *, nonsense');
    assert.deepEqual(
      explained.entries.map(({ text, kind, first, last }) => [text, kind, first, last]),
      [
        ['10.0.0.0/8', 'cidr', '10.0.0.0', '10.255.255.255'],
        ['192.168.1.7', 'address', '192.168.1.7', '192.168.1.7'],
        ['10.1*', 'wildcard', '10.1.0.0', '10.199.255.255'],
        ['2001:db8::/33', 'cidr', '2001:db8::', '2001:db8:7fff:ffff:ffff:ffff:ffff:ffff'],
        ['fe80::*', 'wildcard', 'fe80::', 'fe80::ffff:ffff:ffff:ffff:ffff'],
        ['*', 'everyone', null, null],
        ['nonsense', 'invalid', null, null],
      ],
    );
    assert.deepEqual([explained['valid'], explained['yourAddressAllowed']], [false, false]);
    const checked = await check('10.0.*, 127.0.0.0/8', '::ffff:10.0.3.4');
    assert.deepEqual(
      [
        checked['yourAddress'],
        checked['yourAddressAllowed'],
        checked['address'],
        checked['addressAllowed'],
        checked['matchedBy'],
      ],
      ['127.0.0.1', true, '10.0.3.4', true, '10.0.*'],
    );
    assert.equal((await check('', 'nonsense'))['addressAllowed'], null);

    const lockOut = await daemon.api('PUT', `${WHITELIST}?keepMyAccess=true`, { whitelist: '10.9.8.7' });
    assert.deepEqual([lockOut.status, codeOf(lockOut)], [409, 'would-lock-you-out']);
    assert.equal(
      (await daemon.api('PUT', `${WHITELIST}?keepMyAccess=true`, { whitelist: '127.*' })).status,
      200,
    );
    const etag = (await daemon.api('GET', WHITELIST)).headers.get('etag') ?? '';
    assert.equal(
      (await daemon.api('PUT', WHITELIST, { whitelist: '' }, { 'if-match': '"old"' })).status,
      412,
    );
    assert.equal((await daemon.api('PUT', WHITELIST, { whitelist: '*' }, { 'if-match': etag })).status, 200);
    const audit = await daemon.api('GET', '/api/v1/audit?action=settings.whitelist');
    const { items } = audit.json as { items: Json[] };
    assert.deepEqual(
      [items[0]?.['before'], items[0]?.['after']],
      [{ whitelist: '127.*' }, { whitelist: '*' }],
    );
  });

  it('of two changes for the same version at once, one is saved and the other one refused', async () => {
    const days = { heartbeatsPerAccount: 1_000, sessionDays: 30, runDays: 1, loginDays: 1, auditDays: 400 };
    for (const [path, bodies] of [
      [WHITELIST, [{ whitelist: '127.*, ::1' }, { whitelist: '127.*, ::2' }]],
      [
        RETENTION,
        [
          { ...days, heartbeatDays: 8 },
          { ...days, heartbeatDays: 9 },
        ],
      ],
    ] as const) {
      const before = await daemon.api('GET', path);
      const etag = before.headers.get('etag') ?? '';
      const answers = await Promise.all(
        bodies.map((body) => daemon.api('PUT', path, body, { 'if-match': etag })),
      );
      assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 412]);
      const saved = answers.findIndex(({ status }) => status === 200);
      assert.deepEqual((await daemon.api('GET', path)).json, bodies[saved]);
      assert.equal((await daemon.api('PUT', path, before.json)).status, 200);
    }
  });

  it('game rules can be tested without saving, with the result of each rule', async () => {
    const rules = [
      { id: 'udp', match: { protocol: 'udp' } },
      { id: 'port', match: { ports: [1] } },
      { id: 'host', match: { hosts: ['*.arena.example'] } },
      { gameId: 'ID=([A-Z]+);', match: { ports: [9000] } },
      { id: 'rest' },
    ];
    const ask = async (destination: string, text = '') => {
      const bytes = Buffer.from(text).toString('base64');
      const answer = await daemon.api('POST', `${GAMES}/test`, { rules, destination, bytes });
      return answer.json as { rule: number | null; gameId: string | null; steps: { outcome: string }[] };
    };
    const found = await ask('[2001:db8::1]:9000', 'hello ID=CHESS;');
    assert.deepEqual([found.rule, found.gameId], [3, 'CHESS']);
    assert.deepEqual(
      found.steps.map(({ outcome }) => outcome),
      ['other-protocol', 'other-port', 'other-host', 'matched'],
    );
    const rest = await ask('a.example:9000', 'nothing');
    assert.deepEqual([rest.rule, rest.steps[3]?.outcome], [4, 'pattern-not-found']);
    for (const destination of ['a', 'a:0', 'a:65536', ':1', '::1:5']) {
      const answer = await daemon.api('POST', `${GAMES}/test`, { rules, destination });
      assert.equal(answer.status, 400, destination);
    }
  });

  it('a changed retention applies while the daemon runs, and is shown as effective', async (t) => {
    const before = await daemon.api('GET', RETENTION);
    const values = before.json as Json;
    assert.deepEqual(values, {
      heartbeatDays: 30,
      heartbeatsPerAccount: 10_000,
      sessionDays: 90,
      runDays: 30,
      loginDays: 90,
      auditDays: 365,
    });
    const next = { ...values, heartbeatsPerAccount: 2 };
    assert.equal((await daemon.api('PUT', RETENTION, next, { 'if-match': '"old"' })).status, 412);
    assert.equal((await daemon.api('PUT', RETENTION, next)).status, 200);
    assert.equal((await daemon.api('PUT', RETENTION, { ...next, loginDays: 0 })).status, 400);
    const target = await startTarget(t, echo);
    await daemon.addAccount('alice', 'secret');
    for (let i = 0; i < 3; i++) {
      const account = { port: daemon.socks.port, username: 'alice', password: 'secret' };
      (await connectThrough(account, '127.0.0.1', target.port)).destroy();
    }
    await eventually(async () => assert.equal((await daemon.account('alice'))['DataCount'], 2));
    const effective = (await daemon.api('GET', '/api/v1/settings/effective')).json as { entries: Json[] };
    const entry = (path: string) => effective.entries.find((each) => each['path'] === path);
    assert.deepEqual(entry('heartbeats.retention.perAccount')?.['source'], 'console');
    assert.deepEqual(entry('heartbeats.retention.days')?.['source'], 'default');
    assert.deepEqual(entry('heartbeats.retention.perAccount')?.['default'], '10000');
    assert.deepEqual(entry('shutdownGrace')?.['default'], '30s');
    assert.deepEqual([entry('shutdownGrace')?.['value'], entry('shutdownGrace')?.['source']], ['1s', 'file']);
  });

  it('the effective configuration is shown with sources, without secrets, and with keys that need a restart', async () => {
    const answer = await daemon.api('GET', '/api/v1/settings/effective');
    assert.equal(answer.status, 200, answer.text);
    assert.ok(!answer.text.includes(secret));
    const { entries, configFile, database } = answer.json as {
      entries: Json[];
      configFile: string;
      database: Json;
    };
    const entry = (path: string) => entries.find((each) => each['path'] === path);
    assert.equal(configFile, daemon.configFile);
    assert.equal(entry('webhooks.secret')?.['isSecret'], true);
    assert.equal(entry('log.level')?.['source'], 'environment');
    assert.equal(entry('socks.handshakeTimeout')?.['value'], '10s');
    assert.ok(Number(database['bytes']) > 0);

    const now = async () => (await daemon.api('GET', '/api/v1/settings/effective')).json as Json;
    const file = await readFile(daemon.configFile, 'utf8');
    const written = parse(file) as Json;
    assert.deepEqual([(await now())['needsRestart'], (await now())['problem']], [[], null]);
    await writeFile(
      daemon.configFile,
      stringify({ ...written, stopTimeout: '33s', heartbeats: { interval: '7s' } }),
    );
    assert.deepEqual((await now())['needsRestart'], ['heartbeats.interval', 'stopTimeout']);
    await writeFile(daemon.configFile, stringify({ ...written, stopTimeout: 'soon' }));
    assert.deepEqual((await now())['needsRestart'], []);
    assert.match(String((await now())['problem']), /stopTimeout/);
    await writeFile(daemon.configFile, file);
  });

  it('a new admin password needs the current one, and ends the other sessions', async () => {
    const [changing, other] = [await signIn(daemon), await signIn(daemon)];
    const change = (current: string, next: string) =>
      changing.api('PUT', '/api/v1/settings/admin-password', { current, next });
    assert.equal((await change('wrong', 'next')).status, 400);
    assert.equal((await change(ADMIN.password, ' ')).status, 400);
    const short = await change(ADMIN.password, 'seven77');
    assert.equal(short.status, 400);
    assert.match(short.text, /at least 8 characters/);
    assert.equal((await change(ADMIN.password, 'the-next-password')).status, 204);
    const warning = await daemon.waitForLine(
      ({ msg }) => msg === 'admin password will be overwritten at the next start',
    );
    assert.equal(warning['givenBy'], 'the variable PULSEGATE_ADMIN_PASSWORD');
    const me = (await changing.api('GET', '/api/v1/me')).json as { isPasswordGiven: boolean };
    assert.equal(me.isPasswordGiven, true, 'the console can warn before the change');
    assert.equal((await changing.api('GET', '/api/v1/me')).status, 200);
    assert.equal((await other.api('GET', '/api/v1/me')).status, 401);
    assert.equal((await daemon.api('GET', '/api/v1/me')).status, 401, 'the old password');
    const body = { username: ADMIN.username, password: 'the-next-password' };
    assert.equal((await fetchFrom(daemon, 'POST', '/api/v1/session', {}, body)).status, 200);
    const audit = await changing.api('GET', '/api/v1/audit?action=admin.password&via=console');
    assert.equal((audit.json as Json)['matched'], 1);
    assert.ok(!audit.text.includes('the-next-password'));
    assert.equal((await change('the-next-password', ADMIN.password)).status, 204);
  });

  it('a backup can be downloaded from the running daemon, leaves no file there, and can be restored', async (t) => {
    await daemon.addAccount('kept', 'secret');
    const folder = await mkdtemp(join(tmpdir(), 'pulsegate-backup-'));
    t.after(() => rm(folder, { recursive: true, force: true }));
    const answer = await fetch(`${daemon.adminUrl}/api/v1/backup`, {
      headers: { authorization: basic(ADMIN.username, ADMIN.password) },
    });
    assert.equal(answer.status, 200);
    assert.match(
      answer.headers.get('content-disposition') ?? '',
      /^attachment; filename="pulsegate-[\dTZ-]+\.db"$/,
    );
    const file = join(folder, 'backup.db');
    await writeFile(file, Buffer.from(await answer.arrayBuffer()));
    assert.deepEqual(
      (await readdir(daemon.dataDir)).filter((name) => name.includes('backup')),
      [],
    );
    await writeFile(join(folder, 'pulsegate.yaml'), 'dataDir: data\n');
    const restored = await runCommand(folder, ['restore', file, '--yes']);
    assert.equal(restored.code, 0, restored.stderr);
    assert.match((await runCommand(folder, ['account', 'list'])).stdout, /kept/);

    const { items } = (await daemon.api('GET', '/api/v1/audit?limit=1')).json as { items: Json[] };
    assert.equal(items[0]?.['action'], 'backup.download');
    const made = await daemon.api('POST', '/api/v1/tokens', {
      name: 'all',
      scopes: ['settings:read', 'settings:write'],
    });
    const authorization = `Bearer ${String((made.json as Json)['secret'])}`;
    const refused = await fetch(`${daemon.adminUrl}/api/v1/backup`, { headers: { authorization } });
    assert.equal(refused.status, 403);
  });
});

test('saved game rules apply to the next session, are kept over a restart, and can be discarded', async (t) => {
  const target = await startTarget(t, echo);
  const config = { heartbeats: { games: [{ id: 'from-file' }] } };
  const daemon = await startTestDaemon(t, { config });
  await daemon.addAccount('alice', 'secret');
  const gameOfNextSession = async () => {
    const account = { port: daemon.socks.port, username: 'alice', password: 'secret' };
    const client = await connectThrough(account, '127.0.0.1', target.port);
    const { items } = (await daemon.api('GET', '/api/v1/sessions')).json as { items: Json[] };
    client.destroy();
    await client.closed();
    return items.at(0)?.['gameId'];
  };
  const before = await daemon.api('GET', GAMES);
  assert.deepEqual(before.json, { rules: [{ id: 'from-file', match: {}, maxBytes: 4096 }], source: 'file' });
  assert.equal(await gameOfNextSession(), 'from-file');
  const rules = [{ id: 'saved', match: { ports: [`${target.port}-${target.port}`], protocol: 'tcp' } }];
  const stale = await daemon.api('PUT', GAMES, { rules }, { 'if-match': '"old"' });
  assert.equal(stale.status, 412);
  const etag = before.headers.get('etag') ?? '';
  assert.equal((await daemon.api('PUT', GAMES, { rules }, { 'if-match': etag })).status, 200);
  assert.equal(await gameOfNextSession(), 'saved');
  for (const [wrong, path] of [
    [[{ id: 'a', gameId: '(b)' }], 'body.rules[0]'],
    [[{ id: 'ok' }, { gameId: '(a' }], 'body.rules[1].gameId'],
    [[{ id: 'a', match: { ports: ['9-8'] } }], 'body.rules[0].match.ports[0]'],
    [[{ id: 'a', match: { hosts: ['*.*'] } }], 'body.rules[0].match.hosts[0]'],
  ] as const) {
    const refused = await daemon.api('PUT', GAMES, { rules: wrong });
    assert.equal(refused.status, 400);
    assert.equal((refused.json as { errors: { path: string }[] }).errors[0]?.path, path);
  }
  daemon.signal('SIGTERM');
  await daemon.exited();
  const restarted = await startTestDaemon(t, { config, dataDir: daemon.dataDir });
  assert.deepEqual((await restarted.api('GET', GAMES)).json, { rules, source: 'console' });
  assert.equal(((await restarted.api('DELETE', GAMES)).json as Json)['source'], 'file');
});
