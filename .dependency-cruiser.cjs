// The layering of src/README.md, held by `npm run check`. Every rule says why it exists.
const adapters = ['store', 'proxy', 'http', 'agents'];

/** What serves every feature of core/, with the files in core/ itself. */
const basics = ['addresses', 'time'];

/** The features of core/ in the order in which they build on one another: none imports a later one. */
const features = [
  ...basics,
  'audit',
  'settings',
  'nodes',
  'sessions',
  'trace',
  'egress',
  'exits',
  'accounts',
  'heartbeats',
  'agents',
  'auth',
  'stats',
  'notices',
];

/** One package, one owner: the rest of the code asks that folder for what the package does. */
const onlyUser = (name, packages, owner, why) => ({
  name,
  severity: 'error',
  comment: why,
  from: { path: '^src/', pathNot: owner },
  to: { path: `node_modules/(${packages})(/|$)` },
});

module.exports = {
  forbidden: [
    {
      name: 'core-is-rules-only',
      severity: 'error',
      comment:
        'core/ holds rules that can be read and tested without any I/O: it may import itself, node:crypto and node:net helpers, nothing else.',
      from: { path: '^src/core/' },
      to: { pathNot: '^src/core/|^(node:)?(crypto|net)$' },
    },
    {
      name: 'core-basics-know-no-feature',
      severity: 'error',
      comment: 'Addresses, times, errors and texts serve every feature and know none.',
      from: { path: `^src/core/([^/]+\\.ts|(${basics.join('|')})/)` },
      to: { path: '^src/core/[^/]+/', pathNot: `^src/core/(${basics.join('|')})/` },
    },
    {
      name: 'core-features-are-listed',
      severity: 'error',
      comment: 'A new feature takes its place in the order at the head of this file.',
      from: { path: '^src/core/[^/]+/', pathNot: `^src/core/(${features.join('|')})/` },
      to: {},
    },
    ...features.slice(0, -1).map((feature, i) => ({
      name: `${feature}-knows-earlier-features-only`,
      severity: 'error',
      comment: `The features of core/ read from bottom to top: ${features.join(', ')}.`,
      from: { path: `^src/core/${feature}/` },
      to: { path: `^src/core/(${features.slice(i + 1).join('|')})/` },
    })),
    ...adapters.map((folder) => ({
      name: `${folder}-knows-core-only`,
      severity: 'error',
      comment: `Adapters never meet: parts/ hands ${folder}/ what it needs, so that any one of them can be replaced or tested alone.`,
      from: { path: `^src/${folder}/` },
      // Game patterns, templates of messages and addresses' countries are read by packages, and where the program is installed is read from the file system: core/ may use neither. Of the configuration they know the types of its values.
      to: {
        path: '^src/',
        // Files of accounts are texts: http/ reads and writes them as the command line does.
        pathNot: `^src/(core|${folder}${folder === 'http' ? '|account-files' : ''})/|^src/(config|games-pattern|geo|message-template|program)\\.ts$`,
      },
    })),
    {
      name: 'configuration-is-given',
      severity: 'error',
      comment:
        'The schema says the form of each setting once; parts/ hands an adapter the values that it needs.',
      from: { path: `^src/(${adapters.join('|')})/` },
      to: { path: '^src/config\\.ts$', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'nobody-imports-the-parts',
      severity: 'error',
      comment:
        'daemon.ts and the command line join the parts; a folder that imports them would know every other.',
      from: { path: '^src/(account-files|core|store|proxy|http|agents|console|config)' },
      to: { path: '^src/(daemon|cli|cli/.*|parts/.*)\\.ts$' },
    },
    onlyUser(
      'socksv5-is-fenced',
      'socksv5',
      '^src/proxy/protocols/socksv5\\.ts$',
      'socksv5 0.0.6 has known defects: one file imports it and works around each, with a test.',
    ),
    onlyUser(
      'koffi-is-fenced',
      'koffi',
      '^src/(proxy/io/native/libc|agents/confinement/system)\\.ts$',
      'Every direct system call stands in one file, with its contract: those of players, and those that confine agents.',
    ),
    {
      name: 'protocols-know-no-sockets',
      severity: 'error',
      comment:
        'Protocols are bytes in, messages out: they know no engine, no clock and no log, so that tables of bytes test them.',
      from: { path: '^src/proxy/protocols/' },
      to: {
        path: '^src/|^node:',
        pathNot: '^src/(core|proxy/protocols)/|^node:module$',
      },
    },
    onlyUser(
      'knex-in-store',
      'knex|sqlite3|@photostructure|better-sqlite3|pg',
      '^src/store/',
      'No SQL outside store/, so that another database is one folder of work.',
    ),
    onlyUser(
      'koa-in-http',
      'koa|@koa|koa-bodyparser|koa-compress',
      '^src/http/',
      'HTTP is shaped in one place.',
    ),
    onlyUser(
      'mmdb-in-geo',
      'mmdb-lib',
      '^src/geo\\.ts$',
      'Files of countries and networks are read in one place.',
    ),
    onlyUser('p-queue-in-agents', 'p-queue', '^src/agents/', 'Runs are queued in one place.'),
    onlyUser('commander-in-cli', 'commander', '^src/cli', 'The command line is parsed in one place.'),
    {
      name: 'no-circular',
      severity: 'error',
      comment: 'A circle has no top to read from.',
      from: { path: '^src/' },
      to: { circular: true },
    },
    {
      name: 'no-orphans',
      severity: 'error',
      comment: 'Code that nothing reaches is dead.',
      from: { orphan: true, path: '^src/', pathNot: '\\.d\\.ts$' },
      to: {},
    },
    {
      name: 'not-to-unresolvable',
      severity: 'error',
      comment: 'Every import must exist.',
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: 'no-dev-dep',
      severity: 'error',
      comment: 'The daemon runs from production dependencies.',
      from: { path: '^src/', pathNot: '^src/console/' },
      to: { dependencyTypes: ['npm-dev'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^src/console/' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
    },
  },
};
