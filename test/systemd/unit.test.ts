// The unit file, judged by systemd itself.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { PROJECT } from '../helpers/daemon.js';
import { needs } from '../helpers/programs.js';

const UNIT = join(PROJECT, 'systemd/pulsegate.service');

describe('the systemd unit', needs('systemd-analyze'), () => {
  it('is exposed to 1.5 at most', () => {
    const { stdout } = spawnSync('systemd-analyze', ['security', '--offline=true', UNIT], {
      encoding: 'utf8',
    });
    const [, exposure] = /Overall exposure level for \S+: ([\d.]+)/.exec(stdout) ?? [];
    assert.ok(Number(exposure) <= 1.5, stdout);
  });

  it('has nothing that systemd does not understand', () => {
    const { stderr, status } = spawnSync('systemd-analyze', ['verify', UNIT], { encoding: 'utf8' });
    // The manual page it names is there only once it is installed.
    assert.deepEqual([status, stderr], [0, '']);
  });
});
