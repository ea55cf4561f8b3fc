// The unit files, checked by systemd itself.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { basename, join } from 'node:path';
import { describe, it } from 'node:test';
import { PROJECT } from '../helpers/daemon.js';
import { needs } from '../helpers/programs.js';

const UNIT = join(PROJECT, 'systemd/pulsegate.service');
const AGENT_SOCKET = join(PROJECT, 'systemd/pulsegate-agent-example.socket');
const AGENT_UNIT = join(PROJECT, 'systemd/pulsegate-agent-example@.service');

describe('the systemd units', needs('systemd-analyze'), () => {
  const exposures = [
    [UNIT, 1.5],
    [AGENT_UNIT, 0.5],
  ] as const;
  for (const [unit, most] of exposures)
    it(`have an exposure level of at most ${most}: ${basename(unit)}`, () => {
      const { stdout } = spawnSync('systemd-analyze', ['security', '--offline=true', unit], {
        encoding: 'utf8',
      });
      const [, exposure] = /Overall exposure level for \S+: ([\d.]+)/.exec(stdout) ?? [];
      assert.ok(Number(exposure) <= most, stdout);
    });

  it('have no setting that systemd does not know', () => {
    const { stderr, status } = spawnSync('systemd-analyze', ['verify', UNIT, AGENT_SOCKET, AGENT_UNIT], {
      encoding: 'utf8',
    });
    // systemd checks the manual page only after it is installed.
    assert.deepEqual([status, stderr], [0, '']);
  });
});
