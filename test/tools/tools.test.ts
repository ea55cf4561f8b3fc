// The tools of contributors: `npm start`, and the runner of these tests.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { PROJECT, plainEnvironment } from '../helpers/daemon.js';
import { endOfProcessesIn } from '../helpers/processes.js';

interface FileResult {
  readonly failed: boolean;
  readonly tests: number;
  readonly skipped: number;
  readonly output: string;
}
type StartHost = (folder: string) => {
  run(compiled: string, timeoutMs: number): Promise<FileResult>;
  end(): Promise<string>;
};

async function temporaryFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'tools-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Runs `program` as a test file, as the runner does. */
async function runAsTest(t: TestContext, program: string, timeoutMs = 30_000): Promise<FileResult> {
  const folder = await temporaryFolder(t);
  const file = join(folder, 'a.mjs');
  await writeFile(file, program);
  const { startHost } = (await import(join(PROJECT, 'test/tools/run-file.mjs'))) as { startHost: StartHost };
  const host = startHost(join(folder, 'own'));
  try {
    return await host.run(file, timeoutMs);
  } finally {
    await host.end();
  }
}

test('npm ci needs no compiler and no other host than the registry: what runs a script at installation is optional', async () => {
  interface Package {
    readonly optional?: boolean;
    readonly hasInstallScript?: boolean;
  }
  const lock = JSON.parse(await readFile(join(PROJECT, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, Package>>;
  };
  const needed = Object.entries(lock.packages).filter(
    ([, { hasInstallScript, optional }]) => hasInstallScript && !optional,
  );
  assert.deepEqual(needed, []);
});

test('the runner passes a file whose tests pass', async (t) => {
  const { failed, tests, skipped, output } = await runAsTest(
    t,
    "import { test } from 'node:test'; test('one', () => {}); test('two', { skip: true });",
  );
  assert.equal(failed, false, output);
  assert.deepEqual([tests, skipped], [2, 1]);
});

for (const [what, program, shown] of [
  [
    'a test that fails',
    "import { test } from 'node:test'; test('one', () => { throw Error('wrong'); });",
    /✖ one[\s\S]*wrong/,
  ],
  ['an error outside a test', "throw new Error('not loaded');", /not loaded/],
  ['the end of the process', 'process.exit(3);', /the process ended with 3/],
  [
    'an error after the end of its test',
    "import { test } from 'node:test'; test('one', () => { setImmediate(() => { throw Error('late'); }); }); test('two', () => new Promise((r) => setTimeout(r, 200)));",
    /after the end of a test/,
  ],
  [
    'a server that still listens',
    "import { createServer } from 'node:net'; createServer().listen(0);",
    /left open: TCPServerWrap/,
  ],
] as const) {
  test(`the runner fails a file with ${what}, and says so`, async (t) => {
    const { failed, output } = await runAsTest(t, program);
    assert.equal(failed, true);
    assert.match(output, shown);
  });
}

test('the runner fails a file that leaves a process running, and kills the process', async (t) => {
  const { failed, output } = await runAsTest(
    t,
    `import { execFile, spawn } from 'node:child_process';
    spawn('sleep', ['1000'], { detached: true, stdio: 'inherit' }).unref();`,
  );
  assert.equal(failed, true);
  assert.match(output, /process \d+ was left running: sleep 1000/);
});

test('the runner kills a file that hangs, and fails it', async (t) => {
  const { failed, output } = await runAsTest(
    t,
    "import { test } from 'node:test'; test('one', () => new Promise(() => setInterval(() => {}, 1000)));",
    3_000,
  );
  assert.equal(failed, true);
  assert.match(output, /not done after 3 s/);
});

test('SIGTERM to npm start ends the daemon', async (t) => {
  const folder = await temporaryFolder(t);
  const npm = spawn('npm', ['start', '--silent'], {
    cwd: PROJECT,
    env: {
      ...plainEnvironment(),
      TMPDIR: folder,
      PULSEGATE_DATA_DIR: join(folder, 'data'),
      PULSEGATE_SOCKS__PORT: '0',
      PULSEGATE_ADMIN__PORT: '0',
      PULSEGATE_ADMIN_PASSWORD: 'test-admin-password',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => npm.kill('SIGKILL'));
  const closed = once(npm, 'close');
  const messages: string[] = [];
  await new Promise<void>((resolve, reject) => {
    npm.once('exit', (code) => reject(new Error(`ended with ${code}`)));
    createInterface({ input: npm.stdout }).on('line', (line) => {
      messages.push(String((JSON.parse(line) as { msg: unknown }).msg));
      if (messages.at(-1) === 'ready') resolve();
    });
  });
  npm.kill('SIGTERM');
  assert.deepEqual(await endOfProcessesIn(folder), [], 'no process is left');
  await closed;
  assert.equal(messages.at(-1), 'stopped');
});

test('the package has neither screenshots nor source maps nor sources', async () => {
  const { stdout } = await promisify(execFile)('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: PROJECT,
  });
  const [{ files }] = JSON.parse(stdout) as [{ files: { path: string }[] }];
  const paths = files.map(({ path }) => path);
  assert.ok(paths.includes('dist/program/cli.js'));
  assert.deepEqual(
    paths.filter((path) => /\.(png|map|tsx?)$/.test(path)),
    [],
  );
});
