// Messages of bin/pulsegate.js where the program cannot run: one line each, with the command that fixes the problem; and the
// code that bin/load.js keeps.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import ts from 'typescript';
import { findSqlitePackage } from '../../src/store/sqlite/package.js';
import { commandLine, runProcess } from '../helpers/command.js';
import { PROJECT } from '../helpers/daemon.js';
import { eventually } from '../helpers/eventually.js';
import type { Scope } from '../helpers/suite.js';

/** Returns a folder with a copy of bin/ and package.json, and `files`. */
async function install(t: Scope, files: Readonly<Record<string, string>>): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'pulsegate-bin-'));
  t.after(() => rm(root, { recursive: true }));
  await cp(join(PROJECT, 'bin'), join(root, 'bin'), { recursive: true });
  await cp(join(PROJECT, 'package.json'), join(root, 'package.json'));
  for (const [name, content] of Object.entries(files)) {
    await mkdir(join(root, name, '..'), { recursive: true });
    await writeFile(join(root, name), content);
  }
  return root;
}

const start = (root: string, ...nodeOptions: string[]) =>
  runNode(...nodeOptions, join(root, 'bin/pulsegate.js'), '--version');

async function runNode(...words: string[]) {
  const child = spawn(process.execPath, words, { env: { ...process.env, NO_COLOR: '1' } });
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code: child.exitCode, stdout, stderr };
}

const BUILT = { 'dist/program/cli.js': 'export const main = () => {};\n' };

describe('bin/pulsegate.js', () => {
  it('names the required Node version', async (t) => {
    const root = await install(t, {
      ...BUILT,
      'old.cjs': "Object.defineProperty(process.versions, 'node', { value: '20.18.3' });",
    });
    assert.deepEqual(await start(root, '--require', join(root, 'old.cjs')), {
      code: 1,
      stdout: '',
      stderr: 'pulsegate requires Node 20.19 or newer; this is Node 20.18.3. Download: https://nodejs.org\n',
    });
  });

  it('uses only ES5, so that every Node version can parse it', async () => {
    const source = await readFile(join(PROJECT, 'bin/pulsegate.js'), 'utf8');
    const emitted = (target: ts.ScriptTarget) =>
      ts.transpileModule(source, { compilerOptions: { target, module: ts.ModuleKind.CommonJS } }).outputText;
    assert.equal(emitted(ts.ScriptTarget.ES5), emitted(ts.ScriptTarget.ESNext));
  });

  it('reports a missing build or missing packages', async (t) => {
    const clone = await install(t, { 'src/cli.ts': '' });
    assert.deepEqual(await start(clone), {
      code: 1,
      stdout: '',
      stderr: `pulsegate is not built yet. Run: cd ${clone} && npm ci && npm run build\n`,
    });
    const damaged = await start(await install(t, { 'src/README.md': '' }));
    assert.equal(damaged.stderr, 'pulsegate is incomplete: dist is missing. Reinstall the package.\n');
  });

  it('shows a defect of the program with its stack', async (t) => {
    const root = await install(t, { 'dist/program/cli.js': "import './gone.js';\n" });
    const { code, stderr } = await start(root);
    assert.equal(code, 1);
    assert.match(stderr, /Cannot find module .*gone\.js/);
  });
});

describe('kept code', () => {
  /** A program of one file, as the build writes it. */
  const program = (word: string) =>
    `exports.main = ([, , option]) => (option ? console.log('${word}') : process.stdin.resume());\n`;

  const first = {
    'dist/program/package.json': '{ "type": "commonjs" }',
    'dist/program/cli.js': "module.exports = require('../../bin/load.js')('cli-hash.js');\n",
    'dist/program/cli-hash.js': program('first'),
  };

  it('replaces compiling at the next start, unless it is damaged', async (t) => {
    const root = await install(t, {
      ...first,
      'dist/kept-code/cli-of-an-older-build.js': '',
    });
    const main = join(root, 'dist/program/cli-hash.js');
    const kept = join(root, 'dist/kept-code/cli-hash.js');
    const running = spawn(process.execPath, [join(root, 'bin/pulsegate.js')]);
    const ended = once(running, 'close');
    await eventually(async () => assert.deepEqual(await readdir(join(kept, '..')), ['cli-hash.js']));
    running.kill();
    await ended;

    // V8 compares only the length of the source: the word shows whether the code is the kept one.
    await writeFile(main, program('other'));
    assert.equal((await start(root)).stdout, 'first\n');
    const code = await readFile(kept);
    code.writeUInt8(code.readUInt8(code.length - 1) ^ 1, code.length - 1);
    await writeFile(kept, code);
    assert.deepEqual(await start(root), { code: 0, stdout: 'other\n', stderr: '' });
  });

  it('of the whole program comes from a command', async (t) => {
    const root = await install(t, {
      ...first,
      'dist/program/thread-hash.js': 'exports.none = 1;',
    });
    const { code, stderr } = await runNode(join(root, 'bin/keep-code.js'));
    assert.deepEqual([code, stderr], [0, '']);
    const kept = (await readdir(join(root, 'dist/kept-code'))).sort();
    assert.deepEqual(kept, ['cli-hash.js', 'cli.js', 'thread-hash.js']);
    await writeFile(join(root, 'dist/program/cli-hash.js'), program('other'));
    assert.equal((await start(root)).stdout, 'first\n');
  });
});

describe('a database package that cannot be loaded', () => {
  const failing = (error: Error) => () =>
    findSqlitePackage('sqlite3', () => {
      throw error;
    });
  const missing = (name: string) =>
    Object.assign(new Error(`Cannot find module '${name}'\nRequire stack`), { code: 'MODULE_NOT_FOUND' });

  it('is reported differently from a missing package', () => {
    assert.throws(failing(missing('sqlite3')), {
      name: 'StartError',
      message: `The package sqlite3 is not installed. To fix: cd ${PROJECT} && npm install --omit=dev --include=optional, or set database.client to auto`,
    });
    assert.throws(failing(new Error('libc.musl-x86_64.so.1: cannot open shared object file')), {
      message: /cannot be loaded by Node \S+ on \S+ \(libc\.musl.*\)\. To fix: cd \S+ && npm rebuild sqlite3/,
    });
  });

  it('is reported for other packages too, with the command to install the package', () => {
    const load = (name: string) => {
      throw missing(name);
    };
    assert.throws(() => findSqlitePackage('better-sqlite3', load), {
      code: 'database-client-unusable',
      message: `The package better-sqlite3 is not installed. To fix: cd ${PROJECT} && npm install --no-save --save-prod --omit=dev better-sqlite3, or set database.client to auto`,
    });
    assert.throws(
      () => findSqlitePackage('node:sqlite', load, () => false),
      /has no module node:sqlite.*Node 22\.13 or newer/,
    );
    assert.throws(() => findSqlitePackage('auto', load, () => false), {
      code: 'database-client-unusable',
      message:
        /^No package for SQLite can be used by Node .* \(sqlite3: not installed; node:sqlite: needs Node 22\.13 or newer; @photostructure\/sqlite: not installed\)\. To fix: cd /,
    });
  });

  it('is passed over with database.client: auto, in a fixed order', () => {
    class DatabaseSync {
      close() {}
    }
    const chosen = (installed: readonly string[], hasBuiltin: boolean) => {
      const load = (name: string) => {
        if (!installed.includes(name)) throw missing(name);
        return { DatabaseSync };
      };
      const { name, unusable } = findSqlitePackage('auto', load, () => hasBuiltin);
      return [name, Object.keys(unusable)];
    };
    assert.deepEqual(chosen(['sqlite3', '@photostructure/sqlite'], true), ['sqlite3', []]);
    assert.deepEqual(chosen(['@photostructure/sqlite'], true), ['node:sqlite', ['sqlite3']]);
    const last = ['@photostructure/sqlite', ['sqlite3', 'node:sqlite']];
    assert.deepEqual(chosen(['better-sqlite3', '@photostructure/sqlite'], false), last);
  });

  it('is reported by every command, and by doctor without a database; no file is created', async (t) => {
    const cli = await commandLine(
      t,
      'socks: { port: 0 }\nadmin: { port: 0 }\ndns: { servers: ["127.0.0.1:1"], timeout: 1s }\ndatabase: { client: sqlite3 }',
    );
    const hook = join(cli.folder, 'hook.cjs');
    await writeFile(
      hook,
      `const Module = require('node:module');
       const load = Module._load;
       Module._load = function (name, ...rest) {
         if (name === 'sqlite3') throw new Error('Could not locate the bindings file. Tried:\\n → …');
         if (name === 'koffi') throw new Error("Cannot find module 'koffi'\\nRequire stack:\\n- …");
         return load.call(this, name, ...rest);
       };`,
    );
    const env = { NODE_OPTIONS: `--require ${hook}` };
    const expected =
      /compiled part of the package sqlite3 cannot be loaded .*Could not locate the bindings file.*npm rebuild sqlite3/;
    const [add, doctor] = await Promise.all([
      runProcess(cli.folder, ['account', 'add', 'x', '--generate'], { env }),
      runProcess(cli.folder, ['doctor', '--json'], { env }),
    ]);
    assert.equal(add.code, 1);
    assert.match(add.stderr, expected);
    assert.doesNotMatch(add.stderr, /Knex|npm install|Unexpected/);
    assert.equal(doctor.code, 1);
    const findingsOf = (json: unknown) =>
      (json as { findings: { check: string; state: string; text: string }[] }).findings;
    const findings = findingsOf(doctor.json());
    const found = findings.find(({ check }) => check === 'database package');
    assert.equal(found?.state, 'stop');
    assert.match(found?.text ?? '', expected);
    assert.ok(
      findings.every(({ text }) => !text.includes('\n')),
      doctor.stdout,
    );
    await assert.rejects(readFile(join(cli.folder, 'data/pulsegate.db')));

    // With the default the next package takes its place, and doctor says which.
    const automatic = { env: { ...env, PULSEGATE_DATABASE__CLIENT: 'auto' } };
    const added = await runProcess(cli.folder, ['account', 'add', 'x', '--generate'], automatic);
    assert.equal(added.code, 0, added.stderr);
    const examined = await runProcess(cli.folder, ['doctor', '--json'], automatic);
    const { state, text } =
      findingsOf(examined.json()).find(({ check }) => check === 'database package') ?? {};
    assert.equal(state, 'ok');
    assert.match(text ?? '', /^(node:sqlite|@photostructure\/sqlite) loads; not sqlite3: .*bindings/);
  });
});
