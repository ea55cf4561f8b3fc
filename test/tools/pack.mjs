// What `npm pack` needs besides the sources: a build without what earlier ones left in dist/, and the versions of every
// dependency as npm-shrinkwrap.json, so that an installed package runs what was tested. With `--clean` it is removed again.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const SHRINKWRAP = 'npm-shrinkwrap.json';

if (process.argv.includes('--clean')) {
  rmSync(SHRINKWRAP, { force: true });
} else {
  for (const name of existsSync('dist') ? readdirSync('dist') : [])
    if (name === 'src' || name === 'console' || name.startsWith('.built') || name === '.tsbuildinfo')
      rmSync(join('dist', name), { recursive: true });
  execFileSync(process.execPath, ['test/tools/build.mjs'], { stdio: 'inherit' });
  // The maps name sources that are not shipped.
  for (const file of readdirSync('dist/src', { recursive: true })) {
    if (!file.endsWith('.js')) continue;
    const path = join('dist/src', file);
    writeFileSync(path, readFileSync(path, 'utf8').replace(/^\/\/# sourceMappingURL=.*\n?/m, ''));
  }
  // Else the next build would take these files for its own.
  for (const name of ['.built-program', '.tsbuildinfo']) rmSync(join('dist', name), { force: true });
  const { packages, ...lock } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
  const needed = Object.entries(packages).filter(([, { dev }]) => !dev);
  const { devDependencies: _, ...root } = packages[''];
  writeFileSync(
    SHRINKWRAP,
    `${JSON.stringify({ ...lock, packages: { ...Object.fromEntries(needed), '': root } }, null, 2)}\n`,
  );
}
