// A shop's script that repeats each request until it is answered, while every second answer is lost and the daemon is killed: each
// customer gets one account and one renewal.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { ADMIN, startTestDaemon, type TestDaemon } from '../../helpers/daemon.js';
import { dropDatabaseOf } from '../../helpers/database.js';
import { basic } from '../../helpers/http.js';

const PURCHASES = 80;
const AT_ONCE = 5;
/** The daemon is killed when so many purchases are begun. */
const KILLED_AT = [40];
const FIRST_EXPIRY = Date.UTC(2040, 0, 1);
const RENEWED_EXPIRY = Date.UTC(2040, 0, 31);

type Loss = 'none' | 'at-answer' | 'when-sent';

interface Answer {
  readonly status: number;
  readonly isReplayed: boolean;
  readonly json: Record<string, unknown>;
}

/** Sends a request. Resolves with null when its answer is lost. */
function post(
  daemon: TestDaemon,
  path: string,
  body: object,
  key: string,
  loss: Loss,
): Promise<Answer | null> {
  return new Promise((resolve) => {
    const sent = request(`${daemon.adminUrl}/api/v1/${path}`, {
      method: 'POST',
      agent: false,
      headers: {
        authorization: basic(ADMIN.username, ADMIN.password),
        'content-type': 'application/json',
        'idempotency-key': key,
      },
    });
    sent.on('close', () => resolve(null));
    sent.on('error', () => undefined);
    sent.on('response', (response) => {
      if (loss === 'at-answer') return sent.destroy();
      let text = '';
      response.on('data', (chunk: Buffer) => {
        text += chunk.toString();
      });
      response.on('end', () => {
        const isReplayed = response.headers['idempotency-replayed'] === 'true';
        resolve({ status: response.statusCode ?? 0, isReplayed, json: JSON.parse(text) });
      });
    });
    sent.end(JSON.stringify(body), () => {
      if (loss === 'when-sent') sent.destroy();
    });
  });
}

test(`${PURCHASES} purchases and renewals, every second answer lost and the daemon killed in between, count once each`, async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'pulsegate-shop-'));
  t.after(() => rm(dataDir, { recursive: true, force: true }));
  t.after(() => dropDatabaseOf(dataDir));
  const start = () => startTestDaemon(t, { dataDir });
  let daemon = start();
  let begun = 0;
  const figures = { requests: 0, lost: 0, replayed: 0 };

  /** Repeats the request until it is answered. The first answer of every second one is lost. */
  async function ask(path: string, body: object, key: string, n: number): Promise<Answer> {
    const losses: Loss[] = n % 2 === 0 ? [n % 4 === 0 ? 'at-answer' : 'when-sent'] : [];
    for (;;) {
      const loss = losses.shift() ?? 'none';
      figures.requests++;
      const answer = await post(await daemon, path, body, key, loss);
      if (answer) {
        if (answer.isReplayed) figures.replayed++;
        return answer;
      }
      figures.lost++;
    }
  }

  async function killAndStart(): Promise<void> {
    const killed = await daemon;
    daemon = (async () => {
      killed.signal('SIGKILL');
      await killed.exited();
      return start();
    })();
  }

  async function sell(n: number): Promise<void> {
    if (KILLED_AT.includes(++begun)) await killAndStart();
    const order = { username: `customer-${n}`, expiresAt: new Date(FIRST_EXPIRY).toISOString() };
    const bought = await ask('accounts', order, `order-${n}`, n);
    assert.equal(bought.status, 201, JSON.stringify(bought.json));
    const { account } = bought.json as { account: { id: string } };
    const renewal = {
      ids: [account.id],
      action: { type: 'extend', days: 30, from: 'expiry' },
      dryRun: false,
    };
    const renewed = await ask('accounts/bulk', renewal, `renewal-${n}`, n + 2);
    assert.deepEqual([renewed.status, renewed.json['count']], [200, 1], JSON.stringify(renewed.json));
  }

  const orders = Array.from({ length: PURCHASES }, (_, n) => n);
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let n = orders.shift(); n !== undefined; n = orders.shift()) await sell(n);
    }),
  );

  const { json } = await (await daemon).api('GET', '/api/v1/accounts?limit=1000');
  const { items } = json as { items: { username: string; expiresAt: string }[] };
  assert.deepEqual(
    items.map(({ username }) => username).sort(),
    Array.from({ length: PURCHASES }, (_, n) => `customer-${n}`).sort(),
  );
  for (const { username, expiresAt } of items) assert.equal(Date.parse(expiresAt), RENEWED_EXPIRY, username);
  // Of what was lost after it was answered, at least.
  assert.ok(figures.lost >= PURCHASES && figures.replayed >= PURCHASES / 4, JSON.stringify(figures));
  t.diagnostic(JSON.stringify(figures));
});
