// The control plane receives every field of a session that a worker reports.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { WorkerEvent } from '../../src/proxy/messages.js';
import { packEvent, unpackEvent } from '../../src/proxy/packed-events.js';

const SESSION = {
  accountId: 'a-1',
  username: '玩家',
  command: 'udp-associate',
  clientProtocol: 'socks5',
  client: { address: '2001:db8::7', port: 40_000 },
  destination: { host: 'arena.example', address: '203.0.113.9', port: 7_000 },
  openedAt: 1_700_000_000_123,
  gameId: 'ARENA1',
  via: 'proxy.example:1080',
  exit: 'jp',
  outgoing: { address: '192.0.2.7', port: 50_000 },
  connectMs: 12,
  slot: 12,
  generation: -3,
} as const;
const SUMMARY = { bytesUp: 2 ** 40, bytesDown: 7, end: 'client-reset', durationMs: 5, gameId: null } as const;
const DATAGRAMS = { datagramsUp: 3, datagramsDown: 4, dropped: { 'too-long': 2 } };

const EVENTS: Readonly<Record<string, WorkerEvent>> = {
  'that opens': { kind: 'session-opened', session: SESSION },
  'without game and upstream proxy': {
    kind: 'session-opened',
    session: { ...SESSION, gameId: null, via: null, exit: null, outgoing: null, connectMs: null },
  },
  'that opened and closed': { kind: 'session-passed', session: SESSION, summary: SUMMARY },
  'with datagrams': { kind: 'session-passed', session: SESSION, summary: { ...SUMMARY, ...DATAGRAMS } },
  'that closes': {
    kind: 'session-closed',
    slot: 1,
    summary: SUMMARY,
    destination: SESSION.destination,
    via: null,
    exit: null,
  },
};

for (const [kind, event] of Object.entries(EVENTS)) {
  it(`a report of a session ${kind} arrives with every field`, () => {
    assert.deepEqual(unpackEvent(structuredClone(packEvent(event))), event);
  });
}
