// Runs the compiled tests, several files at a time: all files, or those whose path contains one of the arguments (`node
// test/tools/run-tests.mjs config cli`). `--verbose` shows every test.
// `--scale 20` makes the campaigns (test/helpers/scale.ts) 20 times as long. Most tests wait for a daemon, a disk or a timer.
// Therefore `--files-per-core` files run per core at a time, each in a process that runs one file after another (run-file.mjs).
// A file with a line `// Only by name: …` at its head runs only when an argument names it. The list of files comes from the
// sources, so that results of earlier builds do not run. A file that failed is not tried again.
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { killProcessesIn } from '../../dist/test/helpers/processes.js';
import { makeSqliteTemplate } from '../../dist/test/helpers/sqlite-template.js';
import { endedChildrenSeconds, startHost } from './run-file.mjs';

/** A file that has not ended by then fails by its name. The longest takes a tenth of it on two cores, and 400 s on two slow ones. */
const FILE_TIMEOUT_MS = 900_000;
/** The duration of each file in the last run, in seconds. The longest files start first. */
const TIMES_FILE = 'dist/.test-times.json';
const SLOWEST_SHOWN = 10;
/** Lines of a failed file that are shown again at the end. */
const FAILURE_LINES = 40;
const FAILURE_COLUMNS = 300;
const SHARED_POSTGRES = 'test/helpers/shared-postgres.ts';
/** Durations of the longest files on two cores, in seconds: on a fresh machine these files must not start last. */
const LONG_FILES = {
  'console/console.test.ts': 100,
  'console/forms.test.ts': 90,
  'console/forms-operators.test.ts': 60,
  'socks/exits.test.ts': 47,
  'http/v1/recipes.test.ts': 43,
  'tools/tools.test.ts': 42,
  'http/v1/session.test.ts': 37,
  'socks/udp/hostile-upstream.test.ts': 34,
  'limits/guard.test.ts': 32,
  'agents/takeover.test.ts': 28,
  'http/v1/confirmation.test.ts': 28,
  'proxy/plane/plane.test.ts': 26,
  'cli/commands.test.ts': 22,
  'socks/udp/associate.test.ts': 21,
  'fleet/limits.test.ts': 21,
  'fleet/nodes.test.ts': 20,
  'http/v1/activity.test.ts': 19,
  'socks/udp/upstream.test.ts': 19,
  'socks/lifetimes.test.ts': 18,
  'http/player-page.test.ts': 18,
  'limits/limits.test.ts': 16,
  'socks/tls-upstream.test.ts': 15,
  'http/v1/shop.test.ts': 15,
  'cli/serve.test.ts': 15,
  'agents/daemon.test.ts': 14,
  'fleet/sessions.test.ts': 14,
  'http/connections.test.ts': 14,
  'cli/operator.test.ts': 14,
  'store/replaced.test.ts': 13,
  'fleet/changes.test.ts': 13,
  'socks/upstream.test.ts': 13,
  'daemon/restart.test.ts': 13,
  'console/daemon.test.ts': 13,
  'fleet/away.test.ts': 13,
  'agents/management.test.ts': 13,
  'socks/resolve.test.ts': 12,
  'http/health.test.ts': 12,
  'http/guards.test.ts': 12,
  'fleet/changes-at-once.test.ts': 12,
  'core/notices/events.test.ts': 12,
  'daemon/storage.test.ts': 12,
  'account-files/account-files.test.ts': 12,
  'proxy/plane/handover.test.ts': 12,
  'http/subscription.test.ts': 11,
  'cli/start.test.ts': 11,
  'http-proxy/forward.test.ts': 11,
  'socks/bind.test.ts': 11,
  'http/v1/idempotency.test.ts': 11,
  'socks/tls.test.ts': 11,
  'fleet/penalties.test.ts': 11,
  'core/notices/notices.test.ts': 10,
  'store/copy.test.ts': 10,
  'http-proxy/connect.test.ts': 10,
  'socks/proxy-protocol.test.ts': 10,
  'socks/allowed-clients.test.ts': 10,
  'http/v1/transfer.test.ts': 10,
  'fleet/runs.test.ts': 10,
};

const { values: options, positionals: filters } = parseArgs({
  options: {
    verbose: { type: 'boolean', default: false },
    scale: { type: 'string', default: '1' },
    'files-per-core': { type: 'string', default: '3' },
  },
  allowPositionals: true,
});
const files = readdirSync('test', { recursive: true }).filter(
  (file) => file.endsWith('.test.ts') && (filters.length === 0 ? !runsOnlyByName(file) : isNamed(file)),
);
process.env.TEST_SCALE = options.scale;
// Each of a thousand processes would read these certificates at its start, for 40 ms.
delete process.env.NODE_EXTRA_CA_CERTS;
const filesPerCore = Number(options['files-per-core']);
const timeoutMs = FILE_TIMEOUT_MS * Math.max(1, Number(options.scale));
if (!(timeoutMs > 0) || !(filesPerCore > 0)) {
  console.error('--scale and --files-per-core are numbers: 20, 3');
  process.exit(2);
}
if (files.length === 0) {
  console.error('no tests found');
  process.exit(1);
}

const folder = mkdtempSync(join(tmpdir(), 'pgt-'));
process.on('exit', () => {
  killProcessesIn(folder);
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
});
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(130));

const startedAt = performance.now();
const idleAtStart = idleSeconds();
const cpuAtStart = endedChildrenSeconds();
const sharedPostgres = files.some(needsPostgres) ? startShared() : null;
process.env.TEST_SQLITE_TEMPLATE = await makeSqliteTemplate(join(folder, 'template'));
const lastTimes = readTimes();
const sorted = files.sort((one, other) => expectedSeconds(other) - expectedSeconds(one));
const results = [];
/** What was wrong with processes that ran several files. */
const problems = [];
const width = Math.ceil(Math.max(2, availableParallelism()) * filesPerCore);
await Promise.all(Array.from({ length: Math.min(width, files.length) }, (_, lane) => runAll(sorted, lane)));
const cpuSeconds = endedChildrenSeconds() - cpuAtStart;
writeFileSync(
  TIMES_FILE,
  JSON.stringify({
    ...lastTimes,
    ...Object.fromEntries(results.map(({ file, seconds }) => [file, seconds])),
  }),
);
await (await sharedPostgres)?.remove();
report();
process.exit(problems.length > 0 || results.some(({ failed }) => failed) ? 1 : 0);

/** Runs the files of the list one after another. Removes each file from the list when it starts. */
async function runAll(list, lane) {
  let hosts = 0;
  const newHost = () => startHost(join(folder, `${lane}-${hosts++}`));
  let host = newHost();
  const end = async (ended) => {
    const problem = await ended.end();
    if (problem !== '') problems.push(problem);
  };
  for (let file = list.shift(); file !== undefined; file = list.shift()) {
    if (needsPostgres(file)) await sharedPostgres;
    const compiled = join('dist/test', file.replace(/\.ts$/, '.js'));
    if (!host.isUsable()) {
      await end(host);
      host = newHost();
    }
    const isAlone = runsAlone(file);
    const runner = isAlone ? newHost() : host;
    const result = { file, ...(await runner.run(compiled, timeoutMs)) };
    if (isAlone) await end(runner);
    results.push(result);
    console.log(
      `${result.failed ? '✖' : '✔'} ${result.seconds.toFixed(1).padStart(5)} s  ${result.cpuSeconds.toFixed(1).padStart(5)} CPU s  ${file}`,
    );
    if (result.failed || options.verbose || options.scale !== '1') console.log(result.output);
  }
  await end(host);
}

function report() {
  const count = (what) => results.reduce((sum, result) => sum + result[what], 0);
  for (const { file, output } of results) {
    for (const [, name, reason] of output.matchAll(/^\s*﹣ (.*) \([\d.]+ms\) # (.*)$/gm))
      console.log(`skipped: ${file}: ${name}: ${reason}`);
  }
  if (filters.length === 0) {
    const slowest = results.toSorted((one, other) => other.seconds - one.seconds).slice(0, SLOWEST_SHOWN);
    console.log(
      `slowest: ${slowest.map(({ file, seconds }) => `${file} ${seconds.toFixed(0)} s`).join(', ')}`,
    );
  }
  const failed = results.filter((result) => result.failed);
  for (const problem of problems) console.log(`FAILED: ${problem}`);
  for (const { file, output } of failed) {
    console.log(`FAILED: ${file}\n${failures(output).join('\n')}`);
  }
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
  const idle = (idleSeconds() - idleAtStart).toFixed(0);
  console.log(
    `${results.length} files, ${count('tests')} tests, ${count('skipped')} skipped, ${failed.length} files failed, ${seconds} s, ${cpuSeconds.toFixed(0)} s of CPU, ${idle} s of ${cpus().length} processors idle`,
  );
}

/** Returns the end of the output, which names what failed: for a reader who has only the last lines of a log. */
function failures(output) {
  const from = Math.max(
    output.lastIndexOf('✖ failing tests:'),
    output.search(/^✖ (not done|the process|process)/m),
    0,
  );
  const lines = output.slice(from).trim().split('\n').slice(0, FAILURE_LINES);
  return lines.map((line) => line.slice(0, FAILURE_COLUMNS));
}

/** Returns the summed idle time of this machine's processors. */
function idleSeconds() {
  return cpus().reduce((sum, { times }) => sum + times.idle, 0) / 1000;
}

function isNamed(file) {
  return filters.some((filter) => file.includes(filter));
}

/**
 * Returns whether a file has the line `// Only by name:` at its head. CI runs such a file by a
 * script of its own (test/README.md), or it repeats a part of CI in a short form.
 */
function runsOnlyByName(file) {
  return /^\/\/ Only by name:/m.test(readFileSync(join('test', file), 'utf8').slice(0, 600));
}

/** Returns whether a file needs a process of its own: it says why in a line `// Alone: …`, or has hooks outside a `describe`. */
function runsAlone(file) {
  return /^(\/\/ Alone: |(before|after)(Each)?\(|const .* = .*suiteScope\(\))/m.test(
    readFileSync(join('test', file), 'utf8'),
  );
}

/**
 * Returns whether a file opens PostgreSQL databases, by itself or by what it imports of the tests, or may start a daemon that does.
 * Such a file starts when the server is ready: its process would start another one, which ends with the file.
 */
function needsPostgres(file) {
  return process.env.TEST_DATABASE === 'pg' || importedBy(join('test', file)).has(SHARED_POSTGRES);
}

/** Adds a file of the tests, and those that it imports, to `known`. */
function importedBy(path, known = new Set()) {
  if (known.has(path)) return known;
  known.add(path);
  for (const [, name] of readFileSync(path, 'utf8').matchAll(
    /^(?:import|export|\}).* from '(\.[^']*)\.js'/gm,
  )) {
    const imported = `${join(dirname(path), name)}.ts`;
    if (imported.startsWith('test/')) importedBy(imported, known);
  }
  return known;
}

/** Starts one PostgreSQL for all files. Each file has its own databases. */
async function startShared() {
  const { startPostgres, prepareTemplate } = await import('../../dist/test/helpers/postgres.js');
  const started = await startPostgres();
  await prepareTemplate(started);
  process.env.TEST_POSTGRES_FOLDER = started.folder;
  return started;
}

/** Returns the expected duration of a file. For a file that never ran here: its entry in LONG_FILES, or one second for three kilobytes. */
function expectedSeconds(file) {
  return lastTimes[file] ?? LONG_FILES[file] ?? statSync(join('test', file)).size / 3000;
}

function readTimes() {
  try {
    return JSON.parse(readFileSync(TIMES_FILE, 'utf8'));
  } catch {
    return {};
  }
}
