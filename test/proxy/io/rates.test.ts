// A shared rate under a test clock: never exceeded, equal for all flows, and without long gaps.
import assert from 'node:assert/strict';
import { describe, it, mock } from 'node:test';
import { createSharedRate } from '../../../src/proxy/io/rates.js';

/** The test's clock, with mocked timers of Node. */
const clock = (now: () => number) => ({
  now,
  timer(delayMs: number, callback: () => void) {
    const timeout = setTimeout(callback, delayMs);
    return { clear: () => clearTimeout(timeout) };
  },
});

/** Runs greedy flows for `seconds`. Returns the bytes of each flow, and of all flows in each 100 ms. */
function run(rate: number, flows: readonly number[], seconds: number, change?: { atMs: number; to: number }) {
  mock.timers.enable({ apis: ['setTimeout'] });
  try {
    let nowMs = 0;
    const shared = createSharedRate(
      rate,
      clock(() => nowMs),
    );
    const bytesOf = flows.map(() => 0);
    const perTick: number[] = new Array(seconds * 10).fill(0);
    const pumps = flows.map((chunk, i) => {
      const share = shared.join(() => pump());
      const pump = (): void => {
        for (;;) {
          const taken = share.take(chunk);
          assert.ok(taken >= 0 && taken <= chunk, `${taken} of ${chunk}`);
          if (taken === 0) return;
          bytesOf[i] = (bytesOf[i] ?? 0) + taken;
          const tick = Math.floor(nowMs / 100);
          perTick[tick] = (perTick[tick] ?? 0) + taken;
        }
      };
      return pump;
    });
    for (const pump of pumps) pump();
    for (; nowMs < seconds * 1000 - 1; ) {
      nowMs += 1;
      if (change && nowMs === change.atMs) shared.setRate(change.to);
      mock.timers.tick(1);
    }
    return { bytesOf, perTick };
  } finally {
    mock.timers.reset();
  }
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0);

describe('a shared rate', () => {
  for (const rate of [1_000, 20_000, 1_000_000, 50_000_000]) {
    it(`passes ${rate} bytes a second without bursts`, () => {
      const { bytesOf, perTick } = run(rate, [65_536], 10);
      const burst = Math.max(2048, rate / 10);
      assert.ok(sum(bytesOf) <= rate * 10 + burst, `${sum(bytesOf)}`);
      assert.ok(sum(bytesOf) >= rate * 9.5, `${sum(bytesOf)}`);
      // After the first half second, each half second has the same number of bytes.
      for (let at = 5; at + 5 <= perTick.length; at += 5) {
        const half = sum(perTick.slice(at, at + 5));
        assert.ok(Math.abs(half - rate / 2) <= Math.max(1100, rate * 0.15), `${half} at ${at}`);
      }
    });
  }

  it('is shared equally by flows with chunks of different sizes', () => {
    const { bytesOf } = run(100_000, [65_536, 1_000, 200, 16_384], 10);
    const fair = sum(bytesOf) / bytesOf.length;
    for (const each of bytesOf) assert.ok(Math.abs(each - fair) <= fair * 0.05, bytesOf.join(' '));
  });

  it('gives a flow no credit for its idle time', () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    let nowMs = 0;
    const shared = createSharedRate(
      10_000,
      clock(() => nowMs),
    );
    const bytesOf = [0, 0];
    const active = [true, false];
    const pumps = [0, 1].map((i) => {
      const share = shared.join(() => pump());
      const pump = (): void => {
        for (let taken = 1; active[i] && taken > 0; bytesOf[i] = (bytesOf[i] ?? 0) + taken)
          taken = share.take(4_000);
      };
      return pump;
    });
    pumps[0]?.();
    for (; nowMs < 5_000; mock.timers.tick(1)) nowMs += 1;
    const [before = 0] = bytesOf;
    active[1] = true;
    pumps[1]?.();
    for (; nowMs < 10_000; mock.timers.tick(1)) nowMs += 1;
    mock.timers.reset();
    const [first = 0, second = 0] = [(bytesOf[0] ?? 0) - before, bytesOf[1]];
    assert.ok(Math.abs(first - second) <= (first + second) * 0.1, `${first} and ${second}`);
  });

  it('applies a new rate at once, and no limit when the rate is infinite', () => {
    const slower = run(100_000, [65_536], 10, { atMs: 5_000, to: 10_000 });
    assert.ok(Math.abs(sum(slower.bytesOf) - 550_000) < 30_000, `${sum(slower.bytesOf)}`);
    mock.timers.enable({ apis: ['setTimeout'] });
    let nowMs = 0;
    const shared = createSharedRate(
      1_000,
      clock(() => nowMs),
    );
    let turns = 0;
    const share = shared.join(() => {
      turns += 1;
    });
    while (share.take(65_536) > 0);
    shared.setRate(Number.POSITIVE_INFINITY);
    assert.equal(turns, 1);
    assert.equal(share.take(1e9), 1e9);
    nowMs += 1;
    mock.timers.reset();
  });

  it('has no timer after the last flow has ended', () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    let turns = 0;
    const shared = createSharedRate(
      1_000,
      clock(() => 0),
    );
    const share = shared.join(() => {
      turns += 1;
    });
    while (share.take(65_536) > 0);
    share.end();
    mock.timers.tick(60_000);
    mock.timers.reset();
    assert.equal(turns, 0);
  });

  it('passes datagrams up to the rate, also those larger than the burst', () => {
    let nowMs = 0;
    const shared = createSharedRate(
      10_000,
      clock(() => nowMs),
    );
    let passed = 0;
    for (; nowMs < 10_000; nowMs += 5) if (shared.pass(200)) passed += 200;
    assert.ok(Math.abs(passed - 100_000) < 5_000, `${passed}`);
    let large = 0;
    for (; nowMs < 20_000; nowMs += 5) if (shared.pass(20_000)) large += 1;
    assert.ok(large >= 4 && large <= 6, `${large}`);
  });
});
