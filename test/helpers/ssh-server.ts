// An OpenSSH server on loopback with temporary keys, which accepts the current user.
import { execFile, spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { eventually } from './eventually.js';
import { freePort, isListening } from './ports.js';
import { findProgram } from './programs.js';
import type { Scope } from './suite.js';

const run = promisify(execFile);

export interface SshServer {
  /** Options with which `ssh` uses the test's keys and files and asks no questions. */
  readonly options: readonly string[];
  /** `user@127.0.0.1` */
  readonly target: string;
}

export async function startSshServer(t: Scope): Promise<SshServer> {
  const folder = await mkdtemp(join(tmpdir(), 'sshd-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  for (const key of ['host', 'user'])
    await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(folder, key)]);
  await run('cp', [join(folder, 'user.pub'), join(folder, 'authorized')]);
  // sshd started by root needs this folder.
  if (process.getuid?.() === 0) await mkdir('/run/sshd', { recursive: true });
  const port = await freePort();
  await writeFile(
    join(folder, 'config'),
    [
      `Port ${port}`,
      'ListenAddress 127.0.0.1',
      `HostKey ${join(folder, 'host')}`,
      `AuthorizedKeysFile ${join(folder, 'authorized')}`,
      'StrictModes no',
      'UsePAM no',
      'PermitRootLogin yes',
      'PasswordAuthentication no',
      `PidFile ${join(folder, 'pid')}`,
    ].join('\n'),
  );
  const child = spawn(findProgram('sshd') ?? 'sshd', ['-D', '-e', '-f', join(folder, 'config')], {
    stdio: 'ignore',
  });
  t.after(() => child.kill('SIGKILL'));
  await eventually(() => isListening(port));
  return {
    options: [
      ...['-F', 'none', '-i', join(folder, 'user'), '-p', String(port)],
      ...[
        '-o',
        'StrictHostKeyChecking=no',
        '-o',
        `UserKnownHostsFile=${join(folder, 'known')}`,
        '-o',
        'BatchMode=yes',
        '-o',
        'LogLevel=ERROR',
      ],
    ],
    target: `${userInfo().username}@127.0.0.1`,
  };
}
