// Limits of accounts for UDP: datagrams beyond the rate are dropped, and associations count as sessions.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { startTestDaemon, type TestDaemon } from '../helpers/daemon.js';
import { loggedInClient, readReply, request } from '../helpers/socks-client.js';
import { suiteScope } from '../helpers/suite.js';
import {
  associateThrough,
  startUdpEcho,
  UDP_ASSOCIATE,
  type UdpAssociationClient,
} from '../helpers/udp-client.js';

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

  // The bucket of this rate holds 2,048 bytes: four datagrams. The next would be relayed minutes later.
  const data = Buffer.alloc(500);
  const RELAYED = 4;
  const SENT = 20;

  /** Ends the association and returns the counts of its last log line. */
  async function countsOf(client: UdpAssociationClient, username: string) {
    const line = daemon.waitForLine(
      (each) => each.msg === 'session ended' && each['account'] === username && each['protocol'] === 'udp',
    );
    client.control.destroy();
    const { datagramsUp, datagramsDown, dropped } = (await line) as unknown as {
      datagramsUp: number;
      datagramsDown: number;
      dropped: Record<string, number>;
    };
    return { datagramsUp, datagramsDown, overRate: dropped['over-rate'] ?? 0 };
  }

  it('are relayed up at the rate of the account; more are dropped', async (t) => {
    const { login } = await account('udp-up', { bytesPerSecondUp: 1 });
    const far = await startUdpEcho(t);
    const client = await associateThrough(t, login);
    client.send('127.0.0.1', far.port, data);
    await client.receive();
    for (let n = 1; n < SENT; n += 1) client.send('127.0.0.1', far.port, data);
    // A destination that is always refused: after its line the daemon has read all datagrams before it.
    const read = daemon.waitForLine(
      (each) => each.msg === 'destination refused' && each['account'] === 'udp-up',
    );
    client.send('169.254.169.254', 80, data);
    await read;
    for (let n = 1; n < RELAYED; n += 1) await client.receive();
    assert.deepEqual(await countsOf(client, 'udp-up'), {
      datagramsUp: RELAYED,
      datagramsDown: RELAYED,
      overRate: SENT - RELAYED,
    });
  });

  it('are relayed down at the rate of the account; more are dropped', async (t) => {
    const { login } = await account('udp-down', { bytesPerSecondDown: 1 });
    const far = await startUdpEcho(t);
    const client = await associateThrough(t, login);
    // One after another, so that the daemon has read at least some of the last answers at the end.
    for (let n = 0; n < SENT; n += 1) {
      client.send('127.0.0.1', far.port, data);
      await far.receive();
    }
    for (let n = 0; n < RELAYED; n += 1) await client.receive();
    const { overRate, ...relayed } = await countsOf(client, 'udp-down');
    assert.deepEqual(relayed, { datagramsUp: SENT, datagramsDown: RELAYED });
    assert.ok(overRate > 0 && overRate <= SENT - RELAYED, `${overRate}`);
  });

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
