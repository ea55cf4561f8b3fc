// The unit file, checked by systemd itself.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { PROJECT } from '../helpers/daemon.js';
import { needs } from '../helpers/programs.js';

const UNIT = join(PROJECT, 'systemd/pulsegate.service');

describe('the systemd unit', needs('systemd-analyze'), () => {
  it('has an exposure level of at most 1.5', () => {
    const { stdout } = spawnSync('systemd-analyze', ['security', '--offline=true', UNIT], {
      encoding: 'utf8',
    });
    const [, exposure] = /Overall exposure level for \S+: ([\d.]+)/.exec(stdout) ?? [];
    assert.ok(Number(exposure) <= 1.5, stdout);
  });

  it('has no setting that systemd does not know', () => {
    const { stderr, status } = spawnSync('systemd-analyze', ['verify', UNIT], { encoding: 'utf8' });
    // systemd checks the manual page only after it is installed.
    assert.deepEqual([status, stderr], [0, '']);
  });
});
