// Prepares `npm pack`: makes a build without the results of earlier ones in dist/, and writes the versions of all dependencies to
// npm-shrinkwrap.json, so that an installed package runs with the tested versions. dist/program/build.json says of which commit the
// package is. `--clean` removes both.
import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';

const SHRINKWRAP = 'npm-shrinkwrap.json';
const BUILD = 'dist/program/build.json';

if (process.argv.includes('--clean')) {
  rmSync(SHRINKWRAP, { force: true });
  rmSync(BUILD, { force: true });
} else {
  for (const name of ['program', 'console', 'player']) {
    rmSync(`dist/.built-${name}`, { force: true });
    rmSync(`dist/${name}`, { recursive: true, force: true });
  }
  execFileSync(process.execPath, ['test/tools/build.mjs', 'program', 'console', 'player'], {
    stdio: 'inherit',
  });
  const { packages, ...lock } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
  const needed = Object.entries(packages).filter(([, { dev }]) => !dev);
  const { devDependencies: _, ...root } = packages[''];
  writeFileSync(
    SHRINKWRAP,
    `${JSON.stringify({ ...lock, packages: { ...Object.fromEntries(needed), '': root } }, null, 2)}\n`,
  );
  writeBuild();
}

/** Writes nothing outside of a git checkout: then nobody knows the commit. */
function writeBuild() {
  const git = (...args) =>
    execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  try {
    if (git('rev-parse', '--show-prefix') !== '') return;
    const [commit, seconds] = git('log', '-1', '--format=%H %ct').split(' ');
    writeFileSync(BUILD, JSON.stringify({ commit, date: new Date(seconds * 1000).toISOString() }));
  } catch {
    // No git, or no checkout.
  }
}
