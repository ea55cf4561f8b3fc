// Account files over /api/v1 on a real daemon: export and import, dry run, kept, replaced and skipped accounts, large files.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, it } from 'node:test';
import { MAX_EXITS } from '../../../src/core/exits/exit.js';
import { codeOf, fetchFrom } from '../../helpers/console.js';
import { ADMIN, startTestDaemon, type TestDaemon } from '../../helpers/daemon.js';
import { eventually } from '../../helpers/eventually.js';
import { basic, exchange } from '../../helpers/http.js';
import { loginsDuring } from '../../helpers/logins-during.js';
import { scaled } from '../../helpers/scale.js';
import { connectThrough, loggedInClient } from '../../helpers/socks-client.js';
import { suiteScope } from '../../helpers/suite.js';
import { startTarget } from '../../helpers/targets.js';

type Json = Record<string, unknown>;
const MAX_IMPORT_BYTES = 65_536;
const SHOP = { name: 'shop', role: 'seller', password: 'password of the shop' } as const;
const MANY = scaled(10_000, 4_000);
const authorization = basic(ADMIN.username, ADMIN.password);

async function importFile(daemon: TestDaemon, content: string, query = '', type = 'text/csv') {
  const path = `/api/v1/accounts/import${query}`;
  return fetchFrom(daemon, 'POST', path, { authorization, 'content-type': type }, content);
}
const counts = (report: unknown) => {
  const { read, added, replaced, kept, skipped, failed } = report as Json;
  return [read, added, replaced, kept, skipped, failed];
};

describe('account files', async () => {
  const scope = suiteScope();
  const [daemon, other] = await Promise.all([
    startTestDaemon(scope, { config: { admin: { maxImport: '64KiB' } } }),
    startTestDaemon(scope, { operators: [SHOP] }),
  ]);

  it('a dry run reports every line; the import does the same', async () => {
    await daemon.addAccount('dry-old', 'secret', { Remarks: 'before' });
    const file =
      'username,password,remarks,maxSessions\ndry-new,pw,"=1+1",3\ndry-old,pw2,after,\n,x,,\ndry-new,again,,\n';
    const dry = await importFile(daemon, file, '?dryRun=true');
    assert.equal(dry.status, 200, dry.text);
    assert.deepEqual(counts(dry.json), [4, 1, 0, 0, 1, 2]);
    const { lines } = dry.json as { lines: Json[] };
    assert.deepEqual(
      lines.map(({ line, username, outcome }) => [line, username, outcome]),
      [
        [3, 'dry-old', 'skipped'],
        [4, null, 'failed'],
        [5, 'dry-new', 'failed'],
        [2, 'dry-new', 'added'],
      ],
    );
    const list = async () =>
      ((await daemon.api('GET', '/api/v1/accounts?search=dry-')).json as { items: Json[] }).items;
    assert.equal((await list()).length, 1);
    assert.deepEqual(counts((await importFile(daemon, file)).json), [4, 1, 0, 0, 1, 2]);
    const kept = await importFile(daemon, file, '?existing=keep');
    assert.deepEqual(counts(kept.json), [4, 0, 0, 2, 0, 2]);
    assert.deepEqual(
      (await list()).map(({ username, remarks }) => [username, remarks]),
      [
        ['dry-new', '=1+1'],
        ['dry-old', 'before'],
      ],
    );
    assert.deepEqual(counts((await importFile(daemon, file, '?existing=replace')).json), [4, 0, 2, 0, 0, 2]);
    const [first, second] = await list();
    assert.deepEqual(
      [second?.['remarks'], (first?.['limits'] as Json | undefined)?.['maxSessions']],
      ['after', 3],
    );
    (await loggedInClient({ port: daemon.socks.port, username: 'dry-old', password: 'pw2' })).destroy();
    const audit = (await daemon.api('GET', `/api/v1/audit?objectId=${second?.['id']}`)).json as {
      items: Json[];
    };
    assert.equal(audit.items[0]?.['action'], 'account.update');
  });

  it('an import that is sent again with its key gets the first report, and changes nothing', async () => {
    const send = (content: string, key: string, query = '?existing=replace') =>
      fetchFrom(
        daemon,
        'POST',
        `/api/v1/accounts/import${query}`,
        { authorization, 'content-type': 'text/csv', 'idempotency-key': key },
        content,
      );
    const file = `username,password,remarks\n${Array.from({ length: 450 }, (_, n) => `key-${n},pw,first\n`).join('')}`;
    const first = await send(file, 'import-1');
    assert.deepEqual([first.status, counts(first.json)], [200, [450, 450, 0, 0, 0, 0]], first.text);
    const { items } = (await daemon.api('GET', '/api/v1/accounts?search=key-7')).json as { items: Json[] };
    await daemon.api('PATCH', `/api/v1/accounts/${items[0]?.['id']}`, { remarks: 'since' });
    const again = await send(file, 'import-1');
    assert.equal(again.headers.get('idempotency-replayed'), 'true');
    assert.deepEqual([again.status, again.text], [200, first.text]);
    const now = (await daemon.api('GET', `/api/v1/accounts/${items[0]?.['id']}`)).json as Json;
    assert.equal(now['remarks'], 'since');
    for (const other of [
      await send(file.replace('first', 'other'), 'import-1'),
      await send(file, 'import-1', '?existing=keep'),
    ])
      assert.deepEqual([other.status, codeOf(other)], [422, 'key-reused'], other.text);
    assert.deepEqual(counts((await send(file, 'import-2')).json), [450, 0, 450, 0, 0, 0]);
    const broken = await send('no heading\n', 'import-3');
    assert.equal(broken.status, 200, broken.text);
    assert.equal((await send('no heading\n', 'import-3')).text, broken.text);
  });

  it('a client that disconnects in the middle of its file causes no error in the log', async () => {
    const socket = connect(Number(new URL(daemon.adminUrl).port), '127.0.0.1');
    socket.write(
      `POST /api/v1/accounts/import HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${authorization}\r\n` +
        'Content-Type: text/csv\r\nContent-Length: 1000\r\nExpect: 100-continue\r\n\r\nusername,',
    );
    await once(socket, 'data');
    const nextImport = async (status: number) =>
      assert.equal((await importFile(daemon, 'username,password\n')).status, status);
    await eventually(() => nextImport(429));
    socket.destroy();
    await eventually(() => nextImport(200));
    await exchange(daemon.adminUrl, 'GET / HTTP/1.1\r\nHost: last.line\r\nConnection: close\r\n\r\n');
    await daemon.waitForLine(({ host }) => host === 'last.line');
    assert.ok(!daemon.lines.some(({ msg }) => msg === 'admin request failed'));
  });

  it("an import is one entry of the audit log, and each account's history names the import", async () => {
    const audit = async (query = '') =>
      (await daemon.api('GET', `/api/v1/audit?limit=500${query}`)).json as { items: Json[]; matched: number };
    const before = await audit();
    await importFile(daemon, 'username,password\nnobody,\n', '?fileName=faulty.csv');
    await importFile(daemon, 'username,password\nnobody,x\n', '?fileName=tried.csv&dryRun=true');
    assert.deepEqual(await audit(), before, 'an import that changes nothing has no entry');

    // Two transactions, and a last line that fails.
    const names = Array.from({ length: 250 }, (_, i) => `p${i},secret,3`);
    const file = ['username,password,maxSessions', ...names, 'p0,again,'].join('\n');
    const report = await importFile(daemon, file, '?fileName=players.csv');
    assert.deepEqual(counts(report.json), [251, 250, 0, 0, 0, 1]);
    const log = await audit();
    assert.deepEqual([log.matched, log.items.length], [before.matched + 1, before.items.length + 1]);
    const [entry] = log.items;
    assert.deepEqual(
      [entry?.['action'], entry?.['actor'], entry?.['object'], entry?.['after'], entry?.['import']],
      [
        'account.import',
        ADMIN.username,
        { type: 'import', id: null, name: 'players.csv' },
        { read: 251, added: 250, failed: 1 },
        null,
      ],
    );
    const { AID } = await daemon.account('p7');
    const history = await audit(`&objectId=${AID}`);
    assert.deepEqual(
      history.items.map(({ action, import: source }) => [action, source]),
      [
        ['account.limits', { action: 'account.import', id: entry?.['id'], name: 'players.csv' }],
        ['account.create', { action: 'account.import', id: entry?.['id'], name: 'players.csv' }],
      ],
    );
    assert.equal((await audit(`&importId=${entry?.['id']}`)).matched, 500);
  });

  it('files of CCProxy can be imported and exported; tokens cannot export password hashes', async () => {
    const ini =
      '[System]\r\nUserCount=1\r\n[User001]\r\nUserName=one\r\nPassword=902901900\r\nMaxConn=2\r\nAutoDisable=1\r\nDisableDateTime=2030-01-02 03:04:05\r\nWebFilter=2\r\n';
    const tried = await importFile(daemon, ini, '?format=ccproxy&dryRun=true', 'text/plain');
    assert.deepEqual((tried.json as { lost: unknown }).lost, [{ setting: 'web-filter', accounts: 1 }]);
    const report = await importFile(daemon, ini, '?format=ccproxy&zone=Asia/Shanghai', 'text/plain');
    assert.deepEqual(counts(report.json), [1, 1, 0, 0, 0, 0], report.text);
    (await loggedInClient({ port: daemon.socks.port, username: 'one', password: 'abc' })).destroy();
    const out = await daemon.api(
      'GET',
      '/api/v1/accounts/export?format=ccproxy&zone=Asia/Shanghai&search=one',
    );
    assert.match(
      out.text,
      /\[User001\]\r\nUserName=one\r\nPassword=\r\n[^[]*MaxConn=2\r\n[^[]*DisableDateTime=2030-01-02 03:04:05\r\n/,
    );
    assert.equal((await daemon.account('one'))['ExpiresAt'], '2030-01-01T19:04:05');
    assert.equal((await daemon.api('GET', '/api/v1/accounts/export?zone=Mars')).status, 400);
    const made = await daemon.api('POST', '/api/v1/tokens', { name: 't', scopes: ['accounts:read'] });
    const { secret } = made.json as { secret: string };
    const ask = (query: string) =>
      fetchFrom(daemon, 'GET', `/api/v1/accounts/export?${query}`, { authorization: `Bearer ${secret}` });
    assert.equal((await ask('format=json')).status, 200);
    assert.equal(codeOf(await ask('format=json&withHashes=true')), 'wrong-scope');
  });

  describe('outgoing addresses of CCProxy', () => {
    const fileOf = (users: Readonly<Record<string, string>>): string =>
      Object.entries(users)
        .map(([name, address], n) => `[User00${n}]\nUserName=${name}\nPassword=x\nOutgoingIP=${address}\n`)
        .join('');
    const exits = async () =>
      ((await other.api('GET', '/api/v1/exits')).json as { items: Json[] }).items.map(
        ({ name, addresses, accounts }) => [name, addresses, accounts],
      );
    const exitOf = async (name: string) =>
      ((await other.api('GET', `/api/v1/accounts?search=${name}`)).json as { items: Json[] }).items[0]?.[
        'exit'
      ];
    const imported = async (users: Readonly<Record<string, string>>, query = '', auth = authorization) => {
      const path = `/api/v1/accounts/import?format=ccproxy${query}`;
      const headers = { authorization: auth, 'content-type': 'text/plain' };
      const report = (await fetchFrom(other, 'POST', path, headers, fileOf(users))).json as Json;
      return [report['added'], report['replaced'], report['failed'], report['exits'], report['lost']];
    };
    const lost = (setting: string) => [{ setting, accounts: 1 }];
    const tokenOf = async (...scopes: string[]) => {
      const made = (await other.api('POST', '/api/v1/tokens', { name: scopes.join(), scopes })).json as Json;
      return `Bearer ${made['secret']}`;
    };
    const users = { o1: '127.0.0.2', o2: '127.0.0.3', o3: '127.0.0.2', o4: '203.0.113.1' };

    it('become exits, one for each address of this machine, and accounts leave from theirs', async (t) => {
      await other.api('POST', '/api/v1/exits', { name: '127.0.0.3', addresses: ['127.0.0.1'] });
      assert.deepEqual(await imported(users, '&dryRun=true'), [4, 0, 0, 2, lost('outgoing-address')]);
      assert.deepEqual(await exits(), [['127.0.0.3', ['127.0.0.1'], 0]], 'a dry run adds none');
      assert.deepEqual(await imported(users), [4, 0, 0, 2, lost('outgoing-address')]);
      assert.deepEqual(await exits(), [
        ['127.0.0.2', ['127.0.0.2'], 2],
        ['127.0.0.3', ['127.0.0.1'], 0],
        ['127.0.0.3_2', ['127.0.0.3'], 1],
      ]);
      assert.deepEqual(await Promise.all(Object.keys(users).map(exitOf)), [
        ...['127.0.0.2', '127.0.0.3_2', '127.0.0.2', null],
      ]);
      const seen: unknown[] = [];
      const { port } = await startTarget(t, (socket) => {
        seen.push(socket.remoteAddress);
        socket.end();
      });
      for (const username of ['o1', 'o2', 'o4']) {
        const account = { port: other.socks.port, username, password: 'x' };
        (await connectThrough(account, '127.0.0.1', port)).destroy();
      }
      await eventually(() => assert.deepEqual(seen, ['127.0.0.2', '127.0.0.3', '127.0.0.1']));
    });

    it('are in an export, and an import of it gives accounts the same exits', async () => {
      await other.api('POST', '/api/v1/exits', { name: 'two', addresses: ['127.0.0.2', '127.0.0.9'] });
      const { json } = await other.api('POST', '/api/v1/accounts', { username: 'o5', exit: 'two' });
      const query = 'format=ccproxy&sort=username&search=o';
      const { text } = await fetchFrom(other, 'GET', `/api/v1/accounts/export?${query}`, { authorization });
      assert.deepEqual(text.match(/^(?:UserName|OutgoingIP)=\S+/gm), [
        ...['UserName=o1', 'OutgoingIP=127.0.0.2', 'UserName=o2', 'OutgoingIP=127.0.0.3'],
        ...['UserName=o3', 'OutgoingIP=127.0.0.2', 'UserName=o4', 'OutgoingIP=0.0.0.0'],
        ...['UserName=o5', 'OutgoingIP=0.0.0.0'],
      ]);
      const { id } = (json as { account: Json }).account;
      await other.api('DELETE', `/api/v1/accounts/${id}`);
      await other.api('DELETE', '/api/v1/exits/two');
      const path = '/api/v1/accounts/import?format=ccproxy&existing=replace';
      const headers = { authorization, 'content-type': 'text/plain' };
      await fetchFrom(other, 'POST', path, headers, text.replace(/\[User005\][^[]*/, ''));
      assert.deepEqual(await Promise.all(Object.keys(users).map(exitOf)), [
        ...['127.0.0.2', '127.0.0.3_2', '127.0.0.2', null],
      ]);
    });

    it('are those of existing accounts only when these are replaced', async () => {
      const moved = { o1: '127.0.0.4', o2: '127.0.0.3' };
      assert.deepEqual(await imported(moved, '&existing=keep'), [0, 0, 0, 0, []]);
      assert.equal(await exitOf('o1'), '127.0.0.2');
      assert.deepEqual(await imported(moved, '&existing=replace'), [0, 2, 0, 1, []]);
      assert.deepEqual([await exitOf('o1'), await exitOf('o2')], ['127.0.0.4', '127.0.0.3_2']);
    });

    it('are left out without the rights, and the accounts are imported', async () => {
      const accounts = await tokenOf('accounts:read', 'accounts:write');
      assert.deepEqual(await imported({ r1: '127.0.0.2' }, '', accounts), [
        1,
        0,
        0,
        0,
        lost('outgoing-exit'),
      ]);
      const chooser = await tokenOf('accounts:read', 'accounts:write', 'egress:write');
      assert.deepEqual(await imported({ r2: '127.0.0.2', r3: '127.0.0.9' }, '', chooser), [
        ...[2, 0, 0, 0],
        lost('outgoing-exit'),
      ]);
      assert.deepEqual(
        [await exitOf('r1'), await exitOf('r2'), await exitOf('r3')],
        [null, '127.0.0.2', null],
      );
    });

    it('of sellers are those of exits that were given to them', async () => {
      const sellers = other.operators.map(({ id }) => id);
      assert.equal((await other.api('PATCH', '/api/v1/exits/127.0.0.4', { sellers })).status, 200);
      const given = { s1: '127.0.0.4', s2: '127.0.0.2' };
      assert.deepEqual(await imported(given, '', basic(SHOP.name, SHOP.password)), [
        ...[2, 0, 0, 0],
        lost('outgoing-exit'),
      ]);
      // The administrator gives the seller's accounts no other exits either, and adds none for them.
      const others = { s1: '127.0.0.2', s2: '127.0.0.9' };
      assert.deepEqual(await imported(others, '&existing=replace'), [
        ...[0, 2, 0, 0],
        [{ setting: 'outgoing-exit', accounts: 2 }],
      ]);
      assert.deepEqual([await exitOf('s1'), await exitOf('s2')], ['127.0.0.4', null]);
    });

    it('end at as many exits as there can be', async () => {
      const left = MAX_EXITS - (await exits()).length;
      const many = Array.from({ length: left + 1 }, (_, n) => [`e-${n}`, `127.1.${n >> 7}.${(n & 127) + 1}`]);
      const last = { ...Object.fromEntries(many), again: '127.1.0.1' };
      assert.deepEqual(await imported(last), [left + 2, 0, 0, left, lost('outgoing-exits')]);
      assert.equal((await exits()).length, MAX_EXITS);
      const names = await Promise.all([`e-${left - 1}`, `e-${left}`, 'again'].map(exitOf));
      assert.deepEqual(names, [many[left - 1]?.[1], null, '127.1.0.1']);
    });
  });

  describe('keep passwords, limits and usage when moved to another daemon', () => {
    const [from, to] = [other, daemon];
    for (const [format, type] of [
      ['csv', 'text/csv'],
      ['json', 'application/json'],
    ] as const)
      it(`in a ${format} file`, async () => {
        const header =
          'username,password,expiresAt,quotaBytes,quotaPeriod,totalBytesUp,totalBytesDown,periodBytes\n';
        const made = await importFile(
          from,
          `${header}alice,secret,2030-01-01T00:00:00,5000,never,300,200,400\n`,
        );
        assert.deepEqual(counts(made.json), [1, 1, 0, 0, 0, 0]);
        const exported = await from.api(
          'GET',
          `/api/v1/accounts/export?format=${format}&withHashes=true&search=alice`,
        );
        assert.equal(exported.status, 200);
        assert.match(exported.headers.get('content-disposition') ?? '', /attachment; filename="accounts\./);
        const report = await importFile(to, exported.text, `?format=${format}`, type);
        assert.deepEqual(counts(report.json), [1, 1, 0, 0, 0, 0], report.text);
        (await loggedInClient({ port: to.socks.port, username: 'alice', password: 'secret' })).destroy();
        const { items } = (await to.api('GET', '/api/v1/accounts?search=alice')).json as { items: Json[] };
        const [alice] = items;
        const usage = alice?.['usage'] as Json;
        assert.deepEqual([usage['totalBytesUp'], usage['totalBytesDown']], [300, 200]);
        assert.equal((alice?.['limits'] as Json | undefined)?.['quotaBytes'], 5_000);
        assert.equal(alice?.['expiresAt'], '2030-01-01T00:00:00.000Z');
        const again = await importFile(to, exported.text, `?format=${format}&existing=replace`, type);
        assert.deepEqual(counts(again.json), [1, 0, 1, 0, 0, 0]);
        const after = (await to.api('GET', '/api/v1/accounts?search=alice')).json as { items: Json[] };
        assert.deepEqual(after.items[0]?.['usage'], usage, 'usage is not counted twice');
        for (const daemon of [from, to]) {
          const { AID } = await daemon.account('alice');
          assert.equal((await daemon.api('DELETE', `/api/v1/accounts/${AID}`)).status, 200);
        }
      });
  });

  it('that are too large or of another type are refused, and a truncated line fails', async () => {
    const head = 'username,password\n';
    const exact = head + 'a,b\n'.padStart(MAX_IMPORT_BYTES - head.length, '\n');
    assert.equal(Buffer.byteLength(exact), MAX_IMPORT_BYTES);
    assert.equal((await importFile(daemon, exact)).status, 200);
    const over = await importFile(daemon, `${exact}\n`);
    assert.deepEqual([over.status, codeOf(over)], [413, 'too-large']);
    // Without Content-Length it is refused in the middle of the upload, and the connection serves the next request.
    const fields = `Host: localhost\r\nAuthorization: ${authorization}\r\n`;
    const chunk = `4e20\r\n${'x'.repeat(20_000)}\r\n`;
    const answers = await exchange(
      daemon.adminUrl,
      `POST /api/v1/accounts/import HTTP/1.1\r\n${fields}Content-Type: text/csv\r\nTransfer-Encoding: chunked\r\n\r\n` +
        `${chunk.repeat(20)}0\r\n\r\nGET /api/v1/me HTTP/1.1\r\n${fields}Connection: close\r\n\r\n`,
    );
    assert.deepEqual(answers.match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 413', 'HTTP/1.1 200']);
    const wrong = await importFile(daemon, head, '', 'application/xml');
    assert.deepEqual([wrong.status, codeOf(wrong)], [415, 'unsupported-media-type']);
    const cut = await importFile(daemon, 'username,password\n"a,b\n');
    assert.deepEqual(counts(cut.json), [1, 0, 0, 0, 0, 1]);
  });

  it(`of ${MANY} accounts are imported without delaying logins`, async (t) => {
    await other.addAccount('player', 'secret');
    const hash = 'sha256$00000000000000000000000000000000$'.padEnd(104, '0');
    const rows = Array.from({ length: MANY }, (_, i) => `many${i},${hash},imported`);
    const importing = importFile(other, `username,passwordHash,remarks\n${rows.join('\n')}\n`);
    const login = { port: other.socks.port, username: 'player', password: 'secret' };
    const logins = await loginsDuring(importing, login);
    const report = await importing;
    assert.deepEqual(counts(report.json), [MANY, MANY, 0, 0, 0, 0], report.text.slice(0, 500));
    const { lines, linesLeftOut } = report.json as { lines: unknown[]; linesLeftOut: number };
    assert.deepEqual([lines.length, linesLeftOut], [1_000, MANY - 1_000]);
    t.diagnostic(`${logins} logins meanwhile`);
    // A login that waited for the import would wait for all of it.
    assert.ok(logins > 2, `${logins} logins`);
  });
});
