import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import fc from 'fast-check';
import { readDatagramHeader } from '../../../src/proxy/protocols/datagram-header.js';
import {
  createFragmentMemory,
  type FragmentMemory,
  REASSEMBLY_TIMEOUT_MS,
  Reassembly,
} from '../../../src/proxy/protocols/fragments.js';
import { datagram } from '../../helpers/udp-client.js';

const LAST = 0x80;
const LIMIT_BYTES = 200_000;

let memory: FragmentMemory;
let reassembly: Reassembly;
beforeEach(() => {
  let acquired = 0;
  memory = createFragmentMemory(LIMIT_BYTES, (bytes) => {
    acquired += bytes;
    return acquired;
  });
  reassembly = new Reassembly(memory);
});

function add(fragment: number, data: string | Buffer, { now = 0, port = 7000, to = reassembly } = {}) {
  const bytes = datagram('192.0.2.1', port, data, fragment);
  const header = readDatagramHeader(bytes);
  assert.ok(header);
  const outcome = to.add(bytes, header, now);
  return outcome.data === null ? outcome.lost : outcome.data.toString();
}

/** Returns whether no shared memory is in use. */
function isAllFree(): boolean {
  const isFree = memory.tryAcquire(LIMIT_BYTES);
  if (isFree) memory.release(LIMIT_BYTES);
  return isFree;
}

test('fragments in order become one datagram', () => {
  assert.equal(add(1, 'one '), 0);
  assert.equal(add(2, 'two '), 0);
  assert.equal(reassembly.isActive, true);
  assert.equal(add(3 | LAST, 'three'), 'one two three');
  assert.equal(reassembly.isActive, false);
  assert.ok(isAllFree());
});

test('a sequence may have one fragment, 127 fragments, and empty fragments', () => {
  assert.equal(add(1 | LAST, 'alone'), 'alone');
  for (let i = 1; i < 127; i += 1) assert.equal(add(i, i === 5 ? '' : 'x'), 0);
  assert.equal(add(127 | LAST, 'y'), `${'x'.repeat(125)}y`);
});

test('a repeated fragment changes nothing', () => {
  add(1, 'one ');
  assert.equal(add(1, 'one '), 0);
  add(2, 'two ');
  assert.equal(add(2, 'two '), 0);
  assert.equal(add(3 | LAST, 'three'), 'one two three');
  assert.equal(add(3 | LAST, 'three'), 1, 'the sequence is complete, so the fragment is dropped');
});

test('a lower number drops the sequence (RFC 1928 §7) and may begin a new one', () => {
  add(1, 'old ');
  add(2, 'old ');
  assert.equal(add(1, 'new '), 2);
  assert.equal(add(2 | LAST, 'sequence'), 'new sequence');
});

test('a skipped number drops the sequence', () => {
  add(1, 'one ');
  assert.equal(add(3, 'three'), 2);
  assert.equal(reassembly.isActive, false);
  assert.equal(add(2, 'two '), 1, 'out of order: lower than the highest so far');
  assert.equal(add(4 | LAST, 'four'), 1);
  assert.ok(isAllFree());
});

test('a first fragment with other data starts a new sequence', () => {
  add(1, 'lost ');
  assert.equal(add(1, 'kept '), 1);
  assert.equal(add(2 | LAST, 'too'), 'kept too');
});

test('fragments to another destination belong to another sequence', () => {
  add(1, 'one ');
  assert.equal(add(2 | LAST, 'two', { port: 7001 }), 2);
  add(1, 'one ');
  assert.equal(add(1, 'uno ', { port: 7001 }), 1);
  assert.equal(add(2 | LAST, 'due', { port: 7001 }), 'uno due');
});

test('a sequence is dropped when its timer expires, at least 5 s after its start (RFC 1928 §7)', () => {
  assert.ok(REASSEMBLY_TIMEOUT_MS >= 5_000);
  add(1, 'one ');
  assert.equal(reassembly.expire(REASSEMBLY_TIMEOUT_MS - 1), 0);
  add(2, 'two ', { now: REASSEMBLY_TIMEOUT_MS - 1 });
  assert.equal(
    add(3 | LAST, 'late', { now: REASSEMBLY_TIMEOUT_MS }),
    3,
    'the time runs from the first fragment',
  );
  assert.ok(isAllFree());
  add(1, 'one ');
  assert.equal(reassembly.expire(REASSEMBLY_TIMEOUT_MS), 1);
  assert.equal(reassembly.isActive, false);
});

test('no reassembled datagram exceeds the maximum size', () => {
  const part = Buffer.alloc(40_000);
  assert.equal(add(1, part), 0);
  assert.equal(add(2 | LAST, part), 2);
  assert.ok(isAllFree());
});

test('the memory for incomplete sequences is limited over all associations', () => {
  const others = Array.from({ length: 10 }, () => new Reassembly(memory));
  const outcomes = others.map((to) => add(1, Buffer.alloc(50_000), { to }));
  assert.equal(outcomes.filter((outcome) => outcome === 0).length, 3);
  for (const other of others) other.abandon();
  assert.ok(isAllFree());
});

test('any completed datagram consists of fragments 1 to n of one destination, and memory is released', () => {
  const fragment = fc.record({
    position: fc.integer({ min: 1, max: 5 }),
    isLast: fc.boolean(),
    port: fc.constantFrom(1, 2),
    waitMs: fc.constantFrom(0, 0, 0, 3_000),
  });
  fc.assert(
    fc.property(fc.array(fragment, { maxLength: 30 }), (fragments) => {
      let now = 0;
      for (const [i, { position, isLast, port, waitMs }] of fragments.entries()) {
        now += waitMs;
        const text = `${port}:${position}:${i};`;
        const outcome = add(isLast ? position | LAST : position, text, { now, port });
        if (typeof outcome === 'number') continue;
        const parts = outcome
          .split(';')
          .slice(0, -1)
          .map((part) => part.split(':').map(Number));
        assert.ok(
          parts.every(([ofPort, at], index) => ofPort === port && at === index + 1),
          outcome,
        );
        const arrivals = parts.map(([, , arrival]) => arrival ?? 0);
        assert.deepEqual(
          arrivals,
          [...arrivals].sort((a, b) => a - b),
        );
      }
      reassembly.abandon();
      assert.ok(isAllFree());
    }),
    { numRuns: 2_000 },
  );
});
