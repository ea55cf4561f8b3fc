// Prepares `npm pack`: makes a build without the results of earlier ones in dist/, and writes the versions of all dependencies to
// npm-shrinkwrap.json, so that an installed package runs with the tested versions. `--clean` removes npm-shrinkwrap.json.
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
