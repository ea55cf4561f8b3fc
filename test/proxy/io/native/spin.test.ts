import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Spin } from '../../../../src/proxy/io/native/spin.js';

const quiet = { cores: 2, countRunning: () => 1 };

describe('the look for events before a sleep', () => {
  it('is made while it finds something', () => {
    const spin = new Spin(quiet);
    for (let i = 0; i < 100; i += 1) {
      assert.ok(spin.lookMs(i) > 0);
      spin.found();
    }
  });

  it('is made less and less often while it finds nothing: for less than 20 ms in a minute', () => {
    const spin = new Spin(quiet);
    let spentMs = 0;
    for (let now = 0; now < 60_000; now += 1) {
      const lookMs = spin.lookMs(now);
      spentMs += lookMs;
      if (lookMs > 0) spin.foundNothing(now);
    }
    assert.ok(spentMs > 0 && spentMs < 20, `${spentMs} ms`);
  });

  it('is not made with one core, or where every core is wanted', () => {
    assert.equal(new Spin({ ...quiet, cores: 1 }).lookMs(1), 0);
    assert.equal(new Spin({ ...quiet, countRunning: () => 3 }).lookMs(1), 0);
    assert.equal(new Spin({ ...quiet, countRunning: () => null }).lookMs(1), 0);
  });

  it('is made again once cores are free', () => {
    let running = 5;
    const spin = new Spin({ cores: 2, countRunning: () => running });
    assert.equal(spin.lookMs(0), 0);
    running = 2;
    assert.ok(spin.lookMs(5_000) > 0);
  });
});
