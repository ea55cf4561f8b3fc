// Puts the program and the packages that it is made of into a few files: a start that reads a thousand modules one by one
// takes half as long again. Names and lines are kept as they were written, so that a stack can be read; comments are not, which
// Node would read too.
import { defineConfig } from 'rolldown';

/** Packages that are loaded by their names at run time: with compiled parts, optional, or fenced (proxy/protocols/socksv5.ts). */
const OUTSIDE = /^(sqlite3|better-sqlite3|koffi|socksv5|pino-pretty)(\/|$)/;
/** What knex and pg could load for others than us; nobody installs it. */
const NEVER_LOADED = /^(mysql2?|mariadb|oracledb|tedious|pg-query-stream|pg-native|pg-cloudflare)(\/|$)/;

export default defineConfig({
  platform: 'node',
  logLevel: 'warn',
  // Threads are started by the address of their file, beside that of who starts them.
  input: {
    cli: 'src/cli.ts',
    thread: 'src/proxy/thread.ts',
    'dns/thread': 'src/proxy/dns/thread.ts',
    'tls-thread': 'src/proxy/tls/tls-thread.ts',
    'sqlite-thread': 'src/store/sqlite-thread.ts',
  },
  external: [OUTSIDE, NEVER_LOADED],
  // A package's own eval (depd) is none of ours.
  checks: { eval: false },
  output: {
    dir: 'dist/program',
    cleanDir: true,
    format: 'esm',
    comments: { legal: true, jsdoc: false, annotation: false },
    chunkFileNames: '[name]-[hash].js',
  },
});
