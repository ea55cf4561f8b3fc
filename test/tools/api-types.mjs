// `npm run build:api-types [-- FOLDER]`: writes the types of the API for the console, which git ignores: src/console/api-types.ts from
// the OpenAPI document and src/console/player/api-types.ts from the schema of the players' page. `npm run check` and every build of
// the console run it. Bundles the sources first, because they are TypeScript. Leaves a file that is up to date untouched.
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { build } from 'rolldown';

const folder = process.argv[2] ?? 'src/console';
/** `npm test` builds and checks at the same time, so no process may see the half of another's file. */
const own = `.${process.pid}`;
const program = resolve(`dist/api-types${own}.mjs`);

await build({
  input: 'test/tools/api-types.ts',
  platform: 'node',
  external: (name) => !/^[./]/.test(name),
  output: { file: program },
  logLevel: 'warn',
});
try {
  const { consoleApiTypes, playerApiTypes } = await import(program);
  write(join(folder, 'api-types.ts'), consoleApiTypes());
  write(join(folder, 'player/api-types.ts'), playerApiTypes());
} finally {
  rmSync(program);
}

function write(file, text) {
  if (existsSync(file) && readFileSync(file, 'utf8') === text) return;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file + own, text);
  renameSync(file + own, file);
}
