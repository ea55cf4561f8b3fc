// A synchronous standby of a test's PostgreSQL: a copy made by pg_basebackup that can replace the primary.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { eventually } from '../helpers/eventually.js';
import { connectTo, type Postgres } from '../helpers/postgres.js';
import type { Scope } from '../helpers/suite.js';

export type Standby = Pick<Postgres, 'query' | 'signal' | 'stop' | 'start' | 'pid'>;

const NOBODY = 65_534;

/** Makes a copy in `folder`. The primary then waits for the copy at every commit. Returns null without pg_basebackup. */
export async function startStandby(t: Scope, primary: Postgres, folder: string): Promise<Standby | null> {
  const programs = process.env['TEST_POSTGRES'];
  if (!programs) return null;
  const isRoot = process.getuid?.() === 0;
  const identity = isRoot ? { uid: NOBODY, gid: NOBODY } : {};
  await mkdir(folder, { mode: 0o711 });
  if (isRoot) await chown(folder, NOBODY, NOBODY);
  const data = join(folder, 'data');
  await promisify(execFile)(
    join(programs, 'pg_basebackup'),
    ['-D', data, '-R', '-X', 'stream', '-c', 'fast', '-h', primary.folder, '-U', 'postgres', '--no-sync'],
    { cwd: folder, ...identity },
  );

  let server: ChildProcess | null = null;
  const { query } = connectTo(folder);
  const standby: Standby = {
    query,
    get pid() {
      return server?.pid;
    },
    async signal(signal) {
      server?.kill(signal);
    },
    async start() {
      const settings = {
        unix_socket_directories: folder,
        listen_addresses: '',
        synchronous_standby_names: '',
      };
      const flags = Object.entries({ ...settings, max_connections: '100', fsync: 'off', jit: 'off' });
      server = spawn(
        join(programs, 'postgres'),
        ['-D', data, ...flags.flatMap(([name, value]) => ['-c', `${name}=${value}`])],
        { cwd: folder, stdio: 'ignore', ...identity },
      );
      await eventually(() => query('select 1').then(() => true));
    },
    async stop() {
      if (!server || server.exitCode !== null) return;
      const ended = once(server, 'exit');
      server.kill('SIGQUIT');
      await ended;
    },
  };
  t.after(() => standby.stop());
  await standby.start();
  await primary.query("alter system set synchronous_standby_names = '*'");
  await primary.query('select pg_reload_conf()');
  await eventually(async () => {
    const rows = await primary.query("select 1 from pg_stat_replication where sync_state = 'sync'");
    return rows.length > 0;
  });
  return standby;
}
