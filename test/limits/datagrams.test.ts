// Limits of accounts for UDP: datagrams beyond the rate are dropped, and associations count as sessions.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { startTestDaemon, type TestDaemon } from '../helpers/daemon.js';
import { loggedInClient, readReply, request } from '../helpers/socks-client.js';
import { suiteScope } from '../helpers/suite.js';
import { associateThrough, startUdpEcho, UDP_ASSOCIATE } from '../helpers/udp-client.js';

describe('datagrams of an account with limits', () => {
  const scope = suiteScope();
  let daemon: TestDaemon;
  before(async () => {
    daemon = await startTestDaemon(scope);
  });

  async function account(username: string, limits: Record<string, unknown>) {
    const id = await daemon.addAccount(username, 'secret');
    const set = await daemon.api('PATCH', `/api/v1/accounts/${id}/limits`, limits);
    assert.equal(set.status, 200, set.text);
    return { id, login: { port: daemon.socks.port, username, password: 'secret' } };
  }

  for (const [direction, limits] of [
    ['up', { bytesPerSecondUp: 50_000 }],
    ['down', { bytesPerSecondDown: 50_000 }],
  ] as const) {
    it(`are relayed ${direction} at the rate of the account; more are dropped`, async (t) => {
      const { login } = await account(`udp-${direction}`, limits);
      const far = await startUdpEcho(t);
      const client = await associateThrough(t, login);
      const data = Buffer.alloc(500);
      const startedAt = performance.now();
      // 250,000 bytes a second: five times what may pass.
      while (performance.now() - startedAt < 1_500) {
        for (let i = 0; i < 5; i += 1) client.send('127.0.0.1', far.port, data);
        await pause(10);
      }
      await pause(200);
      const seconds = (performance.now() - startedAt) / 1000;
      const rate = (client.end.unread * data.length) / seconds;
      // Never more, and a burst of a tenth of a second; less when the machine is too busy to send enough.
      assert.ok(rate > 5_000 && rate < 65_000, `${rate.toFixed(0)} bytes a second`);
    });
  }

  it('count towards the quota, and the association ends when it is used up', async (t) => {
    const { id, login } = await account('udp-quota', { quotaBytes: 20_000, quotaPeriod: 'never' });
    const far = await startUdpEcho(t);
    const client = await associateThrough(t, login);
    // How many datagrams are relayed until the quota is checked depends on the machine.
    let [sent, received, ended] = [0, 0, false];
    const line = daemon.waitForLine(
      (each) => each.msg === 'session ended' && each['account'] === 'udp-quota',
    );
    void line.finally(() => {
      ended = true;
    });
    while (!ended) {
      client.send('127.0.0.1', far.port, Buffer.alloc(500));
      sent += 1;
      await client.receive(1_000).then(
        () => {
          received += 1;
        },
        () => undefined,
      );
    }
    assert.equal((await line)['end'], 'over-quota');
    const { usage } = (await daemon.api('GET', `/api/v1/accounts/${id}/limits`)).json as {
      usage: Record<'totalBytesUp' | 'totalBytesDown' | 'sessions', number>;
    };
    assert.equal(usage.sessions, 0);
    assert.ok(usage.totalBytesUp + usage.totalBytesDown >= 20_000, JSON.stringify(usage));
    assert.ok(
      usage.totalBytesUp <= sent * 500 && usage.totalBytesDown >= received * 500,
      JSON.stringify(usage),
    );
  });

  it('need an association, which maxSessions counts', async (t) => {
    const { login } = await account('udp-sessions', { maxSessions: 1 });
    await associateThrough(t, login);
    const client = await loggedInClient(login);
    client.send(request('0.0.0.0', 0, UDP_ASSOCIATE));
    assert.equal((await readReply(client)).code, 2);
    client.destroy();
  });
});
