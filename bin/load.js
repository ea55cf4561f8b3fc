// Loads the files of the built program (dist/program), which Rolldown writes as CommonJS, and keeps what V8 compiled of them: a start
// from kept code takes two thirds of the processor time of one that compiles 3 MB of source. Each thread loads its own file by this
// function (test/tools/rolldown.config.mjs).
'use strict';

const {
  mkdirSync,
  existsSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} = require('node:fs');
const { createRequire } = require('node:module');
const { join } = require('node:path');
const { Script, constants } = require('node:vm');
const { isMainThread, threadId } = require('node:worker_threads');
const { crc32 } = require('node:zlib');

const PROGRAM = join(__dirname, '../dist/program');
/** Where only those may write who may replace the program too: what is kept is executed. An agent of the daemon must not. */
const KEPT = join(__dirname, '../dist/kept-code');
/** The code is kept when the daemon has started, so that it includes the functions that a start calls. Commands end before. */
const KEEP_AFTER_MS = 5000;

if (isMainThread) require('./flags.js');

const requireOutside = createRequire(join(PROGRAM, 'any.js'));
const loaded = new Map();
/** The scripts of which no code, or that of another version of V8, is kept. */
const compiled = new Map();

/** Returns the exports of a file of the program. Its name contains a hash of its content, so that kept code is never that of another. */
module.exports = function load(name) {
  const known = loaded.get(name);
  if (known) return known.exports;
  const module = { exports: {} };
  loaded.set(name, module);
  const filename = join(PROGRAM, name);
  const cachedData = read(join(KEPT, name));
  const script = compile(filename, cachedData);
  if (!cachedData || script.cachedDataRejected) {
    if (compiled.size === 0) setTimeout(keep, KEEP_AFTER_MS).unref();
    compiled.set(name, script);
  }
  const require = (wanted) => (wanted.startsWith('./') ? load(wanted.slice(2)) : requireOutside(wanted));
  try {
    script.runInThisContext()(module.exports, require, module, filename, PROGRAM);
  } catch (error) {
    loaded.delete(name);
    throw error;
  }
  return module.exports;
};

function compile(filename, cachedData) {
  const source = `(function (exports, require, module, __filename, __dirname) {${readFileSync(filename, 'utf8')}\n})`;
  const importModuleDynamically = constants?.USE_MAIN_CONTEXT_DEFAULT_LOADER;
  return new Script(source, { filename, cachedData, importModuleDynamically });
}

/** Whether nobody but root and this user may write it. */
function isOurs(path) {
  const { uid, mode } = statSync(path);
  return process.geteuid === undefined || ((uid === 0 || uid === process.geteuid()) && (mode & 0o022) === 0);
}

let isKeptOurs;

/** Returns kept code, which follows its checksum: V8 trusts it without one. */
function read(file) {
  try {
    isKeptOurs ??= isOurs(KEPT);
    if (!isKeptOurs || !isOurs(file)) return undefined;
    const content = readFileSync(file);
    const code = content.subarray(4);
    return content.readUInt32LE() === crc32(code) ? code : undefined;
  } catch {
    return undefined;
  }
}

/** Where the folder is read-only, each start compiles. */
function keep() {
  try {
    write();
  } catch {}
  compiled.clear();
}

/**
 * Keeps the code of every file: of those that were loaded what has been called so far, of the others, such as those of threads, all
 * of it. Throws when it cannot.
 */
module.exports.keepAll = function keepAll() {
  const { setFlagsFromString } = require('node:v8');
  // Off again before the code is kept.
  setFlagsFromString('--no-lazy');
  for (const name of readdirSync(PROGRAM))
    if (name.endsWith('.js') && !loaded.has(name)) compiled.set(name, compile(join(PROGRAM, name)));
  setFlagsFromString('--lazy');
  write();
};

function write() {
  mkdirSync(KEPT, { recursive: true, mode: 0o755 });
  if (!isOurs(KEPT)) return;
  for (const [name, script] of compiled) {
    const code = script.createCachedData();
    const checksum = Buffer.alloc(4);
    checksum.writeUInt32LE(crc32(code));
    // Renamed, so that no start reads half a file.
    const written = join(KEPT, `${name}.${process.pid}-${threadId}`);
    try {
      writeFileSync(written, Buffer.concat([checksum, code]), { mode: 0o644, flag: 'wx' });
      renameSync(written, join(KEPT, name));
    } finally {
      rmSync(written, { force: true });
    }
  }
  for (const name of readdirSync(KEPT))
    if (name.endsWith('.js') && !existsSync(join(PROGRAM, name))) rmSync(join(KEPT, name));
}
