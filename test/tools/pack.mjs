// What `npm pack` needs besides the sources: a build without what earlier ones left in dist/, and the versions of every
// dependency as npm-shrinkwrap.json, so that an installed package runs what was tested. With `--clean` it is removed again.
import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';

const SHRINKWRAP = 'npm-shrinkwrap.json';

if (process.argv.includes('--clean')) {
  rmSync(SHRINKWRAP, { force: true });
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
}
