// Bundles the program and its packages into a few files: loading a thousand separate modules makes a start half as long again.
// Names and lines stay as in the sources, so that stack traces are readable. Comments are removed, because Node would read them
// too. The files are CommonJS, because Node can keep the compiled code only of that (bin/load.js).
import { posix, resolve } from 'node:path';
import { defineConfig } from 'rolldown';

/**
 * Packages that the program loads by name at run time: those with compiled parts, those that few configurations need, and the isolated
 * one (proxy/protocols/socksv5.ts).
 */
const OUTSIDE = /^(sqlite3|@photostructure\/sqlite|better-sqlite3|koffi|socksv5|pino-pretty|re2js)(\/|$)/;
/** Packages that knex and pg could load for other uses. Nobody installs them. */
const NEVER_LOADED = /^(mysql2?|mariadb|oracledb|tedious|pg-query-stream|pg-native|pg-cloudflare)(\/|$)/;
/**
 * What packages load for other uses, by the file that loads it: knex its dialects by name, where the store passes it a class; and
 * iconv-lite, which decodes no request here (http/request.ts), its tables of East Asian characters.
 */
const NEVER_LOADED_BY = [
  [/\/knex\/lib\/dialects\/index\.js$/, /^\.\//],
  [/\/iconv-lite\/encodings\/dbcs-data\.js$/, /^\.\/tables\//],
];

/**
 * The table of media types and its reader, of which the packages around koa bring four copies in two versions: each takes a
 * tenth of the program, and time at every start.
 */
const ONE_COPY = ['mime-db', 'mime-types'];
/** Half of the table are types of vendors, which no answer here has. Types that a handler writes out need no entry. */
const mediaTypes = {
  name: 'media-types',
  transform: {
    filter: { id: /\/mime-db\/db\.json$/ },
    handler(source) {
      const entries = Object.entries(JSON.parse(source));
      return JSON.stringify(Object.fromEntries(entries.filter(([type]) => !type.includes('/vnd.'))));
    },
  },
};

/** Writes the file by which each thread starts, which loads the file with its code. */
const starters = {
  name: 'starters',
  generateBundle(_options, bundle) {
    this.emitFile({ type: 'asset', fileName: 'package.json', source: '{ "type": "commonjs" }\n' });
    for (const { isEntry, name, fileName } of Object.values(bundle)) {
      if (!isEntry) continue;
      const load = posix.relative(posix.dirname(`dist/program/${name}`), 'bin/load.js');
      this.emitFile({
        type: 'asset',
        fileName: `${name}.js`,
        source: `module.exports = require('${load}')('${fileName}');\n`,
      });
    }
  },
};

/** Each thread starts from a file of its own, which program.ts finds by its path below src. */
const THREADS = [
  'agents/confinement/thread',
  'proxy/worker/thread',
  'proxy/dns/thread',
  'proxy/tls/client-thread',
  'proxy/tls/tls-thread',
  'store/sqlite/thread',
];

/** @param names entries, by their paths below src */
const bundle = (names, output, plugins = [mediaTypes, starters]) => ({
  platform: 'node',
  logLevel: 'warn',
  input: Object.fromEntries(names.map((name) => [name, `src/${name}.ts`])),
  external: (name, file = '') =>
    OUTSIDE.test(name) ||
    NEVER_LOADED.test(name) ||
    NEVER_LOADED_BY.some(([loader, names]) => loader.test(file) && names.test(name)),
  resolve: { alias: Object.fromEntries(ONE_COPY.map((name) => [name, resolve('node_modules', name)])) },
  // The eval is in a package (depd) and not in our code.
  checks: { eval: false },
  plugins,
  output: {
    dir: 'dist/program',
    format: 'cjs',
    comments: { legal: true, jsdoc: false, annotation: false },
    entryFileNames: ({ name }) => `${name.replaceAll('/', '-')}-[hash].js`,
    chunkFileNames: '[name]-[hash].js',
    ...output,
  },
});

export default defineConfig([
  // While watching, the daemon restarts from these files as soon as one changes, so none may be missing for a moment.
  bundle(['cli'], { cleanDir: !process.argv.includes('--watch') }),
  // bin/start.js loads it by itself, and compiles its few lines.
  bundle(['cli/serve/parcel'], { cleanDir: false, entryFileNames: 'parcel.js' }, []),
  // Each by itself, so that a thread loads in one file what it needs, and nothing else.
  ...THREADS.map((name) => bundle([name], { cleanDir: false })),
]);
