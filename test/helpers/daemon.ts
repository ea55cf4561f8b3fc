// Starts the built daemon in a separate process with a temporary data folder and free ports. The end of the test stops it.
import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, cp, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { Operator } from '../../src/core/auth/operator.js';
import { databaseSection, dropDatabaseOf } from './database.js';
import { type Answer, ask, basic, parseJson } from './http.js';
import type { NewOperator } from './operators.js';
import { killProcessesIn } from './processes.js';
import { copySqliteTemplate, TEST_ADMIN } from './sqlite-template.js';
import type { Scope } from './suite.js';

/** The folder of the repository, relative to dist/test/helpers. */
export const PROJECT = resolve(import.meta.dirname, '../../..');
export const BIN = join(PROJECT, 'bin/pulsegate.js');
export const ADMIN = TEST_ADMIN;

/** The key `guard` of the configuration for campaigns whose few accounts open as much as they can. */
export const NO_GUARD = {
  connectionsPerSecond: 0,
  connectionsPerMinute: 0,
  destinationsPerMinute: 0,
  udpDestinationsPerSecond: 0,
  failedConnectionsPerMinute: 0,
};

export type LogLine = Readonly<Record<string, unknown>> & { readonly msg: string };

export interface DaemonOptions {
  /** Merged over the test defaults: free ports, a temporary data folder, private destinations allowed. */
  readonly config?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string>>;
  /** A folder that outlives this daemon, for tests that start a daemon on it again. */
  readonly dataDir?: string;
  /** A folder with a copy of the program, for tests that replace its files. */
  readonly program?: string;
  /** Words before the node command: `['prlimit', '--nofile=256']`. */
  readonly wrap?: readonly string[];
  /** Listening descriptors that it inherits, as from systemd. */
  readonly sockets?: readonly number[];
  /** Operators that it finds in its database. */
  readonly operators?: readonly NewOperator[];
}

export interface TestDaemon {
  readonly process: ChildProcess;
  readonly pid: number;
  readonly dataDir: string;
  readonly configFile: string;
  readonly socks: { readonly host: string; readonly port: number };
  /** `http://127.0.0.1:port`, or `https://…` with admin.tls. `api` supports only http. */
  readonly adminUrl: string;
  /** The lines logged so far. */
  readonly lines: LogLine[];
  readonly stderr: () => string;
  /** Resolves with the first line that `matches`, logged before or after the call. Rejects after `timeoutMs`. */
  waitForLine(matches: (line: LogLine) => boolean, timeoutMs?: number): Promise<LogLine>;
  /** Those of the options, as they are stored. */
  readonly operators: readonly Operator[];
  /** Sends a request to the admin API with the admin's credentials. */
  api(
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<ApiAnswer>;
  /** Creates an account; returns its AID. */
  addAccount(username: string, password: string, fields?: Readonly<Record<string, unknown>>): Promise<string>;
  /** Returns the account as the account API lists it. */
  account(username: string): Promise<Readonly<Record<string, unknown>>>;
  signal(signal: NodeJS.Signals): void;
  /** Resolves with the exit code; null after a signal. */
  exited(): Promise<number | null>;
}

export type ApiAnswer = Answer;

// The timeouts are for events that never happen. On a busy machine other events may take long.
const START_TIMEOUT_MS = 60_000;
const LINE_TIMEOUT_MS = 45_000;

/** Copies the built program to a temporary folder, for a test that changes its files. */
export async function copyProgram(t: Scope): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'pulsegate-program-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  for (const name of ['bin', 'package.json', 'dist/program', 'dist/console'])
    await cp(join(PROJECT, name), join(folder, name), { recursive: true });
  // Without the compiled code that starts keep (bin/load.js), each start would compile. Another daemon may be writing a file of it.
  const kept = 'dist/kept-code';
  await mkdir(join(folder, kept), { mode: 0o755 });
  for (const name of await readdir(join(PROJECT, kept)).catch(() => []))
    if (name.endsWith('.js')) await copyFile(join(PROJECT, kept, name), join(folder, kept, name));
  await symlink(join(PROJECT, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

/** Returns a data folder for daemons that start on it one after another. It has the database of a new daemon, and is removed at the end. */
export async function keptDataDir(t: Scope): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'pulsegate-kept-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const dataDir = join(folder, 'data');
  if ((await databaseSection(dataDir))['client'] !== 'pg')
    await copySqliteTemplate(dataDir, { withAdmin: true });
  return dataDir;
}

/** Starts `pulsegate serve`. Rejects with the daemon's output if the daemon does not get ready. */
export async function startTestDaemon(t: Scope, options: DaemonOptions = {}): Promise<TestDaemon> {
  const folder = await mkdtemp(join(tmpdir(), 'pulsegate-test-'));
  const dataDir = options.dataDir ?? join(folder, 'data');
  const configFile = join(folder, 'pulsegate.yaml');
  const database = await databaseSection(dataDir);
  const withAdmin = options.env?.['PULSEGATE_ADMIN_PASSWORD'] === undefined;
  if (database['client'] !== 'pg' && !options.dataDir) await copySqliteTemplate(dataDir, { withAdmin });
  const operators = options.operators ? await storedOperators(dataDir, options.operators) : [];
  await writeFile(configFile, yamlOf(merge(merge(defaults(dataDir), { database }), options.config ?? {})));

  const bin = options.program === undefined ? BIN : join(options.program, 'bin/pulsegate.js');
  const sockets = options.sockets ?? [];
  const given = sockets.length > 0 ? ['sh', '-c', 'LISTEN_PID=$$ exec "$@"', 'sh'] : [];
  const command = [...(options.wrap ?? []), ...given, process.execPath, bin, 'serve', '--config', configFile];
  const child = spawn(command[0] ?? '', command.slice(1), {
    cwd: folder,
    env: {
      ...plainEnvironment(),
      PULSEGATE_ADMIN_PASSWORD: ADMIN.password,
      ...(sockets.length > 0 ? { LISTEN_FDS: String(sockets.length) } : {}),
      ...options.env,
    },
    stdio: ['ignore', 'pipe', 'pipe', ...sockets],
  }) as ChildProcessByStdio<null, Readable, Readable>;
  const exit = once(child, 'exit');
  t.after(async () => {
    // A daemon killed by SIGKILL cannot kill the commands of its agents, which run in its folder.
    const isKilled = child.exitCode === null && child.kill('SIGKILL');
    await exit;
    if (isKilled) killProcessesIn(folder);
    await rm(folder, { recursive: true, force: true });
    if (!options.dataDir) await dropDatabaseOf(dataDir);
  });

  const lines: LogLine[] = [];
  const watchers = new Set<(line: LogLine) => void>();
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  createInterface({ input: child.stdout }).on('line', (text) => {
    const line = parseLine(text);
    lines.push(line);
    for (const watcher of watchers) watcher(line);
  });

  const waitForLine = (matches: (line: LogLine) => boolean, timeoutMs = LINE_TIMEOUT_MS): Promise<LogLine> =>
    new Promise((resolveLine, reject) => {
      const known = lines.find(matches);
      if (known) return resolveLine(known);
      const done = (): void => {
        clearTimeout(timer);
        watchers.delete(watcher);
        child.off('exit', exited);
      };
      const watcher = (line: LogLine): void => {
        if (!matches(line)) return;
        done();
        resolveLine(line);
      };
      const fail = (why: string): void => {
        done();
        reject(new Error(`${why}\nstderr: ${stderr}\nlast lines: ${JSON.stringify(lines.slice(-5))}`));
      };
      const exited = (code: number | null): void => fail(`the daemon ended with ${code}`);
      const timer = setTimeout(() => fail('no such line was logged'), timeoutMs);
      watchers.add(watcher);
      child.once('exit', exited);
    });

  const ready = await waitForLine((line) => line.msg === 'ready', START_TIMEOUT_MS);
  const admin = first(ready['admin']);
  const adminUrl = admin.startsWith('https://') ? admin : `http://${admin}`;
  const [socksHost, socksPort] = splitHostPort(first(ready['socks']));

  const api: TestDaemon['api'] = async (method, path, body, headers = {}) => {
    const type = body === undefined ? {} : { 'content-type': 'application/json' };
    const authorization = basic(ADMIN.username, ADMIN.password);
    const sent = { authorization, ...type, ...headers };
    return ask(adminUrl + path, method, sent, body === undefined ? undefined : JSON.stringify(body));
  };

  const account: TestDaemon['account'] = async (username) => {
    const list = (await api('GET', '/ProxyAccount/GetProxyAccountList')).json as Record<string, unknown>[];
    const found = list.find((each) => each['Username'] === username);
    if (!found) throw new Error(`no account ${username}`);
    return found;
  };

  return {
    process: child,
    pid: child.pid ?? 0,
    dataDir,
    configFile,
    socks: { host: socksHost, port: socksPort },
    adminUrl,
    lines,
    stderr: () => stderr,
    waitForLine,
    operators,
    api,
    async addAccount(username, password, fields = {}) {
      const body = { Username: username, Password: password, ...fields };
      const added = await api('POST', '/ProxyAccount/AddProxyAccount', body);
      if (added.status !== 200) throw new Error(`adding ${username}: ${added.status} ${added.text}`);
      return String((await account(username))['AID']);
    },
    account,
    signal: (signal) => child.kill(signal),
    exited: async () => {
      const [code] = (await exit) as [number | null];
      return code;
    },
  };
}

/** Stores operators. The store is loaded only when a test has some. */
async function storedOperators(dataDir: string, operators: readonly NewOperator[]): Promise<Operator[]> {
  const { storeOperators } = await import('./operators.js');
  return storeOperators(dataDir, operators);
}

/** Returns YAML with one key per line. JSON values are YAML too; importing the package costs each test file 30 ms of CPU time. */
export function yamlOf(config: Readonly<Record<string, unknown>>): string {
  return Object.entries(config)
    .map(([key, value]) => `${key}: ${JSON.stringify(value)}\n`)
    .join('');
}

function defaults(dataDir: string): Record<string, unknown> {
  return {
    dataDir,
    shutdownGrace: '1s',
    // On a busy machine writing what is pending takes seconds.
    stopTimeout: '1m',
    // On a busy machine a search takes seconds.
    database: { readTimeout: '1m' },
    // Daemons share the processors with many tests, so their control planes keep the normal priority.
    controlPlaneNice: 0,
    socks: { host: '127.0.0.1', port: 0, ...engineUnderTest() },
    admin: { host: '127.0.0.1', port: 0 },
    egress: { private: 'allow' },
  };
}

/** `TEST_ENGINE=node` and `TEST_WORKERS=3` select another engine or more workers for tests with a daemon. */
function engineUnderTest(): Record<string, unknown> {
  const { TEST_ENGINE, TEST_WORKERS } = process.env;
  return {
    ...(TEST_ENGINE ? { engine: TEST_ENGINE } : {}),
    ...(TEST_WORKERS ? { workers: Number(TEST_WORKERS) } : {}),
  };
}

/** Returns the caller's environment without variables that configure the daemon. */
export function plainEnvironment(): NodeJS.ProcessEnv {
  const foreign = /^PULSEGATE_|^NOTIFY_SOCKET$|^INVOCATION_ID$|^JOURNAL_STREAM$|^CREDENTIALS_DIRECTORY$/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !foreign.test(name)));
}

function merge(
  base: Record<string, unknown>,
  over: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const result = { ...base };
  for (const [key, value] of Object.entries(over)) {
    const below = result[key];
    result[key] = isRecord(below) && isRecord(value) ? merge(below, value) : value;
  }
  return result;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function parseLine(text: string): LogLine {
  const value = parseJson(text);
  return isRecord(value) && typeof value['msg'] === 'string'
    ? { ...value, msg: value['msg'] }
    : { msg: text };
}

function first(list: unknown): string {
  return Array.isArray(list) ? String(list[0]) : '';
}

function splitHostPort(text: string): [string, number] {
  const at = text.lastIndexOf(':');
  return [text.slice(0, at).replace(/^\[|\]$/g, ''), Number(text.slice(at + 1))];
}
