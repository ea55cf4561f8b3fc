// `npm run package:deb [-- --out FOLDER --revision TEXT --tarball FILE]`: makes a Debian package that installs offline on Debian 12
// and 13. The files of `npm pack` and their dependencies go to /usr/lib/pulsegate. debhelper does the rest (etc/debian). The addons
// come from this machine's node_modules, so the package is for this architecture. The same commit makes the same bytes.
import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';

/** Dependencies that these packages need only during installation or build. */
const INSTALL_ONLY = {
  sqlite3: ['prebuild-install', 'tar', 'node-addon-api', 'node-gyp'],
  '@photostructure/sqlite': ['node-addon-api'],
};
/** Files of packages that no program loads. */
const UNUSED = [
  /^sqlite3\/(deps|src|node-addon-api|binding\.gyp)/,
  /^sqlite3\/build\/(?!Release$|Release\/node_sqlite3\.node$)/,
  /^@photostructure\/sqlite\/(src|scripts|binding\.gyp)/,
  new RegExp(`^@photostructure/sqlite/prebuilds/(?!${process.platform}-${process.arch}(/|$))`),
  /^@photostructure\/sqlite\/prebuilds\/.*\.musl\.node$/,
  /\/\.[^/]+$/,
  /^@koromix\/[^/]+\/musl_/,
  /^koffi\/(vendor|doc|cnoke\.cjs)/,
  /\.(html|map|d\.ts|d\.mts|d\.cts|markdown|yml|tsbuildinfo)$/,
  /^(@[^/]+\/)?[^/]+\/(test|tests|__tests__|benchmarks?|docs?|examples?)$/,
  /\/(CHANGELOG|HISTORY|History|SECURITY|CONTRIBUTING|README)(\.md)?$/i,
];

const { values: options } = parseArgs({
  options: {
    out: { type: 'string', default: 'dist/deb' },
    revision: { type: 'string', default: '' },
    tarball: { type: 'string' },
  },
});
for (const program of ['dpkg-buildpackage', 'dh', 'fakeroot'])
  if (!existsSync(join('/usr/bin', program)))
    fail(`${program} is missing: apt-get install dpkg-dev debhelper fakeroot`);

const folder = mkdtempSync(join(tmpdir(), 'pulsegate-deb-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const version = JSON.parse(readFileSync('package.json', 'utf8')).version + options.revision;
const epoch = process.env.SOURCE_DATE_EPOCH ?? run('git', ['log', '-1', '--format=%ct']).trim();

const source = join(folder, `pulsegate-${version}`);
const root = join(source, 'tree');
const program = join(root, 'usr/lib/pulsegate');
layOutProgram();
layOutSystem();
layOutDebian();
build();

/** Writes the files of `npm pack` and the packages that they need at run time. */
function layOutProgram() {
  const tarball = options.tarball ?? packed();
  mkdirSync(program, { recursive: true });
  run('tar', ['-xzf', tarball, '-C', program, '--strip-components=1']);
  for (const unused of [
    'systemd',
    'etc/man',
    'etc/debian',
    'test',
    '.github',
    'npm-shrinkwrap.json',
    'LICENSE',
  ])
    rmSync(join(program, unused), { recursive: true, force: true });
  for (const from of productionPackages()) {
    const name = relative('node_modules', from);
    cpSync(from, join(program, 'node_modules', name), {
      recursive: true,
      filter: (file) => {
        const path = relative('node_modules', file);
        return (
          !path.slice(name.length).includes('node_modules') && !UNUSED.some((pattern) => pattern.test(path))
        );
      },
    });
  }
}

/** Runs `npm pack` for this commit, and returns the path of the tarball. */
function packed() {
  const output = run('npm', ['pack', '--json', '--silent', '--pack-destination', folder]);
  return join(folder, JSON.parse(output.replace(/^[^[]*/s, ''))[0].filename);
}

/** Returns the folders of the packages needed at run time, by Node's rules of resolution. */
function productionPackages() {
  const found = new Set();
  const visit = (from, names) => {
    for (const name of names) {
      const at = ancestors(from)
        .map((each) => join(each, 'node_modules', name))
        .find((each) => existsSync(each));
      if (!at || found.has(at)) continue;
      found.add(at);
      const { dependencies = {}, optionalDependencies = {} } = JSON.parse(
        readFileSync(join(at, 'package.json'), 'utf8'),
      );
      visit(
        at,
        Object.keys({ ...dependencies, ...optionalDependencies }).filter(
          (each) => !INSTALL_ONLY[name]?.includes(each),
        ),
      );
    }
  };
  const { dependencies, optionalDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
  visit('.', Object.keys({ ...dependencies, ...optionalDependencies }));
  return found;
}

function ancestors(folder) {
  return folder === '.' ? ['.'] : [folder, ...ancestors(dirname(folder))];
}

/** Writes configuration, completions and documentation to the usual places of Debian. */
function layOutSystem() {
  write(
    'etc/pulsegate/pulsegate.yaml',
    replaced('etc/pulsegate.yaml', [[/^dataDir: \.\/data {12}/m, 'dataDir: /var/lib/pulsegate  ']]),
  );
  for (const [shell, file] of [
    ['bash', 'usr/share/bash-completion/completions/pulsegate'],
    ['zsh', 'usr/share/zsh/vendor-completions/_pulsegate'],
    ['fish', 'usr/share/fish/vendor_completions.d/pulsegate.fish'],
  ])
    write(file, run(process.execPath, ['bin/pulsegate.js', 'completion', shell]));
  for (const unit of ['pulsegate-agent-example.socket', 'pulsegate-agent-example@.service'])
    write(
      `usr/share/doc/pulsegate/examples/${unit}`,
      replaced(`systemd/${unit}`, [['file:///opt/pulsegate/systemd/README.md', 'man:pulsegate(1)']]),
    );
  mkdirSync(join(root, 'usr/bin'));
  symlinkSync('../lib/pulsegate/bin/pulsegate.js', join(root, 'usr/bin/pulsegate'));
}

function layOutDebian() {
  const debian = join(source, 'debian');
  cpSync('etc/debian', debian, { recursive: true });
  const license = readFileSync('LICENSE', 'utf8').split('\n\n').slice(2).join('\n\n').trim();
  writeFileSync(
    join(debian, 'copyright'),
    replaced('etc/debian/copyright', [
      ['@LICENSE@', license.replace(/^$/gm, '.').replace(/^/gm, ' ').trimStart()],
    ]),
  );
  writeFileSync(
    join(debian, 'changelog'),
    `pulsegate (${version}) unstable; urgency=medium\n\n  * Release ${version}: see CHANGELOG.md in this folder.\n\n` +
      ` -- The Pulsegate authors <pulsegate@localhost.localdomain>  ${new Date(epoch * 1000).toUTCString().replace('GMT', '+0000')}\n`,
  );
  // The package creates a permanent system user, so that commands of root and the service agree on the owner of files.
  writeFileSync(
    join(debian, 'pulsegate.service'),
    replaced('systemd/pulsegate.service', [
      ['file:///opt/pulsegate/README.md', 'man:pulsegate(1)'],
      [/\/usr\/bin\/env node \/opt\/pulsegate\/bin\/pulsegate\.js/g, '/usr/bin/pulsegate'],
      ['DynamicUser=yes\nUser=pulsegate\n', 'User=pulsegate\nGroup=pulsegate\n'],
    ]),
  );
  writeFileSync(
    join(debian, 'pulsegate.socket'),
    replaced('systemd/pulsegate.socket', [['file:///opt/pulsegate/README.md', 'man:pulsegate(1)']]),
  );
  cpSync('etc/man/pulsegate.1', join(source, 'pulsegate.1'));
  writeFileSync(join(debian, 'pulsegate.manpages'), 'pulsegate.1\n');
  writeFileSync(join(debian, 'pulsegate.install'), 'tree/usr /\ntree/etc /\n');
}

function build() {
  const env = { ...process.env, SOURCE_DATE_EPOCH: epoch, DEB_BUILD_OPTIONS: 'nocheck' };
  const built = spawnSync('dpkg-buildpackage', ['--build=binary', '--no-sign', '--no-check-builddeps'], {
    cwd: source,
    env,
    encoding: 'utf8',
  });
  if (built.status !== 0) fail(`${built.stdout}${built.stderr}`);
  mkdirSync(options.out, { recursive: true });
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.deb'))) {
    cpSync(join(folder, file), join(options.out, file));
    console.log(resolve(options.out, file));
  }
}

/** Returns the text of a file with each pattern replaced. Throws when a pattern does not match. */
function replaced(file, changes) {
  return changes.reduce(
    (text, [pattern, by]) => {
      const changed = text.replace(pattern, () => by);
      if (changed === text) fail(`${file} has no ${pattern}`);
      return changed;
    },
    readFileSync(file, 'utf8'),
  );
}

function write(path, text) {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

function run(command, args) {
  return execFileSync(command, args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 64 << 20,
  });
}

function fail(text) {
  console.error(text);
  process.exit(1);
}
