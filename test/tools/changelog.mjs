// `npm version` runs this before the commit. The newest version in CHANGELOG.md must equal that of package.json, and have a date
// and a text.
import { readFileSync } from 'node:fs';

const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
const [, newest = ''] = readFileSync('CHANGELOG.md', 'utf8').split(/^## /m);
const [heading = '', ...lines] = newest.split('\n');

if (!new RegExp(`^${version.replaceAll('.', '\\.')} - \\d{4}-\\d{2}-\\d{2}$`).test(heading))
  fail(`expected the newest heading "## ${version} - YYYY-MM-DD", found "## ${heading}"`);
if (!lines.some((line) => line.startsWith('- '))) fail(`version ${version} lists no change`);

function fail(reason) {
  process.stderr.write(`CHANGELOG.md: ${reason}\n`);
  process.exit(1);
}
