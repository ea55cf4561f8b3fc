// Resolution of names: both families, time limits, caches, and limits of concurrent lookups.
import assert from 'node:assert/strict';
import { mkdtemp, rename, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { openHostsFile, parseHosts } from '../../src/proxy/dns/hosts-file.js';
import type { ResolveResult } from '../../src/proxy/dns/messages.js';
import { createResolver } from '../../src/proxy/dns/resolver.js';
import { startTestDaemon } from '../helpers/daemon.js';
import { eventually } from '../helpers/eventually.js';
import { startNameServer, type Zone } from '../helpers/name-server.js';
import { connectThrough, loggedInClient, readReply, request } from '../helpers/socks-client.js';
import { echo, startTarget } from '../helpers/targets.js';
import { associateThrough } from '../helpers/udp-client.js';

async function resolver(
  t: TestContext,
  zone: Zone,
  options: { ttl?: number; limits?: Record<string, number>; now?: () => number } = {},
) {
  const names = await startNameServer(t, zone, options.ttl);
  const instance = createResolver({
    servers: [names.address],
    timeoutMs: 10_000,
    cacheSize: 100,
    maxPending: 10,
    maxPendingPerAccount: 3,
    maxPendingPerSource: 100,
    maxLookupsPerMinutePerAccount: 1_000,
    maxLookupsPerMinutePerSource: 1_000,
    now: options.now ?? (() => 0),
    hosts: { lookup: (name) => (name === 'in-file.test' ? ['192.0.2.9'] : []), close() {} },
    ...options.limits,
  });
  t.after(() => instance.close());
  const lookUp = (name: string, accountId = 'a', source = '192.0.2.77'): Promise<ResolveResult> =>
    new Promise((resolve) => instance.resolve(name, { accountId, source }, resolve));
  return { lookUp, questions: names.questions };
}

describe('resolution', () => {
  it('queries both families and returns all addresses', async (t) => {
    const { lookUp } = await resolver(t, (_name, family) =>
      family === 4 ? ['192.0.2.1', '192.0.2.2'] : ['2001:db8::1'],
    );
    const result = await lookUp('a.test');
    assert.deepEqual(result, { ok: true, addresses: ['2001:db8::1', '192.0.2.1', '192.0.2.2'] });
  });

  it('does not wait for a family that never answers', async (t) => {
    const { lookUp } = await resolver(t, (_name, family) => (family === 4 ? ['192.0.2.1'] : 'silence'));
    assert.deepEqual(await lookUp('a.test'), { ok: true, addresses: ['192.0.2.1'] });
  });

  it('caches an answer for its TTL, and a negative one briefly', async (t) => {
    const { lookUp, questions } = await resolver(
      t,
      (name, family) => (name === 'a.test' && family === 4 ? ['192.0.2.1'] : undefined),
      { ttl: 60 },
    );
    await lookUp('a.test');
    await lookUp('a.test');
    await lookUp('none.test');
    assert.deepEqual(await lookUp('none.test'), { ok: false, reason: 'not-found' });
    assert.deepEqual([...questions].sort(), ['A a.test', 'A none.test', 'AAAA a.test', 'AAAA none.test']);
  });

  it('sends one query for a name that many clients request', async (t) => {
    const { lookUp, questions } = await resolver(t, () => ['192.0.2.1'].filter((_, i) => i === 0));
    const results = await Promise.all(['a', 'b', 'c', 'd'].map((account) => lookUp('same.test', account)));
    assert.ok(results.every((result) => result.ok));
    assert.equal(questions.length, 2);
  });

  it('gives up after its time limit', async (t) => {
    const { lookUp } = await resolver(t, () => 'silence', { limits: { timeoutMs: 500 } });
    assert.deepEqual(await lookUp('slow.test'), { ok: false, reason: 'timeout' });
  });

  it('limits the concurrent lookups of one account', async (t) => {
    const { lookUp } = await resolver(t, (name) => (name.startsWith('slow') ? 'silence' : ['192.0.2.1']), {
      limits: { timeoutMs: 4_000 },
    });
    const slow = ['slow1.test', 'slow2.test', 'slow3.test'].map((name) => lookUp(name));
    assert.deepEqual(await lookUp('slow4.test'), { ok: false, reason: 'too-many' });
    assert.equal((await lookUp('other.test', 'b')).ok, true);
    await Promise.all(slow);
    assert.equal((await lookUp('other2.test')).ok, true);
  });

  it('reserves capacity for accounts without lookups', async (t) => {
    const { lookUp } = await resolver(t, () => 'silence', {
      limits: { timeoutMs: 500, maxPending: 8, maxPendingPerAccount: 64 },
    });
    const first = Array.from({ length: 64 }, (_, i) => lookUp(`dead-${i}.test`, 'greedy'));
    const refused = (await Promise.all(first.slice(6))).filter(
      (each) => !each.ok && each.reason === 'too-many',
    );
    assert.equal(refused.length, 58, 'one account can use three quarters of the capacity at most');
    const others = await Promise.all([
      lookUp('a.test', 'second'),
      lookUp('b.test', 'third'),
      lookUp('c.test', 'fourth'),
    ]);
    assert.deepEqual(
      others.map((each) => !each.ok && each.reason),
      ['timeout', 'timeout', 'too-many'],
    );
    await Promise.all(first);
  });

  it('limits the concurrent lookups of one source', async (t) => {
    const { lookUp } = await resolver(t, () => 'silence', {
      limits: { timeoutMs: 500, maxPending: 100, maxPendingPerAccount: 2, maxPendingPerSource: 3 },
    });
    const waiting = ['a', 'b', 'c'].map((account) => lookUp(`${account}.test`, account, '192.0.2.1'));
    assert.deepEqual(await lookUp('d.test', 'd', '192.0.2.1'), { ok: false, reason: 'too-many' });
    assert.deepEqual(await lookUp('e.test', 'd', '192.0.2.2'), { ok: false, reason: 'timeout' });
    await Promise.all(waiting);
  });

  it('limits the concurrent lookups of all accounts', async (t) => {
    const { lookUp } = await resolver(t, () => 'silence', { limits: { timeoutMs: 500, maxPending: 2 } });
    const slow = [lookUp('slow1.test', 'a'), lookUp('slow2.test', 'b')];
    assert.deepEqual(await lookUp('slow3.test', 'c'), { ok: false, reason: 'too-many' });
    await Promise.all(slow);
  });

  it('limits the names that are asked for an account and for a source per minute', async (t) => {
    let now = 0;
    const { lookUp, questions } = await resolver(t, (_name, family) => (family === 4 ? ['192.0.2.1'] : []), {
      ttl: 60,
      limits: { maxLookupsPerMinutePerAccount: 3, maxLookupsPerMinutePerSource: 5 },
      now: () => now,
    });
    let names = 0;
    const outcome = async (account: string, source?: string, name = `n${names++}.test`) => {
      const result = await lookUp(name, account, source);
      return result.ok ? 'ok' : result.reason;
    };
    for (let i = 0; i < 3; i += 1) assert.equal(await outcome('a'), 'ok');
    assert.equal(await outcome('a'), 'over-rate');
    // Names in the cache and in the hosts file are free.
    assert.equal(await outcome('a', undefined, 'n0.test'), 'ok');
    assert.equal(await outcome('a', undefined, 'in-file.test'), 'ok');
    // Another account of the same address has what is left of the address.
    assert.deepEqual([await outcome('b'), await outcome('b'), await outcome('b')], ['ok', 'ok', 'over-rate']);
    assert.equal(await outcome('b', '192.0.2.78'), 'ok');
    assert.equal(questions.length, 2 * 6);
    now = 19_900;
    assert.equal(await outcome('a'), 'over-rate');
    now = 20_001;
    assert.deepEqual([await outcome('a'), await outcome('a')], ['ok', 'over-rate']);
  });

  it('answers localhost and the hosts file without DNS', async (t) => {
    const { lookUp, questions } = await resolver(t, () => undefined);
    assert.deepEqual(await lookUp('localhost'), { ok: true, addresses: ['127.0.0.1', '::1'] });
    assert.deepEqual(await lookUp('x.localhost'), { ok: true, addresses: ['127.0.0.1', '::1'] });
    assert.deepEqual(await lookUp('in-file.test'), { ok: true, addresses: ['192.0.2.9'] });
    assert.deepEqual(questions, []);
  });
});

describe('the hosts file', () => {
  it('has the format of hosts(5)', () => {
    const hosts = parseHosts(
      '# comment\n127.0.0.1 localhost a.Test\t b.test # end\n::1 a.test\nnonsense x\n1.2.3 y\n\n10.0.0.1\n',
    );
    assert.deepEqual(Object.fromEntries(hosts), {
      localhost: ['127.0.0.1'],
      'a.test': ['127.0.0.1', '::1'],
      'b.test': ['127.0.0.1'],
    });
  });

  it('is read again when it has been replaced', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'hosts-'));
    const path = join(folder, 'hosts');
    await writeFile(path, '192.0.2.1 one.test\n');
    const hosts = openHostsFile(path);
    t.after(() => hosts.close());
    assert.deepEqual(hosts.lookup('one.test'), ['192.0.2.1']);
    await writeFile(`${path}.new`, '192.0.2.2 two.test\n');
    await rename(`${path}.new`, path);
    await eventually(() => assert.deepEqual(hosts.lookup('two.test'), ['192.0.2.2']));
    assert.deepEqual(hosts.lookup('one.test'), []);
  });

  it('may be missing', () => {
    assert.deepEqual(openHostsFile('/no/such/folder/hosts').lookup('a.test'), []);
  });
});

describe('slow names', () => {
  it('of one account do not delay others', async (t) => {
    const target = await startTarget(t, echo);
    const names = await startNameServer(t, (name, family) =>
      name.startsWith('slow') ? 'silence' : family === 4 ? ['127.0.0.1'] : [],
    );
    const daemon = await startTestDaemon(t, {
      config: { dns: { servers: [names.address], timeout: '30s' } },
    });
    await daemon.addAccount('slow', 'secret');
    await daemon.addAccount('quick', 'secret');
    const slow = { port: daemon.socks.port, username: 'slow', password: 'secret' };
    for (let i = 0; i < 50; i += 1) (await loggedInClient(slow)).send(request(`slow-${i}.test`, 80));
    const startedAt = Date.now();
    const client = await connectThrough({ ...slow, username: 'quick' }, 'quick.test', target.port);
    assert.ok(Date.now() - startedAt < 25_000, 'the quick name was delayed by slow ones');
    assert.equal((await daemon.api('GET', '/ProxyAccount/GetProxyAccountList')).status, 200);
    client.destroy();
  });

  it('get reply 04 after the timeout; beyond maxLookupsPerMinutePerAccount every name gets 02', async (t) => {
    const names = await startNameServer(t, () => 'silence');
    const daemon = await startTestDaemon(t, {
      config: {
        dns: { servers: [names.address], timeout: '300ms', maxLookupsPerMinutePerAccount: 1 },
        socks: { bind: { enabled: true } },
        egress: { classes: { dozens: { private: 'allow', guard: { lookupsPerMinute: 24 } } } },
      },
    });
    await daemon.addAccount('player', 'secret');
    const account = { port: daemon.socks.port, username: 'player', password: 'secret' };
    const replyTo = async (name: string, command: number) => {
      const client = await loggedInClient(account);
      t.after(() => client.destroy());
      client.send(request(name, 80, command));
      return (await readReply(client)).code;
    };
    assert.equal(await replyTo('slow.test', 1), 4);
    assert.deepEqual([await replyTo('connect.test', 1), await replyTo('bind.test', 2)], [2, 2]);
    const client = await associateThrough(t, account);
    client.send('udp.test', 80, 'x');
    for (const destination of ['connect.test:80', 'bind.test:80', 'udp.test:80']) {
      const line = await daemon.waitForLine((each) => each['destination'] === destination);
      assert.deepEqual([line.msg, line['reason']], ['destination refused', 'resolve-over-rate']);
    }
    assert.deepEqual([...new Set(names.questions)].sort(), ['A slow.test', 'AAAA slow.test']);
    const other = await daemon.addAccount('other', 'secret');
    const allow = (lookupsPerMinute: number | null, egressClass: string | null) =>
      daemon.api('PATCH', `/api/v1/accounts/${other}/limits`, { lookupsPerMinute, egressClass });
    await allow(0, null);
    account.username = 'other';
    assert.deepEqual([await replyTo('one.test', 1), await replyTo('two.test', 1)], [4, 4]);
    // The account's own limit comes before that of its class, and this before that of the configuration.
    await allow(null, 'dozens');
    assert.deepEqual([await replyTo('three.test', 1), await replyTo('four.test', 1)], [4, 4]);
    await allow(1, 'dozens');
    assert.deepEqual([await replyTo('five.test', 1), await replyTo('six.test', 1)], [4, 2]);
    const limited = await daemon.waitForLine(
      (each) => each.msg === 'account limited' && each['account'] === 'other',
    );
    assert.deepEqual([limited['limit'], limited['refused']], ['guard.lookupsPerMinute', 1]);
    await eventually(async () => {
      const { json } = await daemon.api('GET', `/api/v1/logins?accountId=${other}&failed=true`);
      const [latest] = (json as { items: { outcome: string }[] }).items;
      assert.equal(latest?.outcome, 'too-many-lookups');
    });
  });
});
