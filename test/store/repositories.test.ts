// Every repository that no other file of this folder tests, on every engine: values are read back unchanged and in order.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { LoginEntry } from '../../src/core/accounts/access/login-log.js';
import type { Account } from '../../src/core/accounts/account.js';
import { NO_LIMITS } from '../../src/core/accounts/usage/limits.js';
import type { RunToStore } from '../../src/core/agents/run-store.js';
import { type AuditRecord, DAEMON } from '../../src/core/audit/audit.js';
import type { Notice } from '../../src/core/notices/notice.js';
import type { Sample } from '../../src/core/stats/history.js';
import { DAY_MS, HOUR_MS } from '../../src/core/time/clock.js';
import { accountOf, addAccount } from '../helpers/stored-accounts.js';
import { onEachDatabase } from './databases.js';
import { account } from './helpers.js';

const NOW = 1_700_000_000_000;
/** Quotes, wildcards, a character of four bytes in UTF-8, and characters that languages sort in another order than bytes. */
const TEXT = `'"\\ %_! é 玩家 𝄞 --; drop table runs`;
const HISTORY = { maxMessages: 4, maxBytes: 10_000 };

function run(session: string | null, fields: Partial<RunToStore['run']> = {}): RunToStore {
  return {
    run: {
      kind: 'message',
      agent: 'helper',
      session,
      message: TEXT,
      origin: 'webhook',
      rerunOf: null,
      acceptedAt: NOW,
      ...fields,
    },
    node: 'me',
    idempotency: null,
  };
}

onEachDatabase(
  'runs of a session are claimed one at a time and in order, and end with their history',
  async (open) => {
    const { runs, agentSessions } = (await open()).store;
    const stored = await runs.add([run('a'), run('a'), run('b'), run(null)], NOW);
    const ids = stored.map((each) => (each.outcome === 'stored' ? each.runId : ''));
    assert.deepEqual(ids, [...ids].sort(), 'ids are in the order of storing');
    assert.deepEqual(await runs.countQueued(), new Map([['helper', 4]]));
    const claims = await runs.claim(ids, 'me', NOW + 1);
    assert.deepEqual(
      claims.map(({ outcome }) => outcome),
      ['claimed', 'blocked', 'claimed', 'claimed'],
    );
    assert.deepEqual(
      (await runs.claim([ids[0] ?? ''], 'other', NOW)).map(({ outcome }) => outcome),
      ['gone'],
    );
    const end = {
      status: 'succeeded',
      finishedAt: NOW + 2,
      reply: `re: ${TEXT}`,
      error: null,
      deliver: true,
    } as const;
    assert.deepEqual(
      await runs.finish(
        [0, 2, 1].map((n) => ({ id: ids[n] ?? '', end })),
        'me',
        HISTORY,
      ),
      [true, true, false],
    );
    const [second] = await runs.claim([ids[1] ?? ''], 'me', NOW + 3);
    assert.equal(second?.outcome, 'claimed');
    assert.deepEqual(second.outcome === 'claimed' && second.history, [
      { role: 'user', content: TEXT },
      { role: 'assistant', content: `re: ${TEXT}` },
    ]);
    await runs.finish([{ id: ids[1] ?? '', end: { ...end, finishedAt: NOW + 4 } }], 'me', HISTORY);
    assert.equal((await agentSessions.messages('a')).length, 4);
    assert.deepEqual(
      (await agentSessions.list({ limit: 10 })).map(({ key, messages }) => [key, messages]),
      [
        ['a', 4],
        ['b', 2],
      ],
    );
    assert.equal(await runs.lastActive('helper'), NOW, 'of the newest run');
    assert.equal(await agentSessions.remove('a'), true);
    assert.equal(await agentSessions.remove('a'), false);
    assert.equal(await agentSessions.trim(NOW + 3), 1);

    const found = await runs.list({ search: '玩家 𝄞', limit: 10 });
    assert.deepEqual(
      found.map(({ id }) => id),
      ids.toReversed(),
    );
    const literally = await runs.list({ search: '%', limit: 10 });
    assert.equal(literally.filter(({ id }) => id === ids[0]).length, 1);
    assert.equal(await runs.trim(NOW + 10, NOW, 10), false, 'runs with undelivered replies are kept');
  },
);

onEachDatabase(
  "a released runner's runs are failed or queued again, and adopted by another runner",
  async (open) => {
    const { runs } = (await open()).store;
    const stored = await runs.add([run('a'), run('b')], NOW);
    const [one = '', two = ''] = stored.map((each) => (each.outcome === 'stored' ? each.runId : ''));
    await runs.renewLease({ id: 'me', host: 'here', pid: 1, pidStart: '7', seenAt: NOW });
    await runs.renewLease({ id: 'me', host: 'here', pid: 1, pidStart: '7', seenAt: NOW + 1 });
    assert.deepEqual(await runs.runners(), [
      { id: 'me', host: 'here', pid: 1, pidStart: '7', seenAt: NOW + 1 },
    ]);
    await runs.claim([one], 'me', NOW);
    assert.deepEqual(
      (await runs.runningOf('me')).map(({ id }) => id),
      [one],
    );
    assert.deepEqual(await runs.release('me', 1, 'interrupted', NOW + 2), [one]);
    assert.deepEqual(
      (await runs.adopt('other', 10)).map(({ id }) => id),
      [two],
    );
    assert.deepEqual(await runs.adopt('third', 10), []);
    assert.equal((await runs.cancelQueued(two, NOW, false))?.status, 'cancelled');
    assert.equal(await runs.cancelQueued(two, NOW, false), null);
  },
);

onEachDatabase('attempts that an outage interrupted do not count, others do', async (open) => {
  const { runs } = (await open()).store;
  const stored = await runs.add([run('a'), run('b')], NOW);
  const [one = '', two = ''] = stored.map((each) => (each.outcome === 'stored' ? each.runId : ''));
  const idsOf = (adopted: readonly { readonly id: string }[]) => adopted.map(({ id }) => id);
  assert.deepEqual(await runs.heldBy('me'), [one, two]);
  for (const owner of ['me', 'n1']) {
    await runs.claim([one], owner, NOW);
    await runs.requeue(owner, NOW, [one]);
    assert.deepEqual(idsOf(await runs.adopt('n1', 10)), [one]);
  }
  assert.deepEqual(await runs.heldBy('me'), [two]);
  await runs.claim([one], 'n1', NOW);
  assert.equal((await runs.get(one))?.attempt, 3);
  assert.deepEqual(await runs.release('n1', 2, 'interrupted', NOW), [], 'the first attempt that counts');
  await runs.adopt('n1', 10);
  await runs.claim([one], 'n1', NOW);
  assert.deepEqual(await runs.release('n1', 2, 'interrupted', NOW), [one]);
  await runs.claim([two], 'me', NOW);
  await runs.requestCancel(two, NOW);
  await runs.requeue('me', NOW);
  assert.equal((await runs.get(two))?.status, 'cancelled');
});

onEachDatabase('an idempotency key belongs to its first request until it expires', async (open) => {
  const { runs } = (await open()).store;
  const keyed = (digest: string, expiresAt = NOW + 10): RunToStore => ({
    ...run(null),
    idempotency: { key: TEXT, digest, answer: (id) => `answer ${id}`, expiresAt },
  });
  const outcomes = await runs.add([keyed('d'), keyed('d'), keyed('other')], NOW);
  assert.deepEqual(
    outcomes.map(({ outcome }) => outcome),
    ['stored', 'replayed', 'key-reused'],
  );
  const [first] = outcomes;
  assert.deepEqual(await runs.findAnswer(TEXT, 'd', NOW), {
    outcome: 'replayed',
    answer: `answer ${first?.outcome === 'stored' && first.runId}`,
  });
  assert.equal(await runs.findAnswer(TEXT, 'd', NOW + 10), null);
  assert.equal((await runs.add([keyed('other')], NOW + 10))[0]?.outcome, 'stored');
  // Concurrent requests, as those of two daemons.
  const both = await Promise.all([1, 2, 3, 4].map((n) => runs.add([keyed(`d${n}`, NOW + 99)], NOW + 30)));
  assert.equal(both.flat().filter(({ outcome }) => outcome === 'stored').length, 1);
});

onEachDatabase('a delivery is due until it succeeds, and keeps every attempt', async (open) => {
  const { runs, deliveries } = (await open()).store;
  const [stored] = await runs.add([run(null)], NOW);
  const runId = stored?.outcome === 'stored' ? stored.runId : '';
  await runs.claim([runId], 'me', NOW);
  const end = { status: 'failed', finishedAt: NOW, reply: null, error: 'no', deliver: true } as const;
  await runs.finish([{ id: runId, end }], 'me', HISTORY);
  assert.equal(await deliveries.nextDueAt('me'), NOW);
  assert.deepEqual(await deliveries.due('other', NOW, 5), []);
  assert.equal((await deliveries.due('me', NOW, 5)).length, 1);
  assert.deepEqual(await deliveries.due('me', NOW - HOUR_MS, 5), []);
  assert.equal((await deliveries.due('me', NOW - DAY_MS, 5)).length, 1, 'the clock has been set back');
  const attempt = { runId, channel: 'http', startedAt: NOW, finishedAt: NOW + 1, detail: TEXT } as const;
  const tries = [
    { ...attempt, id: randomUUID(), attempt: 1, delivered: false },
    { ...attempt, id: randomUUID(), attempt: 2, delivered: true },
  ];
  for (const [n, each] of tries.entries()) await deliveries.record(each, n === 0 ? NOW + 5 : null);
  assert.deepEqual(await deliveries.ofRun(runId), tries);
  assert.equal((await runs.get(runId))?.delivery, 'delivered');
  assert.equal(await deliveries.nextDueAt('me'), null);
});

onEachDatabase('console sessions, tokens and audit entries are read back unchanged', async (open) => {
  const { consoleSessions, apiTokens, audit, settings } = (await open()).store;
  const session = {
    ...{
      hash: 'h',
      username: TEXT,
      address: '::1',
      createdAt: 1,
      usedAt: 2,
      confirmedAt: 3,
      credentials: null,
    },
    operatorId: 'o',
  };
  await consoleSessions.add(session, null);
  await consoleSessions.used('h', 5);
  await consoleSessions.confirmed('h', 6);
  assert.equal((await consoleSessions.get('h'))?.confirmedAt, 6);
  await consoleSessions.renew({ ...session, usedAt: 5, credentials: 'c' });
  assert.deepEqual((await consoleSessions.get('h'))?.credentials, 'c');
  assert.deepEqual(await consoleSessions.all(), [{ ...session, usedAt: 5, credentials: 'c' }]);
  await consoleSessions.remove(['h', 'x']);
  assert.deepEqual(await consoleSessions.all(), []);

  const token = {
    id: randomUUID(),
    name: TEXT,
    prefix: 'pg_abc',
    hash: 'f'.repeat(64),
    scopes: ['read', 'write'],
    createdAt: NOW,
    expiresAt: null,
    lastUsedAt: null,
    lastUsedFrom: null,
    operatorId: 'o',
  };
  const record = (action: AuditRecord['action'], name: string): AuditRecord => ({
    by: DAEMON,
    action,
    object: { type: 'token', id: token.id, name },
    before: null,
    after: { name: TEXT },
  });
  assert.equal(await apiTokens.add(token, 1, record('token.create', 'One')), true);
  await apiTokens.used(token.id, NOW + 1, '192.0.2.1');
  assert.deepEqual(await apiTokens.all(), [{ ...token, lastUsedAt: NOW + 1, lastUsedFrom: '192.0.2.1' }]);
  await apiTokens.remove(token.id, record('token.revoke', 'Two'));
  assert.deepEqual(await apiTokens.all(), []);
  await settings.set('key', TEXT, record('settings.games', 'Three'));
  const names = async (search: string) =>
    (await audit.list({ search, objectId: token.id }, null, 10)).map(({ object }) => object.name);
  assert.deepEqual(await names(''), ['Three', 'Two', 'One']);
  assert.deepEqual(await names('TWO'), ['Two']);
  assert.equal(await audit.count({ action: 'token.create' }), 1);
  assert.deepEqual((await audit.list({}, null, 1))[0]?.after, { name: TEXT });
  assert.equal(await audit.trim(Date.now() + 1000, 2), 2);
});

onEachDatabase(
  'a notice is stored once, sent by one daemon, and kept while its event could be noticed again',
  async (open) => {
    const { notices } = (await open()).store;
    const notice = (key: string, at: number, keepUntil = 0): Notice => ({
      ...{ id: randomUUID(), key, type: 'account.expiring', at, data: { text: TEXT }, keepUntil },
      ...{ channel: 'email', recipient: 'operator', accountId: null },
    });
    assert.equal(await notices.add([notice('a', 2), notice('b', 1), notice('a', 3)]), 2);
    assert.equal(
      await notices.add([notice('a', 4)]),
      0,
      'another daemon, or the same one after a restart, does not store it again',
    );
    const due = await notices.due({ channel: 'email' }, 5, 10, 60);
    assert.deepEqual(
      due.map(({ key, at, data, tries }) => [key, at, data, tries]),
      [
        ['b', 1, { text: TEXT }, 0],
        ['a', 2, { text: TEXT }, 0],
      ],
    );
    assert.deepEqual(await notices.due({ channel: 'telegram' }, 5, 10, 60), []);
    assert.equal(await notices.nextDueAt({ channel: 'email' }, 0, 60), 1);
    const [first] = due;
    assert.ok(first);
    const claims = await Promise.all([notices.claim(first, 5, 50), notices.claim(first, 5, 50)]);
    assert.deepEqual(claims.sort(), [false, true], 'one daemon tries it');
    assert.deepEqual(await notices.triedBetween('email', 4, 5), { count: 1, first: 5 });
    assert.deepEqual(await notices.triedBetween('email', 5, 9), { count: 0, first: null });
    assert.equal(
      (await notices.due({ channel: 'email' }, 49, 10, 60)).length,
      1,
      'the claimed notice is not due',
    );
    assert.equal((await notices.due({ channel: 'email' }, 50 - HOUR_MS, 10, 60)).length, 0);
    assert.equal(
      (await notices.due({ channel: 'email' }, 50 - DAY_MS, 10, 60)).length,
      2,
      'the clock has been set back',
    );
    assert.equal(
      (await notices.triedBetween('email', -DAY_MS, 4)).count,
      0,
      'its earlier attempts do not count',
    );
    await notices.release(first);
    assert.equal((await notices.due({ channel: 'email' }, 49, 10, 60))[0]?.tries, 0);
    assert.ok(await notices.claim(first, 6, 50));
    await notices.tried('b', { state: 'failed', dueAt: null, detail: TEXT });
    const [newest, oldest] = await notices.list({ since: 0, limit: 10 });
    assert.ok(newest && oldest && newest.id > oldest.id);
    const [failed] = await notices.list({ since: 0, limit: 10, state: 'failed' });
    assert.deepEqual([failed?.key, failed?.tries, failed?.triedAt, failed?.detail], ['b', 1, 6, TEXT]);
    assert.ok(failed);
    assert.equal(await notices.retry(failed.id, 7), 'queued');
    assert.equal(await notices.retry(failed.id, 7), 'pending');
    assert.equal(await notices.retry(randomUUID(), 7), null);

    await notices.tried('b', { state: 'delivered', dueAt: null, detail: '' });
    await notices.add([notice('kept', 1, 12)]);
    await notices.tried('kept', { state: 'delivered', dueAt: null, detail: '' });
    const keys = async () => (await notices.list({ since: 0, limit: 10 })).map(({ key }) => key).sort();
    await notices.trim(10, 11, 100);
    assert.deepEqual(
      await keys(),
      ['a', 'kept'],
      'a pending notice, and one whose event could be noticed again',
    );
    await notices.trim(10, 13, 100);
    assert.deepEqual(await keys(), ['a']);

    await notices.add([{ ...notice('of a player', 1), recipient: 'player', accountId: 'one' }]);
    const order = (await notices.due({ channel: 'email' }, 60, 10, 60)).map(({ key }) => key);
    assert.deepEqual(order, ['a', 'of a player'], 'the operator’s first, though it is due later');
    assert.deepEqual(await notices.keysSince(1, 'accounts'), ['of a player'], 'those of accounts');
    assert.deepEqual(await notices.keysSince(2, 'accounts'), []);
  },
);

onEachDatabase(
  'the messages of a seller have a share, and delay neither other sellers nor the operator',
  async (open) => {
    const { notices } = (await open()).store;
    const of = (key: string, owner: string | null, at: number): Notice => ({
      ...{ id: randomUUID(), key, type: 'account.expiring', at, data: {}, keepUntil: 0, owner },
      ...{ channel: 'email', recipient: 'player', accountId: key },
    });
    const many = Array.from({ length: 5 }, (_, i) => of(`loud ${i}`, 'loud', i));
    await notices.add([...many, of('own 0', null, 7), of('own 1', null, 8), of('quiet 0', 'quiet', 9)]);
    const attempt = async (now: number) => {
      const [due] = await notices.due({ channel: 'email' }, now, 1, 3);
      if (!due || !(await notices.claim(due, now, now + 100))) return null;
      await notices.tried(due.key, { state: 'delivered', dueAt: null, detail: '' });
      return due.key;
    };
    const order: (string | null)[] = [];
    for (let now = 10; now < 17; now++) order.push(await attempt(now));
    assert.deepEqual(order, ['loud 0', 'own 0', 'quiet 0', 'loud 1', 'own 1', 'loud 2', null]);
    assert.equal(
      await notices.nextDueAt({ channel: 'email' }, 17, 3),
      null,
      'no attempt is due before the hour ends',
    );
    const code = { ...of('code', 'loud', 17), type: 'contact.code' as const };
    assert.equal(
      await notices.addSent(code, { sellerPerHour: 3, perMinute: 100 }),
      false,
      'codes count, too',
    );
    assert.equal(
      await notices.addSent({ ...code, owner: 'quiet' }, { sellerPerHour: 3, perMinute: 6 }),
      false,
    );
    assert.equal(
      await notices.addSent({ ...code, owner: 'quiet' }, { sellerPerHour: 3, perMinute: 7 }),
      true,
    );
    assert.equal(await attempt(11 + HOUR_MS), 'loud 3', 'the first attempts are an hour old');
  },
);

onEachDatabase('a code confirms one address of one account, within its time and five tries', async (open) => {
  const { accounts, contactCodes } = (await open()).store;
  const one = account({ username: 'anna' });
  const { id } = one;
  assert.equal(await addAccount(accounts, one), 'added');
  const to = { accountId: id, channel: 'email' as const, address: 'anna@example.com' };
  const put = (address: string, sentAt: number, pauseSince = 0) =>
    contactCodes.putCode(
      { ...to, address },
      { hash: `right ${sentAt}`, sentAt, expiresAt: sentAt + 100 },
      pauseSince,
    );
  const confirm = (hash: string, now: number) => contactCodes.confirm(to, hash, now, 5);
  assert.equal(await confirm('right 1', 2), false, 'no code was sent');
  assert.equal(await put(to.address, 1), true);
  assert.equal(await put(to.address, 2), false, 'another code to the address so soon');
  assert.equal(await confirm('right 1', 101), false, 'expired');
  assert.deepEqual(await contactCodes.confirmed(), []);
  for (let i = 0; i < 5; i++) assert.equal(await confirm('wrong', 2), false);
  assert.equal(await confirm('right 1', 2), false, 'after five wrong ones');
  assert.equal(await put(to.address, 3, 2), true);
  assert.equal(await confirm('right 1', 4), false, 'replaced');
  assert.equal(await confirm('right 3', 4), true);
  assert.equal(await confirm('right 3', 4), false, 'used');
  assert.deepEqual(await contactCodes.confirmed(id), [to]);
  assert.equal(await put('other@example.com', 5), true);
  assert.deepEqual(await contactCodes.confirmed(), [], 'another address is not confirmed');
});

onEachDatabase('many notices of one account do not delay the notice of another', async (open) => {
  const { notices } = (await open()).store;
  const toPlayer = (key: string, accountId: string, at: number, channel: 'email' | 'telegram'): Notice => ({
    ...{ id: randomUUID(), key, type: 'account.expiring', at, data: {}, keepUntil: 0 },
    ...{ channel, recipient: 'player', accountId },
  });
  const many = Array.from({ length: 5 }, (_, i) => toPlayer(`many ${i}`, 'loud', i, 'email'));
  await notices.add([...many, toPlayer('other', 'quiet', 9, 'email'), toPlayer('tg', 'loud', 9, 'telegram')]);
  const next = async (now: number, channel: 'email' | 'telegram' = 'email') => {
    const [due] = await notices.due({ channel }, now, 1, 60);
    assert.ok(due);
    return due;
  };
  const attempt = async (now: number, state: 'delivered' | 'pending') => {
    const due = await next(now);
    assert.ok(await notices.claim(due, now, now + 100));
    await notices.tried(due.key, { state, dueAt: state === 'pending' ? now : null, detail: '' });
    return due.key;
  };
  assert.equal(await attempt(10, 'pending'), 'many 0');
  assert.equal(await attempt(11, 'pending'), 'other');
  assert.equal(
    await attempt(12, 'delivered'),
    'many 1',
    'each account has had one attempt, so the earliest notice is first',
  );
  assert.equal(await attempt(13, 'delivered'), 'other', 'this account has had one attempt, the other two');
  assert.equal((await next(14)).key, 'many 2');
  await notices.add([toPlayer('again', 'quiet', 20, 'email')]);
  assert.equal((await next(20)).key, 'many 2', 'attempts count, also those that repeat a notice');
  await notices.add([toPlayer('third', 'new', 21, 'email')]);
  assert.equal((await next(21)).key, 'third');
  assert.equal((await next(21, 'telegram')).key, 'tg', 'each channel counts for itself');
  assert.equal((await next(HOUR_MS + 100)).key, 'many 2', 'an hour later the earliest is first again');
});

onEachDatabase(
  'limits and traffic are stored for existing accounts only, and traffic adds up',
  async (open) => {
    const { accounts, traffic, samples } = (await open()).store;
    const sumsOf = async (...args: Parameters<typeof traffic.sums>) =>
      (await traffic.sums(...args)).map(({ snapshot: _, ...sums }) => sums);
    const limits = { ...NO_LIMITS, maxSessions: 3, quotaBytes: 2 ** 50 };
    const [one, two] = [account({ limits }), account()];
    await accounts.addMany([one, two], DAEMON);
    assert.deepEqual([await accountOf(accounts, one.id), await accountOf(accounts, two.id)], [one, two]);
    const quotaReset = { at: NOW, totalBytes: 2 ** 45 };
    const changes = [two.id, randomUUID()].map((id) => ({
      id,
      after: (stored: Account) => ({ ...stored, limits, quotaReset }),
    }));
    const changed = { ...two, limits, quotaReset };
    assert.deepEqual(await accounts.changeMany(changes, DAEMON), [changed]);
    assert.deepEqual(await accounts.getMany([two.id]), [changed]);
    const day = { bytesUp: 2 ** 40, bytesDown: 1, sessions: 1 };
    const rows = [
      { accountId: one.id, day: 20_000, ...day },
      { accountId: one.id, day: 20_001, ...day },
      { accountId: randomUUID(), day: 20_000, ...day },
    ];
    await traffic.add(rows, 1, 32);
    await traffic.add(rows, 2, 32);
    assert.deepEqual(await traffic.days(one.id, 20_001), [
      { accountId: one.id, day: 20_001, bytesUp: 2 ** 41, bytesDown: 2, sessions: 2 },
    ]);
    assert.deepEqual(await sumsOf(20_001), [
      { accountId: one.id, bytesUp: 2 ** 42, bytesDown: 4, bytesSince: 2 ** 41 + 2 },
    ]);
    assert.deepEqual(await samples.trafficSince(20_001), [{ id: one.id, up: 2 ** 41, down: 2 }]);
    await accounts.removeMany([one.id]);
    assert.deepEqual(await sumsOf(null), []);

    // An import may bring any usage. Sums that no number holds exactly are rounded.
    const most = { bytesUp: Number.MAX_SAFE_INTEGER, bytesDown: Number.MAX_SAFE_INTEGER, sessions: 0 };
    await traffic.add([{ accountId: two.id, day: 20_000, ...most }], 3, 32);
    const rounded = { bytesUp: 2 ** 53 - 1, bytesDown: 2 ** 53 - 1, bytesSince: 2 ** 54 - 2 };
    assert.deepEqual(await sumsOf(null), [{ accountId: two.id, ...rounded }]);
  },
);

onEachDatabase('samples add up in every step', async (open) => {
  const { samples } = (await open()).store;
  const sample: Sample = {
    sessions: 1,
    playersOnline: 0.5,
    bytesUp: 2 ** 41,
    bytesDown: 3,
    logins: 4,
    failures: 5,
    heartbeats: 6,
    runs: 7,
  };
  for (const minute of [60_000, 120_000]) {
    await samples.add({ minute, hour: 0, day: 0, month: 0 }, sample, 1);
  }
  assert.deepEqual(
    (await samples.list('minute', 0)).map(({ at }) => at),
    [60_000, 120_000],
  );
  const [hour] = await samples.list('hour', 0);
  assert.deepEqual([hour?.measured, hour?.playersOnline, hour?.bytesUp], [2, 1, 2 ** 42]);
  await samples.trim('minute', 100_000);
  assert.equal((await samples.list('minute', 0)).length, 1);
  assert.deepEqual(await samples.runs(0), { queued: 0, running: 0, succeeded: 0, failed: 0 });
});

onEachDatabase('logins are found by parts of a name or an address, regardless of case', async (open) => {
  const { logins } = (await open()).store;
  const login = (
    username: string,
    client: string,
    outcome: LoginEntry['outcome'] = 'success',
  ): LoginEntry => ({
    at: NOW,
    accountId: null,
    username,
    client,
    outcome,
    times: 1,
  });
  const places = await logins.add([login('Ann', '10.0.0.1'), login('bo%', '10.0.0.2', 'unknown-user')]);
  await logins.repeated([{ place: places[1] ?? 0, times: 2 ** 33 }]);
  const names = async (search: string) =>
    (await logins.list({ search }, null, 10)).map(({ username }) => username);
  assert.deepEqual(await names('ANN'), ['Ann']);
  assert.deepEqual(await names('10.0.0'), ['bo%', 'Ann']);
  assert.deepEqual(await names('%'), ['bo%']);
  assert.equal((await logins.list({ failed: true }, null, 10))[0]?.times, 2 ** 33);
  assert.equal(await logins.count({ search: 'nn', failed: false }), 1);
  for (const search of ['', '10', '10.0.0'])
    for (const [from, to, found] of [
      [NOW, NOW + 1, 2],
      [NOW - 1, NOW, 0],
      [NOW + 1, NOW + 2, 0],
    ] as const) {
      assert.equal(await logins.count({ search, from, to }), found);
      assert.equal((await logins.list({ search, from, to }, null, 10)).length, found);
    }
  assert.equal(await logins.trim(0, 1, 10), 1);
});

onEachDatabase('lists sort and compare by bytes, on which cursors and prefixes of ids rely', async (open) => {
  const { agentSessions, runs } = (await open()).store;
  const keys = ['a', 'B', 'a-b', 'ab', '_'];
  const stored = await runs.add(
    keys.map((key) => run(key)),
    NOW,
  );
  const ids = stored.map((each) => (each.outcome === 'stored' ? each.runId : ''));
  await runs.claim(ids, 'me', NOW);
  const end = { status: 'succeeded', finishedAt: NOW, reply: 'r', error: null, deliver: false } as const;
  await runs.finish(
    ids.map((id) => ({ id, end })),
    'me',
    HISTORY,
  );
  const listed: string[] = [];
  for (let after = { lastUsedAt: NOW + 1, key: '' }; ; ) {
    const [next] = await agentSessions.list({ after, limit: 1 });
    if (!next) break;
    listed.push(next.key);
    after = { lastUsedAt: next.lastUsedAt, key: next.key };
  }
  assert.deepEqual(listed, [...keys].sort());
});
