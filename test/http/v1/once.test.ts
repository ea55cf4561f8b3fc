// What is kept of a request with `Idempotency-Key`: for how long, how much, and that the database reveals none of it.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { auditRecord } from '../../../src/core/audit/audit.js';
import type { ProblemAnswer } from '../../../src/http/api/problem.js';
import type { Answered, HandlerInput, Route, RouteRequest } from '../../../src/http/api/route.js';
import { keptIn } from '../../../src/http/api/route.js';
import { actorOf, commandCaller } from '../../../src/http/caller.js';
import type { Services } from '../../../src/http/services.js';
import { carriedOutOnce } from '../../../src/http/v1/once.js';
import { openStore } from '../../../src/store/store.js';
import { databaseOf, dropDatabaseOf } from '../../helpers/database.js';

const DAY_MS = 86_400_000;
const KEY = 'a-key-of-the-shop';

/** A route that counts its changes, with a database and a clock. */
async function setUp(t: TestContext, maxAnswerBytes: number, answerOf = (made: number) => `answer ${made}`) {
  const dataDir = await mkdtemp(join(tmpdir(), 'pulsegate-once-'));
  let now = Date.UTC(2030, 0, 1);
  const store = await openStore({ ...(await databaseOf(dataDir)), now: () => now });
  t.after(async () => {
    await store.close();
    await dropDatabaseOf(dataDir);
    await rm(dataDir, { recursive: true, force: true });
  });
  let made = 0;
  const route = {
    ...{ method: 'POST', path: '/api/v1/things', operationId: 'addThing', summary: '', tag: '' },
    ...{ access: 'settings:write', request: {}, success: [201, ''] },
    async handle({ caller }: HandlerInput<RouteRequest>) {
      made++;
      const object = { type: 'settings', id: 'thing', name: null } as const;
      await store.audit.add([auditRecord(actorOf(caller), 'settings.exits', object)]);
      return { body: answerOf(made) };
    },
  } as unknown as Route;
  const stored: string[] = [];
  const names: string[] = [];
  const watched = {
    ...store.runs,
    async storeAnswer(...[request, answer]: Parameters<typeof store.runs.storeAnswer>) {
      stored.push(answer);
      names.push(request.key);
      await store.runs.storeAnswer(request, answer);
    },
  };
  const once = carriedOutOnce({ store: watched, maxKeys: 10, maxAnswerBytes }, () => now)(route);
  const ctx = { path: route.path, req: { rawHeaders: ['Idempotency-Key', KEY] } };
  return {
    store,
    stored,
    names,
    made: () => made,
    advance: (ms: number) => {
      now += ms;
    },
    call: (body: object = { name: 'x' }): Promise<Answered | ProblemAnswer> => {
      const input = { caller: commandCaller('shop'), kept: keptIn({}), params: {}, query: {}, body, ctx };
      return once.handle(input as unknown as HandlerInput<RouteRequest>, {} as Services);
    },
    now: () => now,
  };
}

const isReplayed = (answer: Answered | ProblemAnswer) =>
  'headers' in answer && answer.headers?.['Idempotency-Replayed'] === 'true';

test('an answer is repeated for 24 hours, and then the request is a new one', async (t) => {
  const { call, made, advance, store, now } = await setUp(t, 10_000);
  assert.deepEqual(await call(), { body: 'answer 1' });
  advance(DAY_MS - 1);
  assert.deepEqual(await call(), { body: 'answer 1', headers: { 'Idempotency-Replayed': 'true' } });
  advance(1);
  assert.deepEqual(await call(), { body: 'answer 2' });
  assert.ok(isReplayed(await call()));
  assert.equal(made(), 2);
  advance(DAY_MS);
  assert.equal(await store.runs.countKeys('request '), 1);
  await store.runs.trim(0, now(), 100);
  assert.equal(await store.runs.countKeys('request '), 0);
});

test('an answer is kept up to the largest size; a longer one is 409, and nothing is done again', async (t) => {
  const probe = await setUp(t, 10_000);
  await probe.call();
  const { length } = probe.stored.at(-1) ?? '';
  assert.ok(length > 100);

  const fitting = await setUp(t, length);
  await fitting.call();
  assert.ok(isReplayed(await fitting.call()));
  const longer = await setUp(t, length - 1);
  await longer.call();
  const refused = await longer.call();
  assert.equal('reason' in refused && refused.reason?.code, 'key-pending');
  assert.equal(longer.made(), 1);
});

test('the database contains neither the idempotency key nor the answer', async (t) => {
  const { call, stored, names } = await setUp(t, 10_000, () => 'the password');
  await call();
  assert.equal(stored.length, 1);
  for (const secret of [KEY, 'the password']) {
    for (const form of [secret, Buffer.from(secret).toString('base64').slice(0, -4)])
      assert.ok(![...stored, ...names].join().includes(form), form);
  }
});
