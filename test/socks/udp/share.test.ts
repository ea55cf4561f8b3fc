// The limits of one account in the relay of datagrams: associations, and decisions about new destinations and senders.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { type LogLine, startTestDaemon, type TestDaemon } from '../../helpers/daemon.js';
import { suiteScope } from '../../helpers/suite.js';
import { associateThrough, startUdpEcho, UdpEnd } from '../../helpers/udp-client.js';

for (const engine of ['node', 'native'] as const) {
  describe(`an account that uses much of the datagram relay (${engine})`, () => {
    const scope = suiteScope();
    let daemon: TestDaemon;
    before(async () => {
      daemon = await startTestDaemon(scope, {
        config: {
          socks: {
            engine,
            udp: { maxAssociationsPerAccount: 2, maxDecisionsPerSecond: 40, maxDestinations: 1 },
          },
          egress: { private: 'allow' },
          heartbeats: {
            games: [
              { id: 'one', match: { hosts: ['127.0.0.1'], protocol: 'udp' } },
              { id: 'two', match: { hosts: ['127.0.0.2'], protocol: 'udp' } },
            ],
          },
        },
      });
    });

    async function newAccount(username: string) {
      await daemon.addAccount(username, 'secret');
      return { port: daemon.socks.port, username, password: 'secret' };
    }

    async function dropped(username: string): Promise<Record<string, number>> {
      const isEnd = (line: LogLine): boolean => line.msg === 'session ended' && line['account'] === username;
      return (await daemon.waitForLine(isEnd))['dropped'] as Record<string, number>;
    }

    it('has the association that was idle longest ended for a new one beyond maxAssociationsPerAccount', async (t) => {
      const account = await newAccount('many');
      const echo = await startUdpEcho(t);
      const [first, second] = [await associateThrough(t, account), await associateThrough(t, account)];
      // The older one is in use.
      assert.equal(await first.roundTrip('127.0.0.1', echo.port, 'x'), 'x');
      // Other accounts have their own.
      await associateThrough(t, await newAccount('another'));
      assert.equal(second.control.socket.destroyed, false);
      const third = await associateThrough(t, account);
      await second.control.closed();
      assert.equal(await third.roundTrip('127.0.0.1', echo.port, 'y'), 'y');
      assert.equal(await first.roundTrip('127.0.0.1', echo.port, 'z'), 'z');
      const end = await daemon.waitForLine(
        (each) => each.msg === 'session ended' && each['account'] === 'many',
      );
      assert.equal(end['end'], 'made-room');
    });

    it('has datagrams of unknown senders dropped beyond the limit, while those of known destinations are relayed', async (t) => {
      const account = await newAccount('flooded');
      const echo = await startUdpEcho(t);
      const client = await associateThrough(t, account);
      assert.equal(await client.roundTrip('127.0.0.1', echo.port, 'x'), 'x');
      // The outer port of the association.
      const outerPort = await new Promise<number>((resolve) => {
        echo.socket.once('message', (_data, { port }) => resolve(port));
        client.send('127.0.0.1', echo.port, 'y');
      });
      await client.receive();
      const senders = await Promise.all(Array.from({ length: 10 }, () => UdpEnd.open(t)));
      for (let i = 0; i < 300; i += 1) senders[i % 10]?.send('flood', outerPort, '127.0.0.1');
      for (let i = 0; i < 20; i += 1) client.send('127.0.0.1', echo.port, `known ${i}`);
      const answers = new Set<string>();
      while (answers.size < 20) {
        const text = (await client.receive()).data.toString();
        if (text.startsWith('known')) answers.add(text);
      }
      // Datagrams of other senders do not reduce the client's decisions, so it reaches new destinations.
      const another = await UdpEnd.open(t);
      client.send('127.0.0.1', another.port, 'new');
      assert.equal((await another.receive()).data.toString(), 'new');
      client.control.destroy();
      const dropCounts = await dropped('flooded');
      assert.ok((dropCounts['over-share'] ?? 0) > 200, JSON.stringify(dropCounts));
    });

    it('does not make one heartbeat for each datagram by alternating between destinations of two rules', async (t) => {
      const account = await newAccount('alternating');
      const ends = [await UdpEnd.open(t, '127.0.0.1'), await UdpEnd.open(t, '127.0.0.2')];
      const client = await associateThrough(t, account);
      for (let i = 0; i < 60; i += 1) {
        client.send(`127.0.0.${1 + (i % 2)}`, ends[i % 2]?.port ?? 0, `${i}`);
      }
      await ends[0]?.receive();
      client.control.destroy();
      await dropped('alternating');
      const { DataCount } = await daemon.account('alternating');
      assert.ok(Number(DataCount) <= 5, `${DataCount} entries`);
    });
  });
}
