// What one process packs for the next: descriptors in flight, and a state with a version.
// Alone: counts the descriptors of its process.
import assert from 'node:assert/strict';
import { closeSync, fstatSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { describe, it } from 'node:test';
import { descriptorLimit } from '../../../../src/parts/capacity.js';
import { MAX_PARCEL, pack, unpack } from '../../../../src/proxy/io/native/carrier.js';
import { type Libc, loadLibc } from '../../../../src/proxy/io/native/libc.js';
import { openDescriptors } from '../../../helpers/descriptors.js';

const found = ((): Libc | null => {
  try {
    return loadLibc();
  } catch {
    return null;
  }
})();

describe('the carrier', { skip: found === null && 'koffi is not available' }, () => {
  const libc = found as Libc;
  const state = { name: 'Grüße', numbers: [1, 2, 3] };

  /** Runs `work` with this number of descriptors of /dev/null, and closes them. */
  function withDescriptors(count: number, work: (fds: readonly number[]) => void): void {
    const fds = Array.from({ length: count }, () => openSync('/dev/null', 'r'));
    try {
      work(fds);
    } finally {
      for (const fd of fds) closeSync(fd);
    }
  }

  for (const count of [0, 1, 253, 254, 10_000])
    it(`carries ${count} descriptors and the state`, (t) => {
      if (descriptorLimit() < 2 * count + 100) return t.skip('too few descriptors here');
      withDescriptors(count, (fds) => {
        const parcel = pack(libc, { descriptors: fds, state });
        assert.ok(parcel.length <= MAX_PARCEL, `${parcel.length}`);
        const taken = unpack(libc, parcel);
        if (taken.problem !== undefined) return assert.fail(taken.problem);
        assert.deepEqual(taken.state, state);
        assert.equal(new Set([...fds, ...taken.descriptors]).size, 2 * count);
        const device = count === 0 ? null : fstatSync(fds[0] ?? -1).rdev;
        for (const fd of taken.descriptors) {
          assert.equal(fstatSync(fd).rdev, device);
          closeSync(fd);
        }
      });
    });

  const version = Buffer.from([2, 0, 0, 0]);
  for (const [what, spoil, problem] of [
    ['an unknown version', (memory: number) => writeSync(memory, version, 0, 4, 4), 'unknown-version'],
    ['a truncated state', (memory: number) => ftruncateSync(memory, 20), 'truncated-state'],
    ['an empty file', (memory: number) => ftruncateSync(memory, 0), 'not-a-state'],
    ['another file', (memory: number) => writeSync(memory, 'other', 0), 'not-a-state'],
  ] as const)
    it(`refuses ${what}, and closes what it took`, () => {
      withDescriptors(300, (fds) => {
        const before = openDescriptors(process.pid);
        const parcel = pack(libc, { descriptors: fds, state });
        spoil(parcel[0] ?? -1);
        assert.deepEqual(unpack(libc, parcel), { problem, count: 300 });
        assert.equal(openDescriptors(process.pid), before);
      });
    });

  it('refuses a parcel without its descriptors', () => {
    withDescriptors(3, (fds) => {
      const [memory = -1, pair = -1] = pack(libc, { descriptors: fds, state });
      libc.close(pair);
      assert.deepEqual(unpack(libc, [memory]), { problem: 'missing-descriptors', count: 0 });
    });
  });
});
