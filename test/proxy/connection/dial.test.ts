// Dialling: every attempt stays alive until one is connected, and a failure has the most useful error.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as immediate } from 'node:timers/promises';
import { dial, interleaveFamilies } from '../../../src/proxy/connection/dial.js';
import type { Stream } from '../../../src/proxy/io/io.js';
import { createNodeIo } from '../../../src/proxy/io/node/index.js';
import { startBlackHole } from '../../helpers/black-hole.js';
import { needs } from '../../helpers/programs.js';
import { echo, startTarget } from '../../helpers/targets.js';

type Outcome = { address: string; stream: Stream } | { code: string };

function dialOutcome(
  addresses: string[],
  port: number,
  timeoutMs = 3_000,
  attemptDelayMs = 50,
): Promise<Outcome> {
  return new Promise((resolve) => {
    dial(createNodeIo(), {
      addresses,
      port,
      timeoutMs,
      attemptDelayMs,
      onConnected: (stream, address) => resolve({ address, stream }),
      onFailed: (code) => resolve({ code }),
    });
  });
}

describe('dialling', () => {
  it('tries IPv6 and IPv4 addresses alternately, IPv6 first, each in the given order', () => {
    assert.deepEqual(interleaveFamilies(['1.1.1.1', '2.2.2.2', '::1', '3.3.3.3', '::2']), [
      '::1',
      '1.1.1.1',
      '::2',
      '2.2.2.2',
      '3.3.3.3',
    ]);
    assert.deepEqual(interleaveFamilies(['1.1.1.1']), ['1.1.1.1']);
    assert.deepEqual(interleaveFamilies([]), []);
  });

  it('tries the next address at once when one refuses', async (t) => {
    const target = await startTarget(t, echo);
    const outcome = await dialOutcome(['::1', '127.0.0.9', '127.0.0.1'], target.port, 3_000, 60_000);
    assert.ok('address' in outcome);
    assert.equal(outcome.address, '127.0.0.1');
    outcome.stream.close();
  });

  it('starts the next attempt while one does not respond', needs('python3'), async (t) => {
    const hole = await startBlackHole(t, '127.0.0.7');
    const target = await startTarget(t, echo, '127.0.0.1', hole.port);
    const outcome = await dialOutcome(['127.0.0.7', '127.0.0.1'], target.port);
    assert.ok('address' in outcome);
    assert.equal(outcome.address, '127.0.0.1');
    outcome.stream.close();
  });

  it('keeps a slow attempt alive while later ones fail', needs('python3'), async (t) => {
    const hole = await startBlackHole(t, '127.0.0.7');
    // The second address refuses at once; the first one answers only after that.
    const pending = dialOutcome(['127.0.0.7', '127.0.0.8'], hole.port);
    // Node calls connect(2) in the next tick: by now the SYN has been sent, and dropped.
    await immediate();
    hole.open();
    const outcome = await pending;
    assert.ok('address' in outcome, JSON.stringify(outcome));
    assert.equal(outcome.address, '127.0.0.7');
    outcome.stream.close();
  });

  it('fails with ETIMEDOUT at its time limit', needs('python3'), async (t) => {
    const hole = await startBlackHole(t, '127.0.0.7');
    assert.deepEqual(await dialOutcome(['127.0.0.7'], hole.port, 200), { code: 'ETIMEDOUT' });
  });

  it('fails with the most useful error: refused before unreachable', async (t) => {
    const closed = await startTarget(t, echo);
    // A connection to 255.255.255.255 is impossible, and one to 127.0.0.9 is refused, because no socket listens there.
    assert.deepEqual(await dialOutcome(['255.255.255.255', '127.0.0.9'], closed.port), {
      code: 'ECONNREFUSED',
    });
  });

  it('calls no callback after cancel', async (t) => {
    const target = await startTarget(t, echo);
    let called = false;
    const attempt = dial(createNodeIo(), {
      addresses: ['127.0.0.1'],
      port: target.port,
      timeoutMs: 100,
      attemptDelayMs: 50,
      onConnected: () => {
        called = true;
      },
      onFailed: () => {
        called = true;
      },
    });
    attempt.cancel();
    // A second dial to the same address is connected only after the first would have been.
    const after = await dialOutcome(['127.0.0.1'], target.port);
    if ('stream' in after) after.stream.close();
    assert.equal(called, false);
  });
});
