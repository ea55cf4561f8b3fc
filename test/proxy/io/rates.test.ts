// A shared rate under a clock of our own: never more than it may, the same for every flow, and no long gaps.
import assert from 'node:assert/strict';
import { describe, it, mock } from 'node:test';
import { createSharedRate } from '../../../src/proxy/io/rates.js';

/** A clock of the test, with Node's timers, which the test moves too. */
const clock = (now: () => number) => ({
  now,
  timer(delayMs: number, callback: () => void) {
    const timeout = setTimeout(callback, delayMs);
    return { clear: () => clearTimeout(timeout) };
  },
});

/** Runs `seconds` of flows that always want more; returns what each moved, and in which 100 ms. */
function run(rate: number, flows: readonly number[], seconds: number, change?: { atMs: number; to: number }) {
  mock.timers.enable({ apis: ['setTimeout'] });
  try {
    let nowMs = 0;
    const shared = createSharedRate(
      rate,
      clock(() => nowMs),
    );
    const moved = flows.map(() => 0);
    const perTick: number[] = new Array(seconds * 10).fill(0);
    const pumps = flows.map((chunk, i) => {
      const share = shared.join(() => pump());
      const pump = (): void => {
        for (;;) {
          const taken = share.take(chunk);
          assert.ok(taken >= 0 && taken <= chunk, `${taken} of ${chunk}`);
          if (taken === 0) return;
          moved[i] = (moved[i] ?? 0) + taken;
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
    return { moved, perTick };
  } finally {
    mock.timers.reset();
  }
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0);

describe('a shared rate', () => {
  for (const rate of [1_000, 20_000, 1_000_000, 50_000_000]) {
    it(`lets ${rate} bytes a second through, smoothly`, () => {
      const { moved, perTick } = run(rate, [65_536], 10);
      const burst = Math.max(2048, rate / 10);
      assert.ok(sum(moved) <= rate * 10 + burst, `${sum(moved)}`);
      assert.ok(sum(moved) >= rate * 9.5, `${sum(moved)}`);
      // After the first moment every half second looks like every other.
      for (let at = 5; at + 5 <= perTick.length; at += 5) {
        const half = sum(perTick.slice(at, at + 5));
        assert.ok(Math.abs(half - rate / 2) <= Math.max(1100, rate * 0.15), `${half} at ${at}`);
      }
    });
  }

  it('is the same for flows with chunks of different size', () => {
    const { moved } = run(100_000, [65_536, 1_000, 200, 16_384], 10);
    const fair = sum(moved) / moved.length;
    for (const each of moved) assert.ok(Math.abs(each - fair) <= fair * 0.05, moved.join(' '));
  });

  it('gives an idle flow no credit for its idle time', () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    let nowMs = 0;
    const shared = createSharedRate(
      10_000,
      clock(() => nowMs),
    );
    const moved = [0, 0];
    const active = [true, false];
    const pumps = [0, 1].map((i) => {
      const share = shared.join(() => pump());
      const pump = (): void => {
        for (let taken = 1; active[i] && taken > 0; moved[i] = (moved[i] ?? 0) + taken)
          taken = share.take(4_000);
      };
      return pump;
    });
    pumps[0]?.();
    for (; nowMs < 5_000; mock.timers.tick(1)) nowMs += 1;
    const [before = 0] = moved;
    active[1] = true;
    pumps[1]?.();
    for (; nowMs < 10_000; mock.timers.tick(1)) nowMs += 1;
    mock.timers.reset();
    const [first = 0, second = 0] = [(moved[0] ?? 0) - before, moved[1]];
    assert.ok(Math.abs(first - second) <= (first + second) * 0.1, `${first} and ${second}`);
  });

  it('goes on at a new rate at once, and without one when there is none any more', () => {
    const slower = run(100_000, [65_536], 10, { atMs: 5_000, to: 10_000 });
    assert.ok(Math.abs(sum(slower.moved) - 550_000) < 30_000, `${sum(slower.moved)}`);
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

  it('leaves no timer behind when the last flow ends', () => {
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

  it('lets datagrams pass up to the rate, a large one now and then', () => {
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
