// When an association that is not in use ends, by an injected clock.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SessionEnd } from '../../../src/core/sessions/session.js';
import type { DatagramRelay } from '../../../src/proxy/io/datagrams.js';
import { createFragmentMemory } from '../../../src/proxy/protocols/fragments.js';
import { Association, type AssociationOptions } from '../../../src/proxy/udp/association.js';
import type { WorkerSession } from '../../../src/proxy/worker/session.js';
import { datagram } from '../../helpers/udp-client.js';
import { accountRecord, SETTINGS } from '../plane/plane-world.js';

const MINUTE_MS = 60_000;
const CLIENT = { address: '192.0.2.7', port: 40_000 };

/** An association whose relay sends nothing. */
function setUp() {
  let now = 1_000;
  const ends: SessionEnd[] = [];
  const counts = { datagramsUp: 0, datagramsDown: 0, unsendable: 0, overRate: 0 };
  const relay = {
    counts,
    sendOutside() {
      counts.datagramsUp += 1;
    },
    setClient() {},
    outsidePort: () => 50_000,
    setRoute() {},
    removeRoute() {},
    setSource() {},
    removeSource() {},
    watchClient() {},
    close() {},
  } as unknown as DatagramRelay;
  const session = {
    start: () => null,
    newDestination: () => null,
    finish: (end: SessionEnd) => void ends.push(end),
  } as unknown as WorkerSession;
  const association = new Association({
    context: {
      io: { now: () => now },
      settings: { ...SETTINGS, udp: { ...SETTINGS.udp, idleTimeoutMs: 5 * MINUTE_MS } },
      upstreams: { isEmpty: true },
      ownPorts: { has: () => false },
      guards: { admit: () => null, lookupsOf: () => ({}) },
      fragmentMemory: createFragmentMemory(1_000, (bytes) => bytes),
    },
    request: {
      account: { record: accountRecord('player') },
      client: CLIENT,
      egress: { judge: () => ({ ok: true }) },
      exit: null,
      stream: { keepAlive() {}, resume() {}, close() {} },
    },
    clientAddress: CLIENT.address,
    declaredAddress: null,
    onOver() {},
  } as unknown as AssociationOptions);
  association.start(session, relay);
  return {
    association,
    /** Lets time pass; returns the new time. */
    pass: (ms: number): number => {
      now += ms;
      return now;
    },
    /** Sends a datagram to a port, and receives so many answers. */
    send(port: number, answers: number): void {
      association.onClientDatagram(datagram('198.51.100.1', port, 'x'), CLIENT);
      counts.datagramsDown += answers;
    },
    ends,
  };
}

for (const [what, exchanges, endsAfterMs] of [
  ['no datagram', [], 5 * MINUTE_MS],
  ['one answered DNS question', [{ port: 53, answers: 1 }], 15_000],
  [
    'both questions of one name',
    [
      { port: 53, answers: 1 },
      { port: 53, answers: 1 },
    ],
    15_000,
  ],
  ['an unanswered question', [{ port: 53, answers: 0 }], 5 * MINUTE_MS],
  ['many questions', Array(3).fill({ port: 53, answers: 1 }), 5 * MINUTE_MS],
  ['another port', [{ port: 3074, answers: 1 }], 5 * MINUTE_MS],
  [
    'a question and another port',
    [
      { port: 53, answers: 1 },
      { port: 3074, answers: 1 },
    ],
    5 * MINUTE_MS,
  ],
] as const) {
  test(`an idle association with ${what} ends after ${endsAfterMs / 1_000} s`, () => {
    const { association, pass, send, ends } = setUp();
    for (const { port, answers } of exchanges) send(port, answers);
    association.tick(pass(0));
    association.tick(pass(endsAfterMs - 1));
    assert.deepEqual(ends, []);
    association.tick(pass(1));
    assert.deepEqual(ends, ['idle-timeout']);
  });
}

test('an association knows how long it has been idle, also between two ticks', () => {
  const { association, pass, send } = setUp();
  assert.equal(association.idleMs(pass(700)), 700);
  send(3074, 0);
  assert.equal(association.idleMs(pass(100)), 0);
  association.tick(pass(100));
  assert.equal(association.idleMs(pass(300)), 300);
});
