// The limit of failed logins: counted per source and per name of a source, never per name alone, in bounded memory.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  createLoginGuard,
  type LoginGuard,
  type LoginGuardOptions,
} from '../../../src/proxy/connection/login-guard.js';
import { allocateSourceTable, SourceTable } from '../../../src/proxy/memory/source-table.js';

const table = (rows: number) => new SourceTable(allocateSourceTable(rows), 1);
const bytes = (name: string) => Buffer.from(name);

function guard({ rows = 1000, ...options }: Partial<LoginGuardOptions> & { rows?: number } = {}) {
  const clock = { ms: 0 };
  const loginGuard = createLoginGuard({
    maxFailuresPerSource: 10,
    maxFailuresPerUser: 3,
    failureWindowMs: 60_000,
    sources: table(rows),
    names: table(rows),
    now: () => Math.floor(clock.ms / 100),
    ...options,
  });
  return { guard: loginGuard, clock };
}

const attempts = (
  loginGuard: LoginGuard,
  count: number,
  address: string,
  name: string | ((i: number) => string),
) =>
  Array.from({ length: count }, (_, i) =>
    loginGuard.attempt(address, bytes(typeof name === 'string' ? name : name(i))),
  );

describe('the login guard', () => {
  it('blocks a user name only for the source with the failures', () => {
    const { guard: loginGuard } = guard();
    assert.deepEqual(attempts(loginGuard, 5, '192.0.2.1', 'anna'), [
      'check',
      'check',
      'check',
      'block',
      'blocked',
    ]);
    assert.equal(loginGuard.attempt('192.0.2.2', bytes('anna')), 'check');
    assert.equal(loginGuard.attempt('192.0.2.1', bytes('bert')), 'check');
  });

  it('counts clients without credentials separately, and blocks no login for them', () => {
    const { guard: loginGuard, clock } = guard();
    const connectTimes = (times: number) =>
      Array.from({ length: times }, () => loginGuard.withoutCredentials('192.0.2.1'));
    assert.deepEqual(connectTimes(5), ['counted', 'counted', 'counted', 'block', 'blocked']);
    assert.equal(loginGuard.attemptByAddress('192.0.2.1'), 'check');
    assert.equal(loginGuard.attempt('192.0.2.1', bytes('anna')), 'check');
    assert.equal(loginGuard.withoutCredentials('192.0.2.2'), 'counted');
    loginGuard.gaveCredentials('192.0.2.1');
    assert.deepEqual(connectTimes(4), ['counted', 'counted', 'counted', 'block']);
    clock.ms = 60_000;
    assert.deepEqual(connectTimes(1), ['counted']);
  });

  it('blocks a source that tries many names, and no other source', () => {
    const { guard: loginGuard } = guard();
    const results = attempts(loginGuard, 13, '192.0.2.1', (i) => `name-${i}`);
    assert.deepEqual(results.slice(0, 10), new Array(10).fill('check'));
    assert.deepEqual(results.slice(10), ['block', 'blocked', 'blocked']);
    assert.equal(loginGuard.attempt('192.0.2.2', bytes('name-1')), 'check');
  });

  it('blocks logins by the address of a blocked source, and counts none of them', () => {
    const { guard: loginGuard } = guard();
    const byAddress = () => loginGuard.attemptByAddress('192.0.2.1');
    assert.deepEqual(Array.from({ length: 20 }, byAddress), new Array(20).fill('check'));
    attempts(loginGuard, 10, '192.0.2.1', (i) => `name-${i}`);
    assert.deepEqual(Array.from({ length: 3 }, byAddress), ['block', 'blocked', 'blocked']);
    assert.equal(loginGuard.attemptByAddress('192.0.2.2'), 'check');
  });

  it('resets at the end of the window, after any number of attempts', () => {
    const { guard: loginGuard, clock } = guard();
    attempts(loginGuard, 20, '192.0.2.1', 'anna');
    clock.ms = 59_999;
    assert.equal(loginGuard.attempt('192.0.2.1', bytes('anna')), 'blocked');
    clock.ms = 60_000;
    assert.equal(loginGuard.attempt('192.0.2.1', bytes('anna')), 'check');
  });

  it('counts only checked logins: an old password in a client blocks its user name and not its source', () => {
    const { guard: loginGuard } = guard();
    attempts(loginGuard, 1000, '192.0.2.1', 'anna');
    assert.equal(loginGuard.attempt('192.0.2.1', bytes('bert')), 'check');
  });

  it('counts an IPv6 /64 as one source, and different ones separately', () => {
    const { guard: loginGuard } = guard();
    for (let i = 0; i < 10; i += 1)
      assert.equal(loginGuard.attempt(`2001:db8::${i + 1}`, bytes(`name-${i}`)), 'check');
    assert.equal(loginGuard.attempt('2001:db8::ffff:1:2:3', bytes('x')), 'block');
    assert.equal(loginGuard.attempt('2001:db8:0:1::1', bytes('x')), 'check');
  });

  it('permits many players behind one address, of whom some mistype', () => {
    const { guard: loginGuard } = guard();
    for (let i = 0; i < 500; i += 1) {
      assert.equal(loginGuard.attempt('192.0.2.1', bytes(`player-${i}`)), 'check', `${i}`);
      if (i % 60 !== 0) loginGuard.succeeded('192.0.2.1', bytes(`player-${i}`));
    }
  });

  it('uncounts only its own attempt after a correct login', () => {
    const { guard: loginGuard } = guard();
    let guesses = 0;
    for (let i = 0; i < 100; i += 1) {
      if (loginGuard.attempt('192.0.2.1', bytes('own')) === 'check')
        loginGuard.succeeded('192.0.2.1', bytes('own'));
      if (loginGuard.attempt('192.0.2.1', bytes(`victim-${i}`)) === 'check') guesses += 1;
    }
    assert.equal(guesses, 10);
  });

  it('keeps the count when an attacker logs in to an account of its own', () => {
    const { guard: loginGuard } = guard();
    let guesses = 0;
    for (let i = 0; i < 100; i += 1) {
      if (loginGuard.attempt('192.0.2.1', bytes('own')) === 'check')
        loginGuard.succeeded('192.0.2.1', bytes('own'));
      for (let k = 0; k < 20; k += 1)
        if (loginGuard.attempt('192.0.2.1', bytes('victim')) === 'check') guesses += 1;
    }
    assert.equal(guesses, 3);
  });

  it('keeps a limited number of sources, and drops the least recently seen', () => {
    const { guard: loginGuard } = guard({ rows: 100 });
    attempts(loginGuard, 4, '198.51.100.1', 'anna');
    for (let i = 0; i < 5000; i += 1)
      loginGuard.attempt(`10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`, bytes('x'));
    assert.equal(loginGuard.attempt('198.51.100.1', bytes('anna')), 'check');
    const { guard: kept } = guard({ rows: 100 });
    attempts(kept, 4, '198.51.100.1', 'anna');
    for (let i = 0; i < 5000; i += 1) {
      kept.attempt(`10.0.${(i >> 8) & 255}.${i & 255}`, bytes('x'));
      if (i % 50 === 0) assert.equal(kept.attempt('198.51.100.1', bytes('anna')), 'blocked');
    }
  });
});
