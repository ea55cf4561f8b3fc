// Heartbeats of UDP associations: the game rules are applied to every new destination.
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { createGameRules, type GameRule } from '../../../src/core/heartbeats/game-rules.js';
import type { Heartbeat } from '../../../src/core/heartbeats/heartbeat.js';
import { compilePattern } from '../../../src/games-pattern.js';
import { FakeSession } from '../../helpers/fake-session.js';
import { createGameRecorder } from '../../helpers/game-recorder.js';

const RULES: GameRule[] = [
  { id: 'tcp only', match: { hosts: ['192.0.2.1'], protocol: 'tcp' } },
  { id: 'arena', match: { hosts: ['*.arena.example', '198.51.100.0/24'], protocol: 'udp' } },
  { gameId: 'ID=([a-z]+)', match: { ports: [9000] }, maxBytes: 100 },
];

describe('the recorder of heartbeats of datagrams', () => {
  let now = 0;
  let entries: Heartbeat[] = [];
  let recorder = newRecorder();
  let session: FakeSession;

  function newRecorder() {
    const pool = { record: (entry: Heartbeat) => void entries.push(entry) };
    return createGameRecorder({
      pool,
      rules: createGameRules(RULES, compilePattern),
      intervalMs: 30_000,
      gameIntervalMs: 1_000,
      now: () => now,
    });
  }

  beforeEach(() => {
    now = 1_000_000;
    entries = [];
    recorder = newRecorder();
    const destination = { host: '*', address: '', port: 0 };
    session = new FakeSession({ command: 'udp-associate', destination });
    recorder.opened(session);
  });

  const latin1 = (text: string) => Buffer.from(text, 'latin1');
  const newDestination = (host: string, port: number, ip: string | null = null) =>
    recorder.destination(session, { host, address: ip ?? '', port });
  const shownEntries = () =>
    entries.map(({ kind, gameId, destination }) => `${kind} ${gameId} ${destination}`);

  it('a fixed rule causes a game entry that names the destination', () => {
    assert.equal(newDestination('eu.arena.example', 7000, '203.0.113.1'), null);
    assert.deepEqual(shownEntries(), ['open null *:0', 'game arena eu.arena.example:7000']);
    assert.equal(session.gameId, 'arena');
  });

  it('rules match the resolved address and the protocol', () => {
    newDestination('other.example', 7000, '198.51.100.9');
    assert.equal(session.gameId, 'arena');
    newDestination('192.0.2.1', 7000, '192.0.2.1');
    assert.equal(session.gameId, 'arena', 'the rule for tcp does not match');
  });

  it('an entry names the latest destination', () => {
    newDestination('a.example', 1);
    newDestination('2001:db8::1', 2);
    recorder.closed(session);
    assert.deepEqual(shownEntries(), ['open null *:0', 'close null [2001:db8::1]:2']);
  });

  it('payload rules inspect each destination separately, and each datagram as a whole message', () => {
    const one = newDestination('one.example', 9000);
    const two = newDestination('two.example', 9000);
    assert.ok(one && two);
    assert.equal(one(latin1('hello ID=')), true);
    assert.equal(two(latin1('abc')), true, 'bytes to another destination do not continue the message');
    assert.equal(two(latin1('ID=xyz')), false);
    assert.equal(session.gameId, 'xyz');
    assert.equal(one(latin1('ID=abc')), false);
    now += 1_000;
    recorder.tick();
    assert.equal(session.gameId, 'abc');
    assert.equal(one(latin1('ID=late')), false);
    assert.equal(session.gameId, 'abc');
  });

  it('at most 16 destinations are inspected, and the oldest one is given up for another', () => {
    const inspectors = Array.from({ length: 17 }, (_, i) => newDestination(`h${i}.example`, 9000));
    assert.equal(inspectors[0]?.(latin1('ID=first')), false);
    assert.equal(session.gameId, null);
    assert.equal(inspectors[1]?.(latin1('ID=second')), false);
    assert.equal(session.gameId, 'second');
  });

  it('no rule applies to a session that is not open', () => {
    recorder.closed(session);
    assert.equal(newDestination('eu.arena.example', 7000), null);
    assert.deepEqual(shownEntries(), ['open null *:0', 'close null *:0']);
  });

  it('the same game at another destination is recorded at most once a second', () => {
    newDestination('eu.arena.example', 7000);
    newDestination('us.arena.example', 7000);
    now += 1_000;
    newDestination('as.arena.example', 7000);
    assert.deepEqual(shownEntries().slice(1), [
      'game arena eu.arena.example:7000',
      'game arena as.arena.example:7000',
    ]);
  });

  it('a flow that alternates between destinations of two rules makes one entry a second', () => {
    for (let ms = 0; ms < 10_000; ms += 10) {
      now = 1_000_000 + ms;
      newDestination(
        ms % 20 === 0 ? 'eu.arena.example' : `h${ms}.example`,
        ms % 20 === 0 ? 7000 : 9000,
      )?.(latin1(`ID=g${String.fromCharCode(97 + ((ms / 10) % 26))}`));
      if (ms % 1_000 === 0) recorder.tick();
    }
    assert.ok(entries.length <= 11, `${entries.length} entries in 10 s`);
  });
});
