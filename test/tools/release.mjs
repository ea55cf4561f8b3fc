// `npm run release [-- --out FOLDER]`: makes the files of a release from the checked-out commit: tarball, Debian package, list of
// the packages inside (CycloneDX) and SHA256SUMS. `--twice` makes them in two clean clones and compares their bytes.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

const SUMS = 'SHA256SUMS';
const { values: options } = parseArgs({
  options: { out: { type: 'string', default: 'dist/release' }, twice: { type: 'boolean', default: false } },
});

if (run('.', 'git', 'status', '--porcelain') !== '')
  fail('there are changes that are not committed: a release is made of a commit');
run('.', process.execPath, 'test/tools/changelog.mjs');
if (options.twice) compare();
else build('.', resolve(options.out));

/** Makes the files from the checkout in `folder`, whose packages are installed. */
function build(folder, out) {
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  const packed = run(folder, 'npm', 'pack', '--json', '--silent', '--pack-destination', out);
  const [{ filename, version }] = JSON.parse(packed.replace(/^[^[]*/s, ''));
  run(folder, process.execPath, 'test/tools/package-deb.mjs', '--tarball', join(out, filename), '--out', out);
  writeFileSync(join(out, `pulsegate-${version}.cdx.json`), billOfMaterials(folder));
  const files = readdirSync(out)
    .filter((name) => /\.(tgz|deb|json)$/.test(name))
    .sort();
  const sums = files.map((name) => `${sha256(readFileSync(join(out, name)))}  ${name}\n`).join('');
  writeFileSync(join(out, SUMS), sums);
  process.stdout.write(`${out}\n${sums}`);
}

/**
 * Returns npm's list without the name of the folder, with the time of the commit, and with a serial number made from the contents.
 */
function billOfMaterials(folder) {
  const list = JSON.parse(
    run(folder, 'npm', 'sbom', '--package-lock-only', '--omit=dev', '--sbom-format=cyclonedx'),
  );
  list.metadata.component.name = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).name;
  list.metadata.timestamp = new Date(
    Number(run(folder, 'git', 'log', '-1', '--format=%ct')) * 1000,
  ).toISOString();
  list.serialNumber = '';
  const digest = sha256(JSON.stringify(list));
  // RFC 9562 §5.8: the bits of a UUID of version 8 have no fixed meaning.
  const parts = [
    digest.slice(0, 8),
    digest.slice(8, 12),
    `8${digest.slice(13, 16)}`,
    `8${digest.slice(17, 20)}`,
  ];
  list.serialNumber = `urn:uuid:${parts.join('-')}-${digest.slice(20, 32)}`;
  return `${JSON.stringify(list, null, 2)}\n`;
}

function compare() {
  const folder = mkdtempSync(join(tmpdir(), 'pulsegate-release-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  const [first, second] = ['first', 'second'].map((name) => {
    const clone = join(folder, name);
    run('.', 'git', 'clone', '--quiet', '.', clone);
    run(clone, 'npm', 'ci', '--silent');
    const out = join(folder, `${name}-out`);
    build(clone, out);
    return readFileSync(join(out, SUMS), 'utf8');
  });
  if (first !== second) fail('two builds of one commit differ');
  process.stdout.write('Two builds of this commit are equal.\n');
}

function run(cwd, program, ...args) {
  return execFileSync(program, args, {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 2 ** 26,
  });
}

function sha256(content) {
  return createHash('sha256').update(content).digest('hex');
}

function fail(reason) {
  process.stderr.write(`release: ${reason}\n`);
  process.exit(1);
}
