import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { createGameRules, type GameRule } from '../../../src/core/heartbeats/game-rules.js';
import type { Heartbeat } from '../../../src/core/heartbeats/heartbeat.js';
import { createRecorder } from '../../../src/core/heartbeats/heartbeat-recorder.js';
import { SessionRegistry } from '../../../src/core/sessions/session-registry.js';
import { compilePattern } from '../../../src/games-pattern.js';
import { FakeSession } from '../../helpers/fake-session.js';
import { createGameRecorder } from '../../helpers/game-recorder.js';

const INTERVAL_MS = 30_000;

const RULES: GameRule[] = [
  { id: 'arena', match: { hosts: ['*.arena.example'] } },
  { gameId: 'ID=([a-z]+)', match: { ports: [9000] }, maxBytes: 20 },
  { id: 'lobby', match: { ports: [9000], hosts: ['lobby.example'] } },
];

describe('the recorder of heartbeats', () => {
  let now = 0;
  let entries: Heartbeat[] = [];
  let recorder = newRecorder();

  function newRecorder() {
    return createGameRecorder({
      pool: { record: (entry) => entries.push(entry) },
      rules: createGameRules(RULES, compilePattern),
      intervalMs: INTERVAL_MS,
      gameIntervalMs: 1_000,
      now: () => now,
    });
  }

  beforeEach(() => {
    now = 1_000_000;
    entries = [];
    recorder = newRecorder();
  });

  function session(
    host = 'site.example',
    port = 443,
    command: FakeSession['command'] = 'connect',
  ): FakeSession {
    return new FakeSession({ command, destination: { host, address: '198.51.100.1', port } });
  }

  const latin1 = (text: string) => Buffer.from(text, 'latin1');
  const kinds = () => entries.map(({ kind }) => kind);
  const last = () => entries.at(-1);

  /** Lets time pass up to `ms` after the start and calls tick. */
  function tickAt(ms: number): void {
    now = 1_000_000 + ms;
    recorder.tick();
  }

  it('an entry contains the time, account, client, destination and bytes', () => {
    const live = session();
    recorder.opened(live);
    live.traffic.up = 10;
    live.traffic.down = 300;
    now += 5;
    recorder.closed(live);
    const common = {
      accountId: 'a1',
      username: 'player',
      sessionId: live.id,
      client: '192.0.2.9',
      destination: 'site.example:443',
      protocol: 'tcp',
      gameId: null,
    };
    assert.deepEqual(entries, [
      { ...common, at: 1_000_000, bytesUp: 0, bytesDown: 0, kind: 'open' },
      { ...common, at: 1_000_005, bytesUp: 10, bytesDown: 300, kind: 'close' },
    ]);
  });

  it('an IPv6 destination is written in brackets', () => {
    recorder.opened(session('2001:db8::1', 80));
    assert.equal(last()?.destination, '[2001:db8::1]:80');
  });

  it('beats are recorded exactly at the interval, only while bytes are transferred', () => {
    const live = session();
    recorder.opened(live);
    live.traffic.up = 1;
    tickAt(INTERVAL_MS - 1);
    assert.deepEqual(kinds(), ['open']);
    tickAt(INTERVAL_MS);
    assert.deepEqual(kinds(), ['open', 'beat']);
    live.traffic.down = 5;
    tickAt(2 * INTERVAL_MS - 1);
    assert.equal(entries.length, 2);
    tickAt(2 * INTERVAL_MS);
    assert.deepEqual([last()?.kind, last()?.bytesUp, last()?.bytesDown], ['beat', 0, 5]);
    tickAt(3 * INTERVAL_MS);
    tickAt(10 * INTERVAL_MS);
    assert.equal(entries.length, 3, 'no bytes were transferred');
    live.traffic.up = 2;
    tickAt(10 * INTERVAL_MS + 1);
    assert.deepEqual([last()?.kind, last()?.bytesUp], ['beat', 1]);
    live.traffic.up = 3;
    tickAt(11 * INTERVAL_MS);
    assert.equal(entries.length, 4, 'the interval runs from the last entry');
  });

  it('the bytes of all entries add up to those of the session', () => {
    const live = session();
    recorder.opened(live);
    for (let i = 1; i <= 50; i += 1) {
      live.traffic.up += i;
      live.traffic.down += 7 * i;
      if (i % 7 === 0) recorder.game(live, `game ${i}`);
      tickAt(i * 9_000);
    }
    recorder.closed(live);
    const sum = (key: 'bytesUp' | 'bytesDown') => entries.reduce((total, entry) => total + entry[key], 0);
    assert.deepEqual([sum('bytesUp'), sum('bytesDown')], [live.traffic.up, live.traffic.down]);
  });

  it('a session is recorded after the clock is set back', () => {
    const live = session();
    recorder.opened(live);
    live.traffic.up = 1;
    tickAt(-3_600_000);
    assert.equal(entries.length, 1);
    tickAt(-3_600_000 + INTERVAL_MS);
    assert.deepEqual(kinds(), ['open', 'beat']);
  });

  it('the close entry is recorded once, and no entry follows it', () => {
    const live = session();
    recorder.opened(live);
    recorder.closed(live);
    recorder.closed(live);
    live.traffic.up = 9;
    recorder.game(live, 'chess');
    tickAt(INTERVAL_MS * 2);
    recorder.closed(session());
    assert.deepEqual(kinds(), ['open', 'close']);
    assert.equal(live.gameId, null);
  });

  it('a fixed rule gives the open entry its GameID', () => {
    const live = session('eu.arena.example');
    assert.equal(recorder.opened(live), null);
    recorder.closed(live);
    assert.deepEqual(
      entries.map(({ kind, gameId }) => [kind, gameId]),
      [
        ['open', 'arena'],
        ['close', 'arena'],
      ],
    );
    assert.equal(live.gameId, 'arena');
  });

  it('a session has at most one game entry a second for all its GameIDs, and the last GameID is recorded', () => {
    const live = session();
    recorder.opened(live);
    recorder.game(live, 'x');
    recorder.game(live, 'x');
    now += 999;
    recorder.game(live, 'x');
    recorder.game(live, 'y');
    assert.deepEqual(kinds(), ['open', 'game']);
    tickAt(999);
    assert.deepEqual(kinds(), ['open', 'game'], 'not yet');
    tickAt(1_000);
    assert.equal(live.gameId, 'y');
    assert.deepEqual([last()?.kind, last()?.gameId], ['game', 'y']);
    tickAt(1_500);
    tickAt(2_500);
    assert.equal(entries.length, 3, 'once');
    recorder.game(live, 'y');
    assert.equal(entries.length, 4, 'repeated after a second');
    recorder.game(live, 'z');
    recorder.closed(live);
    assert.deepEqual([last()?.kind, last()?.gameId], ['close', 'z'], 'the close entry has the last GameID');
  });

  it('a payload rule receives bytes until it has decided', () => {
    const live = session('other.example', 9000);
    const inspect = recorder.opened(live);
    assert.ok(inspect);
    assert.equal(inspect(latin1('hello ')), true);
    live.traffic.up = 14;
    assert.equal(inspect(latin1('ID=abc;')), false);
    assert.equal(inspect(latin1('ID=def;')), false);
    recorder.closed(live);
    assert.deepEqual(
      entries.map(({ kind, gameId, bytesUp }) => [kind, gameId, bytesUp]),
      [
        ['open', null, 0],
        ['game', 'abc', 14],
        ['close', 'abc', 0],
      ],
    );
  });

  it('a GameID at the end of the received bytes is recorded after a tick without more bytes', () => {
    const live = session('other.example', 9000);
    const inspect = recorder.opened(live);
    assert.ok(inspect);
    assert.equal(inspect(latin1('ID=abc')), true);
    tickAt(300);
    assert.equal(live.gameId, null, 'more bytes may follow in this second');
    tickAt(1_300);
    assert.deepEqual([live.gameId, last()?.kind], ['abc', 'game']);
    assert.equal(inspect(latin1('d')), false);
  });

  it('a flow that ends before its payload rule matches gets the next fixed rule', () => {
    const lobby = session('lobby.example', 9000);
    const other = session('other.example', 9000);
    for (const live of [lobby, other]) {
      const inspect = recorder.opened(live);
      assert.equal(inspect?.(latin1('hi')), true);
      recorder.closed(live);
      assert.equal(inspect?.(latin1('ID=late;')), false);
    }
    assert.deepEqual([lobby.gameId, other.gameId], ['lobby', null]);
    assert.deepEqual(kinds(), ['open', 'close', 'open', 'close']);
  });

  it('no rule applies to a new UDP association, which has no destination', () => {
    const live = session('eu.arena.example', 0, 'udp-associate');
    assert.equal(recorder.opened(live), null);
    assert.equal(live.gameId, null);
    assert.equal(last()?.protocol, 'udp');
  });

  it('ten thousand sessions beat in one pass', () => {
    const live = Array.from({ length: 10_000 }, () => session());
    for (const each of live) recorder.opened(each);
    for (const [i, each] of live.entries()) each.traffic.down = i % 2;
    tickAt(INTERVAL_MS);
    assert.equal(entries.filter(({ kind }) => kind === 'beat').length, 5_000);
    for (const each of live) recorder.closed(each);
    assert.equal(entries.length, 25_000);
  });

  it('a session that ended before it was reported has one entry with all its bytes', () => {
    const sessions = new SessionRegistry();
    sessions.subscribe(
      createRecorder({
        pool: { record: (entry) => entries.push(entry) },
        intervalMs: INTERVAL_MS,
        now: () => now,
      }),
    );
    const live = session();
    live.gameId = 'arena';
    live.traffic.up = 3;
    live.traffic.down = 4;
    sessions.passed(live, live.summary);
    assert.deepEqual(
      entries.map(({ kind, bytesUp, bytesDown, gameId, sessionId }) => [
        kind,
        bytesUp,
        bytesDown,
        gameId,
        sessionId,
      ]),
      [['close', 3, 4, 'arena', live.id]],
    );
  });

  it('over three processes a session has one open and one close, and the bytes of all entries add up', () => {
    const live = session();
    const observed = () => {
      const sessions = new SessionRegistry();
      sessions.subscribe(
        createRecorder({
          pool: { record: (entry) => void entries.push(entry) },
          intervalMs: INTERVAL_MS,
          now: () => now,
        }),
      );
      return sessions;
    };
    const first = observed();
    first.opened(live);
    live.traffic.up = 5;
    first.handingOver();
    const second = observed();
    second.resumed(live, []);
    now += INTERVAL_MS;
    second.tick();
    second.handingOver();
    const third = observed();
    third.resumed(live, []);
    live.traffic.up = 7;
    third.closed(live, live.summary);
    assert.deepEqual(
      entries.map(({ kind, bytesUp }) => [kind, bytesUp]),
      [
        ['open', 0],
        ['beat', 5],
        ['close', 2],
      ],
    );
  });
});
