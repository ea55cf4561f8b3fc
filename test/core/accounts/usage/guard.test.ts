// Each limit of the guard at its edge: so many at once and one more, 0, the moment at which the next is free, and the longest wait.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  AccountGuard,
  type GuardedUse,
  type GuardLimit,
  guardOf,
  REFUSED_BY,
} from '../../../../src/core/accounts/usage/guard.js';
import { NO_LIMITS } from '../../../../src/core/accounts/usage/limits.js';

const MOST = 6;
/** Without limits. */
const NONE = {
  connectionsPerSecond: 0,
  connectionsPerMinute: 0,
  destinationsPerMinute: 0,
  udpDestinationsPerSecond: 0,
  failedConnectionsPerMinute: 0,
};

/** A use that counts for a limit, of destination `n`. */
interface Counted {
  readonly use: GuardedUse;
  readonly fillMs: number;
  readonly isSame: boolean;
}
const COUNTED: Readonly<Record<GuardLimit, Counted>> = {
  connectionsPerSecond: { use: 'exchange', fillMs: 1_000, isSame: true },
  connectionsPerMinute: { use: 'connection', fillMs: 60_000, isSame: true },
  destinationsPerMinute: { use: 'connection', fillMs: 60_000, isSame: false },
  udpDestinationsPerSecond: { use: 'datagram', fillMs: 1_000, isSame: false },
  failedConnectionsPerMinute: { use: 'connection', fillMs: 60_000, isSame: false },
};

for (const limit of Object.keys(REFUSED_BY) as GuardLimit[]) {
  describe(limit, () => {
    const { use, fillMs, isSame } = COUNTED[limit];
    /** Uses from the first destination on; those of failedConnectionsPerMinute fail. */
    function start(most: number) {
      const guard = new AccountGuard();
      const limits = { ...NONE, [limit]: most };
      let n = 0;
      return (now: number, maxWaitMs = 0) => {
        n += 1;
        const destination = isSame ? 1 : n;
        const held = guard.admit(use, destination, limits, now, maxWaitMs);
        if (held === null && limit === 'failedConnectionsPerMinute') guard.failed(destination, now);
        return held;
      };
    }

    it('lets exactly so many through at once, and refuses the next', () => {
      const admit = start(MOST);
      for (let n = 1; n <= MOST; n += 1) assert.equal(admit(0), null, `${n} of ${MOST}`);
      assert.deepEqual(admit(0), { waitMs: fillMs / MOST, limit, isRefused: true });
    });

    it('lets the next through when its time has come, and not 1 ms before', () => {
      const admit = start(MOST);
      for (let n = 1; n <= MOST; n += 1) admit(0);
      assert.ok(admit(Math.ceil(fillMs / MOST) - 1)?.isRefused);
      assert.equal(admit(Math.ceil(fillMs / MOST)), null);
    });

    it('lets one wait as long as the longest wait, and refuses what would wait longer', () => {
      for (const [maxWaitMs, isRefused] of [
        [fillMs / MOST, false],
        [fillMs / MOST - 1, true],
      ] as const) {
        const admit = start(MOST);
        for (let n = 1; n <= MOST; n += 1) admit(0);
        assert.deepEqual(admit(0, maxWaitMs), { waitMs: fillMs / MOST, limit, isRefused });
      }
    });

    it('is off with 0', () => {
      const admit = start(0);
      for (let n = 1; n <= 1_000; n += 1) assert.equal(admit(0), null);
    });
  });
}

it('0 of an account switches a limit of its class off, and an empty one leaves it', () => {
  const names = [...(Object.keys(REFUSED_BY) as GuardLimit[]), 'lookupsPerMinute', 'maxConnections'] as const;
  const each = (value: number) => Object.fromEntries(names.map((name) => [name, value]));
  const general = { ...NONE, ...each(5) };
  assert.deepEqual(guardOf(NO_LIMITS, general), general);
  for (const value of [0, 1])
    assert.deepEqual(guardOf({ ...NO_LIMITS, ...each(value) }, general), each(value));
  for (const name of names)
    assert.deepEqual(guardOf({ ...NO_LIMITS, [name]: 0 }, general), { ...general, [name]: 0 });
});
