// Who may go on guessing: counted per source and per name of a source, never per name alone, in bounded memory.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createLoginGuard, type LoginGuard, type LoginGuardOptions } from '../../src/proxy/login-guard.js';
import { allocateSourceTable, SourceTable } from '../../src/proxy/source-table.js';

const table = (rows: number) => new SourceTable(allocateSourceTable(rows), 1);
const bytes = (name: string) => Buffer.from(name);

function guard({ rows = 1000, ...options }: Partial<LoginGuardOptions> & { rows?: number } = {}) {
  const clock = { ms: 0 };
  const made = createLoginGuard({
    maxFailuresPerSource: 10,
    maxFailuresPerUser: 3,
    failureWindowMs: 60_000,
    sources: table(rows),
    names: table(rows),
    now: () => Math.floor(clock.ms / 100),
    ...options,
  });
  return { guard: made, clock };
}

const attempts = (made: LoginGuard, count: number, address: string, name: string | ((i: number) => string)) =>
  Array.from({ length: count }, (_, i) =>
    made.attempt(address, bytes(typeof name === 'string' ? name : name(i))),
  );

describe('the login guard', () => {
  it('blocks a user name only for the source with the failures', () => {
    const { guard: made } = guard();
    assert.deepEqual(attempts(made, 5, '192.0.2.1', 'anna'), ['check', 'check', 'check', 'block', 'blocked']);
    assert.equal(made.attempt('192.0.2.2', bytes('anna')), 'check');
    assert.equal(made.attempt('192.0.2.1', bytes('bert')), 'check');
  });

  it('counts clients without credentials by themselves, and blocks nobody for them', () => {
    const { guard: made, clock } = guard();
    const come = (times: number) => Array.from({ length: times }, () => made.withoutCredentials('192.0.2.1'));
    assert.deepEqual(come(5), ['counted', 'counted', 'counted', 'block', 'blocked']);
    assert.equal(made.isBlocked('192.0.2.1'), false);
    assert.equal(made.attempt('192.0.2.1', bytes('anna')), 'check');
    assert.equal(made.withoutCredentials('192.0.2.2'), 'counted');
    made.gaveCredentials('192.0.2.1');
    assert.deepEqual(come(4), ['counted', 'counted', 'counted', 'block']);
    clock.ms = 60_000;
    assert.deepEqual(come(1), ['counted']);
  });

  it('blocks a source that tries many names, and no other source', () => {
    const { guard: made } = guard();
    const results = attempts(made, 13, '192.0.2.1', (i) => `name-${i}`);
    assert.deepEqual(results.slice(0, 10), new Array(10).fill('check'));
    assert.deepEqual(results.slice(10), ['block', 'blocked', 'blocked']);
    assert.equal(made.attempt('192.0.2.2', bytes('name-1')), 'check');
  });

  it('resets at the end of the window, after any number of attempts', () => {
    const { guard: made, clock } = guard();
    attempts(made, 20, '192.0.2.1', 'anna');
    clock.ms = 59_999;
    assert.equal(made.attempt('192.0.2.1', bytes('anna')), 'blocked');
    clock.ms = 60_000;
    assert.equal(made.attempt('192.0.2.1', bytes('anna')), 'check');
  });

  it('counts only checked logins: an old password in a client blocks its user name and not its source', () => {
    const { guard: made } = guard();
    attempts(made, 1000, '192.0.2.1', 'anna');
    assert.equal(made.attempt('192.0.2.1', bytes('bert')), 'check');
  });

  it('counts an IPv6 /64 as one source, and different ones separately', () => {
    const { guard: made } = guard();
    for (let i = 0; i < 10; i += 1)
      assert.equal(made.attempt(`2001:db8::${i + 1}`, bytes(`name-${i}`)), 'check');
    assert.equal(made.attempt('2001:db8::ffff:1:2:3', bytes('x')), 'block');
    assert.equal(made.attempt('2001:db8:0:1::1', bytes('x')), 'check');
  });

  it('lets the players behind one address log in although some of them mistype', () => {
    const { guard: made } = guard();
    for (let i = 0; i < 500; i += 1) {
      assert.equal(made.attempt('192.0.2.1', bytes(`player-${i}`)), 'check', `${i}`);
      if (i % 60 !== 0) made.succeeded('192.0.2.1', bytes(`player-${i}`));
    }
  });

  it('a correct login takes back only its own attempt', () => {
    const { guard: made } = guard();
    let guesses = 0;
    for (let i = 0; i < 100; i += 1) {
      if (made.attempt('192.0.2.1', bytes('own')) === 'check') made.succeeded('192.0.2.1', bytes('own'));
      if (made.attempt('192.0.2.1', bytes(`victim-${i}`)) === 'check') guesses += 1;
    }
    assert.equal(guesses, 10);
  });

  it('an attacker with an own account cannot reset the count', () => {
    const { guard: made } = guard();
    let guesses = 0;
    for (let i = 0; i < 100; i += 1) {
      if (made.attempt('192.0.2.1', bytes('own')) === 'check') made.succeeded('192.0.2.1', bytes('own'));
      for (let k = 0; k < 20; k += 1)
        if (made.attempt('192.0.2.1', bytes('victim')) === 'check') guesses += 1;
    }
    assert.equal(guesses, 3);
  });

  it('keeps a limited number of sources, and drops the least recently seen', () => {
    const { guard: made } = guard({ rows: 100 });
    attempts(made, 4, '198.51.100.1', 'anna');
    for (let i = 0; i < 5000; i += 1) made.attempt(`10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`, bytes('x'));
    assert.equal(made.attempt('198.51.100.1', bytes('anna')), 'check');
    const { guard: kept } = guard({ rows: 100 });
    attempts(kept, 4, '198.51.100.1', 'anna');
    for (let i = 0; i < 5000; i += 1) {
      kept.attempt(`10.0.${(i >> 8) & 255}.${i & 255}`, bytes('x'));
      if (i % 50 === 0) assert.equal(kept.attempt('198.51.100.1', bytes('anna')), 'blocked');
    }
  });
});
