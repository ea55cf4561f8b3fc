// Relaying through the daemon with many associations and much traffic, which the suites of the drivers do not cover.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { before, describe, it } from 'node:test';
import { NO_GUARD, startTestDaemon, type TestDaemon } from '../helpers/daemon.js';
import { descriptorsBackTo, openDescriptors } from '../helpers/descriptors.js';
import { forEach } from '../helpers/for-each.js';
import { scaled } from '../helpers/scale.js';
import { connectThrough } from '../helpers/socks-client.js';
import { suiteScope } from '../helpers/suite.js';
import { startTarget } from '../helpers/targets.js';
import { associateThrough, startUdpEcho, type UdpAssociationClient } from '../helpers/udp-client.js';

const ASSOCIATIONS = scaled(100);
/** More datagrams than the control plane relays before a worker takes the association over. */
const ECHOES = 20;
const AT_ONCE = 64;
const RATE = 500_000;
/** The traffic of this time may be delayed on a busy machine, and then arrive at once. */
const STALL_SECONDS = 2;

describe('the daemon relays', { timeout: 300_000 }, () => {
  const scope = suiteScope();
  let daemon: TestDaemon;

  before(async () => {
    // An association counts as two connections. None of these opens the fourth descriptor that it might.
    daemon = await startTestDaemon(scope, {
      config: {
        guard: NO_GUARD,
        socks: {
          maxConnections: 2 * ASSOCIATIONS + 100,
          // One account has all of them, and the first datagram of each needs a decision.
          udp: { maxAssociationsPerAccount: ASSOCIATIONS, maxDecisionsPerSecond: 100 * ASSOCIATIONS },
        },
      },
    });
  });

  const login = async (username: string) => {
    const id = await daemon.addAccount(username, 'secret');
    return { id, login: { port: daemon.socks.port, username, password: 'secret' } };
  };

  it(`${ASSOCIATIONS} UDP associations at once without mixing their datagrams, and frees their descriptors`, async () => {
    const { login: player } = await login('many');
    const destination = await startUdpEcho(scope);
    const idle = openDescriptors(daemon.pid);
    const associations: UdpAssociationClient[] = [];
    await forEach(new Array(ASSOCIATIONS).fill(null), AT_ONCE, async () => {
      associations.push(await associateThrough(scope, player));
    });
    for (let echo = 0; echo < ECHOES; echo += 1) {
      await forEach(associations, AT_ONCE, async (association, i) => {
        const text = `association ${i}, echo ${echo}`;
        assert.equal(await association.roundTrip('127.0.0.1', destination.port, text), text);
      });
    }
    // Each association has its TCP connection and two UDP sockets.
    assert.ok(openDescriptors(daemon.pid) >= 3 * ASSOCIATIONS);
    for (const { control } of associations) control.destroy();
    await descriptorsBackTo(daemon.pid, idle, 60_000);
  });

  it('a fast session at the new rate of its account, without losing a byte', async () => {
    const { id, login: player } = await login('slowed');
    const block = randomBytes(1 << 20);
    let hasEnded = false;
    const target = await startTarget(scope, (socket) => {
      const send = (): void => {
        if (hasEnded) socket.end();
        else if (socket.write(block)) setImmediate(send);
      };
      socket.on('drain', send);
      // The target waits for data, because bytes that arrive with the reply would be missed by the handler below.
      socket.once('data', send);
    });
    const { socket } = await connectThrough(player, '127.0.0.1', target.port);
    socket.removeAllListeners('data');
    socket.write('go');
    let received = 0;
    socket.on('data', (chunk: Buffer) => {
      for (let at = 0; at < chunk.length; ) {
        const start = (received + at) % block.length;
        const length = Math.min(chunk.length - at, block.length - start);
        assert.ok(chunk.subarray(at, at + length).equals(block.subarray(start, start + length)));
        at += length;
      }
      received += chunk.length;
    });
    const untilReceived = (bytes: number) =>
      new Promise<void>((resolve) => {
        const check = (): void => {
          if (received < bytes) return;
          socket.off('data', check);
          resolve();
        };
        socket.on('data', check);
      });
    await untilReceived(100e6);
    const limits = { bytesPerSecondDown: RATE };
    const answer = await daemon.api('PATCH', `/api/v1/accounts/${id}/limits`, limits);
    assert.equal(answer.status, 200, answer.text);
    // Buffered bytes arrive first. They have all arrived after a second within the rate.
    for (let before = received; ; before = received) {
      const start = performance.now();
      await new Promise((resolve) => setTimeout(resolve, 1000));
      const seconds = (performance.now() - start) / 1000;
      if (received - before <= RATE * (seconds + 0.2)) break;
    }
    const before = received;
    const start = performance.now();
    await untilReceived(before + 3 * RATE);
    const seconds = (performance.now() - start) / 1000;
    assert.ok(
      received - before <= RATE * (seconds + STALL_SECONDS),
      `${received - before} bytes in ${seconds} s`,
    );
    hasEnded = true;
    socket.destroy();
    const ended = await daemon.waitForLine(
      (line) => line.msg === 'session ended' && line['account'] === 'slowed',
    );
    assert.match(String(ended['end']), /^client-/);
  });
});
