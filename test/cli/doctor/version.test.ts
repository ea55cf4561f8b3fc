// `pulsegate doctor` on the version: installed, running, and its age.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { versionFinding } from '../../../src/cli/doctor/checks.js';

const BUILD = { commit: '0123456789abcdef', date: '2026-04-26T10:00:00.000Z' };
const after = (days: number): number => Date.parse(BUILD.date) + days * 86_400_000;

describe('doctor on the version', () => {
  it('warns of a daemon that runs another version than the installed one, newer or older', () => {
    for (const [installed, running] of [
      ['0.3.0', '0.2.0'],
      ['0.2.0', '0.3.0'],
    ] as const) {
      const { state, text } = versionFinding(installed, running, BUILD, after(1));
      assert.equal(state, 'warn');
      assert.equal(text, `${installed} is installed, ${running} is running: restart the daemon`);
    }
  });

  it('shows the commit, and warns from 180 days', () => {
    const text = '0.3.0 of 2026-04-26, commit 0123456789ab';
    for (const running of ['0.3.0', null])
      assert.deepEqual(versionFinding('0.3.0', running, BUILD, after(180) - 1), {
        state: 'ok',
        text,
      });
    const old = versionFinding('0.3.0', null, BUILD, after(180));
    assert.deepEqual([old.state, old.text], ['warn', `${text}, 180 days old: look for a newer release`]);
  });

  it('shows only the version of a program that is not a package', () => {
    assert.deepEqual(versionFinding('0.3.0', '0.3.0', null, after(1_000)), {
      state: 'ok',
      text: '0.3.0',
    });
  });
});
