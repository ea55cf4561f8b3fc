// Exits: by which address, family or proxy the sessions of accounts leave, over every command and protocol, on both engines.
import assert from 'node:assert/strict';
import { connect, createServer } from 'node:net';
import { describe, it, test } from 'node:test';
import { parseIp } from '../../src/core/addresses/ip.js';
import {
  addressesOf,
  chooseAddress,
  isExitAddress,
  NEW_EXIT,
  parseProxy,
} from '../../src/core/exits/exit.js';
import { ExitFigures, seenAddress } from '../../src/core/exits/exit-figures.js';
import { runCommand } from '../helpers/command.js';
import { type LogLine, PROJECT, startTestDaemon } from '../helpers/daemon.js';
import { eventually } from '../helpers/eventually.js';
import { FakeSession } from '../helpers/fake-session.js';
import {
  connectThrough,
  greeting,
  loggedInClient,
  login,
  RawClient,
  readReply,
  request,
} from '../helpers/socks-client.js';
import { suiteScope } from '../helpers/suite.js';
import { echo, startTarget, tellAddress } from '../helpers/targets.js';
import { associateThrough, UdpEnd } from '../helpers/udp-client.js';

const EXITS = '/api/v1/exits';

for (const engine of ['native', 'node'] as const) {
  describe(`exits with the ${engine} engine`, async () => {
    const scope = suiteScope();
    const target = await startTarget(scope, tellAddress);
    const daemon = await startTestDaemon(scope, {
      config: {
        socks: {
          engine,
          workers: engine === 'native' ? 3 : 'auto',
          bind: { enabled: true },
          udp: { enabled: true },
          exitSuffix: ['jp', 'missing'],
        },
        egress: {
          private: 'allow',
          exitTest: `http://127.0.0.1:${target.port}/ip`,
          exitChecks: { interval: '1s', timeout: '4s' },
        },
      },
    });
    /** A living proxy for exits. */
    const child = await startTestDaemon(scope, { config: { egress: { private: 'allow' } } });
    const childLogin = { username: 'child', password: 'child-secret' };
    await child.addAccount(childLogin.username, childLogin.password);
    const api = async (method: string, path: string, body?: object, status = 200) => {
      const answer = await daemon.api(method, path, body);
      assert.equal(answer.status, status, answer.text);
      return answer.json as Record<string, unknown>;
    };
    /** The address by which a request to the HTTP proxy leaves, and the status of its answer. */
    async function seenOverHttp(username: string, password = 'secret') {
      const client = await RawClient.connect(daemon.socks.port);
      const credentials = Buffer.from(`${username}:${password}`).toString('base64');
      client.send(
        `GET http://127.0.0.1:${target.port}/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\nProxy-Authorization: Basic ${credentials}\r\n\r\n`,
      );
      const answer = (await client.readToEnd()).toString();
      return [answer.split(' ')[1], seenAddress(answer)];
    }
    const idOf = new Map<string, string>();
    /** An account of its own for each use, so that no session of another is seen. */
    async function accountWith(exit: string | null, username: string) {
      idOf.set(username, await daemon.addAccount(username, 'secret'));
      await api('PATCH', `/api/v1/accounts/${idOf.get(username)}`, { exit });
      return { port: daemon.socks.port, username, password: 'secret' };
    }
    const seenBy = async (account: { port: number; username: string; password: string }) => {
      const client = await connectThrough(account, '127.0.0.1', target.port);
      client.send('GET / HTTP/1.0\r\n\r\n');
      const answer = (await client.readToEnd()).toString();
      client.destroy();
      return seenAddress(answer);
    };

    it('CONNECT leaves from the address of the exit, and the session says so', async () => {
      await api('POST', EXITS, { name: 'jp', addresses: ['127.0.0.7'] }, 201);
      const account = await accountWith('jp', 'tcp');
      assert.equal(await seenBy(account), '127.0.0.7');
      const { items } = (await api('GET', EXITS)) as {
        items: { accounts: number; connectMs: { p50: number } }[];
      };
      assert.equal(items[0]?.accounts, 1);
      await eventually(async () => assert.notEqual((await api('GET', `${EXITS}/jp`))['bytesUp'], 0));
      const held = await startTarget(scope, () => undefined);
      await connectThrough(account, '127.0.0.1', held.port);
      await eventually(async () => {
        const { items: live } = (await api('GET', '/api/v1/sessions')) as {
          items: { username: string; exit: string; via: string | null; outgoing: { address: string } }[];
        };
        const session = live.find(({ username }) => username === 'tcp');
        assert.deepEqual([session?.exit, session?.via], ['jp', null]);
        assert.equal(session?.outgoing.address, '127.0.0.7');
      });
      await eventually(async () => assert.equal((await api('GET', `${EXITS}/jp`))['sessions'], 1));
    });

    it('several addresses: one for each account, or in turn', async () => {
      const addresses = ['127.0.1.1', '127.0.1.2', '127.0.1.3'];
      await api('POST', EXITS, { name: 'many', addresses }, 201);
      const account = await accountWith('many', 'many');
      const same = [await seenBy(account), await seenBy(account), await seenBy(account)];
      assert.equal(new Set(same).size, 1, String(same));
      await api('PATCH', `${EXITS}/many`, { choose: 'session' });
      const each = [await seenBy(account), await seenBy(account), await seenBy(account)];
      assert.deepEqual([...each].sort(), addresses);
    });

    it('UDP leaves from the address of the exit', async () => {
      await api('POST', EXITS, { name: 'udp', addresses: ['127.0.0.8'] }, 201);
      const account = await accountWith('udp', 'udp');
      const end = await UdpEnd.open(scope);
      const association = await associateThrough(scope, account);
      association.send('127.0.0.1', end.port, 'hello');
      const { from } = await end.receive();
      assert.equal(from.address, '127.0.0.8');
    });

    it('UDP from an address that this machine does not have is dropped, logged once and counted', async () => {
      await api('POST', EXITS, { name: 'udp-absent', addresses: ['192.0.2.78'] }, 201);
      const account = await accountWith('udp-absent', 'udp-absent');
      const end = await UdpEnd.open(scope);
      const association = await associateThrough(scope, account);
      for (let i = 0; i < 3; i += 1) association.send('127.0.0.1', end.port, 'hello');
      const isRefusal = (line: LogLine) =>
        line.msg === 'destination refused' && line['exit'] === 'udp-absent' && line['protocol'] === 'udp';
      assert.equal((await daemon.waitForLine(isRefusal))['reason'], 'EADDRNOTAVAIL');
      await eventually(async () => assert.equal((await api('GET', `${EXITS}/udp-absent`))['failures'], 1));
      association.control.destroy();
      const ended = await daemon.waitForLine(
        (line) => line.msg === 'session ended' && line['account'] === 'udp-absent',
      );
      assert.deepEqual(ended['dropped'], { EADDRNOTAVAIL: 3 });
      assert.equal(daemon.lines.filter(isRefusal).length, 1);
    });

    it('BIND listens on the address of the exit, and says so', async () => {
      await api('POST', EXITS, { name: 'bind', addresses: ['127.0.0.12'] }, 201);
      const client = await loggedInClient(await accountWith('bind', 'bind'));
      client.send(request('0.0.0.0', 0, 2));
      const { code, address, port } = await readReply(client);
      assert.deepEqual([code, address], [0, '127.0.0.12']);
      const peer = await RawClient.connect(port, '127.0.0.12');
      assert.equal((await readReply(client)).code, 0);
      peer.send('hello');
      assert.equal((await client.read(5)).toString(), 'hello');
    });

    it('the HTTP proxy leaves from the address of the exit', async () => {
      await api('POST', EXITS, { name: 'http', addresses: ['127.0.0.13'] }, 201);
      await accountWith('http', 'http');
      assert.deepEqual(await seenOverHttp('http'), ['200', '127.0.0.13']);
    });

    it('the default exit is for accounts without one; a change reaches the next session, and no restart is needed', async () => {
      const account = await accountWith(null, 'default');
      assert.equal(await seenBy(account), '127.0.0.1');
      await api('POST', EXITS, { name: 'usual', addresses: ['127.0.0.9'], isDefault: true }, 201);
      assert.equal(await seenBy(account), '127.0.0.9');
      await api('PATCH', `${EXITS}/usual`, { addresses: ['127.0.0.10'] });
      assert.equal(await seenBy(account), '127.0.0.10');
      // Its accounts would leave by the machine's own address, and nobody had said so.
      await api('DELETE', `${EXITS}/usual`, undefined, 409);
      await api('PATCH', `${EXITS}/usual`, { isDefault: false });
      await api('DELETE', `${EXITS}/usual`, undefined, 204);
      assert.equal(await seenBy(account), '127.0.0.1');
    });

    it('an address that this machine does not have refuses sessions at once, and the log names the exit', async () => {
      await api('POST', EXITS, { name: 'absent', addresses: ['192.0.2.77'] }, 201);
      const client = await loggedInClient(await accountWith('absent', 'absent'));
      client.send(request('127.0.0.1', target.port));
      assert.notEqual((await readReply(client)).code, 0);
      const line = await daemon.waitForLine(
        (each) => each.msg === 'destination refused' && each['exit'] === 'absent',
      );
      assert.equal(line['reason'], 'EADDRNOTAVAIL');
      await eventually(async () => assert.equal((await api('GET', `${EXITS}/absent`))['failures'], 1));
    });

    it('an exit of the other family refuses the destination', async () => {
      await api('POST', EXITS, { name: 'six', family: 'ipv6' }, 201);
      const client = await loggedInClient(await accountWith('six', 'six'));
      client.send(request('127.0.0.1', target.port));
      assert.equal((await readReply(client)).code, 3);
    });

    it('the test says which address the other side sees, or why it failed', async () => {
      const tested = await api('POST', `${EXITS}/jp/test`);
      assert.deepEqual(
        [tested['ok'], tested['local'], tested['seen'], tested['reason']],
        [true, '127.0.0.7', '127.0.0.7', null],
      );
      const failed = await api('POST', `${EXITS}/absent/test`);
      assert.deepEqual([failed['ok'], failed['reason']], [false, 'EADDRNOTAVAIL']);
    });

    it('proxies in their order: the next one is used when one is dead', async () => {
      // It is killed at the end.
      const other = await startTestDaemon(scope, { config: { egress: { private: 'allow' } } });
      await other.addAccount(childLogin.username, childLogin.password);
      const dead = createServer();
      await new Promise<void>((resolve) => dead.listen(0, '127.0.0.1', resolve));
      const { port } = dead.address() as { port: number };
      await new Promise((resolve) => dead.close(resolve));
      const living = { proxy: `127.0.0.1:${other.socks.port}`, ...childLogin };
      const upstreams = [{ proxy: `socks5://127.0.0.1:${port}`, username: null, password: null }, living];
      const made = await api('POST', EXITS, { name: 'proxies', upstreams, addresses: ['127.0.0.11'] }, 201);
      assert.ok(!JSON.stringify(made).includes('child-secret'));
      const account = await accountWith('proxies', 'proxied');
      assert.equal(await seenBy(account), '127.0.0.1');
      // The same proxies are known as dead and living to every worker, and shown; the log has one line.
      await eventually(async () => {
        const { upstreams: shown, state, failures } = await api('GET', `${EXITS}/proxies`);
        const ups = (shown as { isUp: boolean | null }[]).map(({ isUp }) => isUp);
        assert.deepEqual([ups, state, failures], [[false, true], 'degraded', 0]);
      });
      await seenBy(account);
      const isChange = (line: LogLine) => line.msg === 'exit does not answer' && line['exit'] === 'proxies';
      const change = await daemon.waitForLine(isChange);
      const { exit, way, reason } = change;
      assert.deepEqual(
        [exit, way, reason],
        ['proxies', `socks5://127.0.0.1:${port}`, 'upstream-ECONNREFUSED'],
      );
      assert.equal(daemon.lines.filter(isChange).length, 1);
      // The connection to the proxy leaves from the exit's address.
      const line = await other.waitForLine((each) => each.msg === 'session ended');
      assert.equal(line['client'], '127.0.0.11');
      // A change without a password keeps it.
      const { password: _, ...kept } = living;
      await api('PATCH', `${EXITS}/proxies`, { upstreams: [kept] });
      assert.equal(await seenBy(account), '127.0.0.1');

      // When its last proxy dies, an exit loses its own sessions and no others.
      const echoes = await startTarget(scope, echo);
      const direct = await accountWith('jp', 'direct');
      const talk = async (client: RawClient) => {
        client.send('word');
        assert.equal((await client.read(4)).toString(), 'word');
      };
      const open = (by: typeof account) =>
        Promise.all(Array.from({ length: 10 }, () => connectThrough(by, '127.0.0.1', echoes.port)));
      const [lost, stays] = [await open(account), await open(direct)];
      await Promise.all([...lost, ...stays].map(talk));
      other.signal('SIGKILL');
      await Promise.all([other.exited(), ...lost.map((client) => client.closed())]);
      await Promise.all(stays.map(talk));
      await assert.rejects(connectThrough(account, '127.0.0.1', echoes.port));
      for (const client of stays) client.destroy();
    });

    it('UDP leaves by the first proxy that has UDP, and the others count as living', async () => {
      const withoutUdp = await startTarget(scope, (socket) => {
        const answers = ['0500', '05070001000000000000'];
        socket.on('data', () => socket.write(Buffer.from(answers.shift() ?? '', 'hex')));
      });
      const upstreams = [
        { proxy: `127.0.0.1:${withoutUdp.port}` },
        { proxy: `127.0.0.1:${child.socks.port}`, ...childLogin },
      ];
      await api('POST', EXITS, { name: 'some-udp', upstreams }, 201);
      const end = await UdpEnd.open(scope);
      const association = await associateThrough(scope, await accountWith('some-udp', 'some-udp'));
      association.send('127.0.0.1', end.port, 'hello');
      assert.equal((await end.receive()).data.toString(), 'hello');
      await eventually(async () => assert.equal((await api('GET', `${EXITS}/some-udp`))['state'], 'up'));
      association.control.destroy();
    });

    it('a check finds a proxy that accepts and is silent, skips it, and takes it back; each is checked once an interval', async () => {
      const checkedAt: number[] = [];
      let isSilent = true;
      const flaky = await startTarget(scope, (socket) => {
        checkedAt.push(performance.now());
        if (isSilent) return;
        const inside = connect(child.socks.port, '127.0.0.1');
        scope.after(() => inside.destroy());
        socket.pipe(inside).pipe(socket);
      });
      const [first, second] = [`127.0.0.1:${flaky.port}`, `127.0.0.1:${child.socks.port}`];
      const upstreams = [first, second].map((proxy) => ({ proxy, ...childLogin }));
      const refused = { proxy: second, username: 'nobody', password: 'nobody' };
      await api('POST', EXITS, { name: 'checked', upstreams: [...upstreams, refused] }, 201);
      const ofExit = (msg: string, way: string) => (line: LogLine) =>
        line.msg === msg && line['exit'] === 'checked' && line['way'] === way;
      const unknown = await daemon.waitForLine(ofExit('exit does not answer', `nobody@${second}`));
      assert.equal(unknown['reason'], 'upstream-login');
      await daemon.waitForLine(ofExit('exit does not answer', `child@${first}`));
      const isUps = async () => {
        const { upstreams: shown, state } = await api('GET', `${EXITS}/checked`);
        return [state, ...(shown as { isUp: boolean | null }[]).map(({ isUp }) => isUp)];
      };
      await eventually(async () => assert.deepEqual(await isUps(), ['degraded', false, true, false]));
      const account = await accountWith('checked', 'checked');
      const via = async () => {
        await seenBy(account);
        const line = await daemon.waitForLine(
          ({ msg, ...each }) =>
            msg === 'session ended' && !known.has(each['session']) && each['account'] === 'checked',
        );
        known.add(line['session']);
        return line['via'];
      };
      const known = new Set<unknown>();
      assert.equal(await via(), second);
      isSilent = false;
      await daemon.waitForLine(ofExit('exit answers again', `child@${first}`));
      assert.equal(await via(), first);
      const metrics = await daemon.api('GET', '/metrics');
      assert.match(
        metrics.text,
        new RegExp(`^pulsegate_exit_up\\{exit="checked",way="child@${first}",[^}]*\\} 1$`, 'm'),
      );
      const since = checkedAt.length;
      // Five seconds; were each worker to check for itself, not even two. The first may be noticed late.
      await eventually(() => assert.ok(checkedAt.length >= since + 6));
      const [begin = 0, ...more] = checkedAt.slice(since);
      assert.ok((more[4] ?? 0) - begin > 2_500, String(more));
    });

    it('a client chooses an exit of exitSuffix by its user name, and the session is that of the account', async () => {
      // Of three workers: at least one name and its suffixed form would differ, were they not kept together.
      for (const name of ['alice', 'bob', 'carl', 'dora']) {
        const account = await accountWith(null, name);
        assert.equal(await seenBy({ ...account, username: `${name}+jp` }), '127.0.0.7');
        assert.equal(await seenBy(account), '127.0.0.1');
      }
      assert.deepEqual(await seenOverHttp('alice+jp'), ['200', '127.0.0.7']);
      const end = await UdpEnd.open(scope);
      const login = { port: daemon.socks.port, username: 'alice+jp', password: 'secret' };
      const association = await associateThrough(scope, login);
      association.send('127.0.0.1', end.port, 'hello');
      assert.equal((await end.receive()).from.address, '127.0.0.7');
      await eventually(async () => {
        const { items } = (await api('GET', '/api/v1/sessions?search=alice')) as {
          items: { username: string; exit: string }[];
        };
        assert.deepEqual(
          items.map(({ username, exit }) => [username, exit]),
          [['alice', 'jp']],
        );
      });
      // An account whose name has the plus sign comes first, also with an exit after it.
      const named = await accountWith(null, 'alice+jp+jp');
      assert.equal(await seenBy(named), '127.0.0.1');
      assert.equal(await seenBy({ ...named, username: 'alice+jp+jp+jp' }), '127.0.0.7');
    });

    it('an exit that clients may not choose refuses the login, and the history of the account says so', async () => {
      // An exit that is not in exitSuffix, one that does not exist, and none.
      for (const [username, password, reason] of [
        ['alice+udp', 'secret', 'exit-not-allowed'],
        ['alice+missing', 'secret', 'exit-not-allowed'],
        ['alice+', 'secret', 'exit-not-allowed'],
        ['alice+jp', 'wrong', 'wrong-password'],
        ['nobody+jp', 'secret', 'unknown-user'],
      ] as const) {
        const client = await RawClient.connect(daemon.socks.port);
        client.send(Buffer.concat([greeting(2), login(username, password)]));
        assert.equal((await client.readToEnd()).toString('hex'), '05020101', username);
        await daemon.waitForLine((line) => line['user'] === username && line['reason'] === reason);
      }
      assert.equal((await seenOverHttp('alice+udp'))[0], '407');
      await eventually(async () => {
        const path = `/api/v1/logins?accountId=${idOf.get('alice')}&failed=true`;
        const { items } = (await api('GET', path)) as { items: { username: string; outcome: string }[] };
        const found = items.map(({ username, outcome }) => `${username} ${outcome}`);
        assert.deepEqual(found.sort(), [
          'alice+ exit-not-allowed',
          'alice+jp wrong-password',
          'alice+missing exit-not-allowed',
          'alice+udp exit-not-allowed',
        ]);
      });
    });

    it('what cannot be: named with what is wrong, and nothing is changed', async () => {
      await api('POST', EXITS, { name: 'jp' }, 409);
      await api('POST', EXITS, { name: 'no name' }, 400);
      await api('POST', EXITS, { name: 'x', addresses: ['192.0.2.0/24'] }, 400);
      await api('POST', EXITS, { name: 'x', upstreams: [{ proxy: 'ftp://x:1' }] }, 400);
      const ipv6 = await api('PATCH', `${EXITS}/jp`, { family: 'ipv6' }, 400);
      assert.match(JSON.stringify(ipv6['errors']), /body\.family.*leaves out every address of the exit/);
      await api('PATCH', `${EXITS}/none`, {}, 404);
      await api('DELETE', `${EXITS}/jp`, undefined, 409);
      await api('PATCH', `/api/v1/accounts/${idOf.get('tcp')}`, { exit: 'none' }, 400);
      const special = await daemon.api('POST', EXITS, { name: 'x', interface: 'nowhere0' });
      assert.equal(special.status, 409);
      const { reason } = special.json as { reason: { code: string } };
      assert.equal(reason.code, engine === 'native' ? 'exit-no-interface' : 'exit-needs-native');
    });

    it('a bulk action moves accounts from one exit to another, after a preview', async () => {
      const ids = new Map<string, string>();
      for (const name of ['mover1', 'mover2', 'mover3'])
        ids.set(name, await daemon.addAccount(name, 'secret'));
      const bulk = (body: object, status = 200) =>
        api('POST', '/api/v1/accounts/bulk', { dryRun: false, ...body }, status);
      const of = (exit: string | null) => ({ type: 'set-exit', exit });
      await bulk({ ids: [ids.get('mover1'), ids.get('mover2')], action: of('udp') });
      const search = { search: 'mover', exit: 'udp' };
      const preview = await bulk({ filter: search, action: of('bind'), dryRun: true });
      const changes = preview['changes'] as { username: string; before: object; after: object }[];
      assert.deepEqual(
        changes.map(({ username, before, after }) => [username, before, after]),
        ['mover1', 'mover2'].map((username) => [username, { exit: 'udp' }, { exit: 'bind' }]),
      );
      assert.equal((await bulk({ filter: search, action: of('bind') }))['count'], 2);
      const account = { port: daemon.socks.port, username: 'mover1', password: 'secret' };
      assert.equal(await seenBy(account), '127.0.0.12');
      const { items } = (await api('GET', '/api/v1/accounts?exit=bind&search=mover')) as { items: unknown[] };
      assert.equal(items.length, 2);
      const all = { search: 'mover' };
      const skipped = (await bulk({ filter: all, action: of(null) }))['skipped'] as { reason: string }[];
      assert.deepEqual(
        skipped.map(({ reason }) => reason),
        ['already-so'],
      );
      const refused = await bulk({ filter: all, action: of('none') }, 400);
      assert.match(JSON.stringify(refused['errors']), /body\.action\.exit/);
    });

    it('a plan sets the exit of its accounts', async () => {
      const limits = { maxSessions: null, maxClientAddresses: null, bytesPerSecondUp: null };
      const more = { bytesPerSecondDown: null, quotaBytes: null, quotaPeriod: 'month' };
      const plans = [
        {
          name: 'jp',
          days: 30,
          startsAtFirstLogin: false,
          limits: await limitsOf({ ...limits, ...more }),
          exit: 'jp',
        },
      ];
      await api('PUT', '/api/v1/settings/plans', { plans });
      const { account } = (await api('POST', '/api/v1/accounts', { username: 'sold', plan: 'jp' }, 201)) as {
        account: { exit: string };
      };
      assert.equal(account.exit, 'jp');
      const { stdout } = await runCommand(PROJECT, ['plan', 'list', '--config', daemon.configFile]);
      assert.match(stdout, / EXIT\njp +30 .* jp\n$/);
    });

    /** The limits of plans of this version, with these values. */
    async function limitsOf(given: object): Promise<object> {
      const { account } = (await api('POST', '/api/v1/accounts', { username: 'any' }, 201)) as {
        account: { limits: Record<string, unknown> };
      };
      const { egressClass: _, ...limits } = account.limits;
      return { ...limits, ...given };
    }
  });
}

test('the addresses of an exit: by account or in turn, and of a network the host part is filled', () => {
  const exit = { addresses: ['192.0.2.1', '192.0.2.2', '2001:db8:1::/48'] };
  const host = new Uint8Array(16).fill(0xab);
  assert.equal(chooseAddress(exit, false, 3, host)?.address, '192.0.2.2');
  const of = chooseAddress(exit, true, 0, host);
  assert.deepEqual(of, { address: '2001:db8:1:abab:abab:abab:abab:abab', isOfNetwork: true });
  assert.equal(chooseAddress({ addresses: ['192.0.2.1'] }, true, 0, host), undefined);
  const ip = (text: string) => parseIp(text) ?? new Uint8Array(4);
  const isOurs = addressesOf([exit]);
  assert.ok(isOurs(ip('2001:db8:1::7')) && isOurs(ip('192.0.2.2')));
  assert.ok(!isOurs(ip('2001:db8:2::7')) && !isOurs(ip('192.0.2.3')));
  const forms = ['192.0.2.1', '2001:db8::/64', '192.0.2.0/24', 'fe80::1%eth0', 'x'];
  assert.deepEqual(forms.map(isExitAddress), [true, true, false, false, false]);
  assert.deepEqual(parseProxy('http://[2001:db8::1]:3128'), {
    protocol: 'http',
    host: '2001:db8::1',
    port: 3128,
    tls: null,
  });
  const tlsOf = (text: string) => parseProxy(text)?.tls;
  const tls = { host: 'p.example', ca: null, fingerprint: null };
  assert.deepEqual(tlsOf('socks5s://P.example:1'), tls);
  assert.deepEqual(tlsOf('https://p.example:1?ca=/etc/a b.pem'), { ...tls, ca: '/etc/a b.pem' });
  const digits = 'AB:'.repeat(31);
  assert.deepEqual(tlsOf(`https://p.example:1?fingerprint=${digits}01`), {
    ...tls,
    fingerprint: `${'ab'.repeat(31)}01`,
  });
  const incomplete = [
    'x:1?ca=/f',
    'https://x:1?ca=f',
    'https://x:1?fingerprint=ab',
    'https://x:1?name=x',
    'https://x:1?',
  ];
  for (const wrong of [...incomplete, 'x', 'x:0', 'x:65536', 'ftp://x:1', 'a b:1'])
    assert.equal(parseProxy(wrong), null, wrong);
});

test('figures of an exit: percentiles and failures of the last hour only, in bounded memory, and its state', () => {
  let now = 0;
  const figures = new ExitFigures(() => now);
  const here = { ...NEW_EXIT, name: 'here', addresses: ['192.0.2.1', '192.0.2.2'] };
  const session = (connectMs: number) => Object.assign(new FakeSession(), { exit: here.name, connectMs });
  for (let ms = 1; ms <= 100; ms += 1) figures.passed(session(ms));
  assert.deepEqual(figures.of(here).connectMs, { p50: 50, p95: 95 });
  now = 3_600_001;
  assert.deepEqual(figures.of(here).connectMs, { p50: null, p95: null });
  for (let i = 0; i < 5_000; i += 1) figures.passed(session(7));
  assert.deepEqual(figures.of(here).connectMs, { p50: 7, p95: 7 });
  figures.failed('here', 2);
  now += 3_000_000;
  figures.failed('here', 1);
  assert.equal(figures.of(here).failures, 3);
  now += 700_000;
  assert.equal(figures.of(here).failures, 1);
  const states = [figures.of(here).state];
  for (const [way, isUp] of [
    ['here 192.0.2.1', true],
    ['here 192.0.2.2', false],
    ['here 192.0.2.1', false],
  ] as const) {
    assert.ok(figures.setUp(way, isUp) && !figures.setUp(way, isUp));
    states.push(figures.of(here).state);
  }
  assert.deepEqual(states, [null, 'up', 'degraded', 'down']);
  figures.keepOnly([]);
  assert.equal(figures.ways.size, 0);
  assert.deepEqual(figures.of(here).bytesUp, 0);
});
