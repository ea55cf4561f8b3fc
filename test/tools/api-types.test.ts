// The console's API types: what the type check of `npm run check` accepts is what the OpenAPI document says.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { PROJECT } from '../helpers/daemon.js';

/** Runs a program of the project. Resolves with what it printed, also when it failed. */
function run(...args: string[]): Promise<string> {
  return new Promise((resolve) =>
    execFile(process.execPath, args, { cwd: PROJECT }, (_error, out, err) => resolve(out + err)),
  );
}

test('a field, an operation or a parameter that the API lacks fails the type check of the console', async (t) => {
  const folder = await mkdtemp(join(PROJECT, 'dist/api-types-'));
  t.after(() => rm(folder, { recursive: true }));
  const make = () => run('test/tools/api-types.mjs', folder);
  assert.equal(await make(), '');
  await writeFile(
    join(folder, 'page.ts'),
    `import { type Account, OPERATIONS, type Operations } from './api-types.js';
     import type { Status } from './player/api-types.js';
     export const names = (account: Account, player: Status) => [account.username, player.username, OPERATIONS.listAccounts];
     export const unknownField = (account: Account) => account.nickname;
     export const unknownPlayerField = (player: Status) => player.passwordHash;
     export const unknownOperation = OPERATIONS.listEverything;
     export const query: Operations['listAccounts']['query'] = { search: 'a', colour: 'red' };\n`,
  );
  const tsc = join(PROJECT, 'node_modules/typescript7/bin/tsc');
  const flags = ['--ignoreConfig', '--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2022'];
  const found = await run(tsc, ...flags, '--types', '', join(folder, 'page.ts'));
  const errors = [...found.matchAll(/error TS\d+: .*?'(\w+)' does not exist/g)].map(([, name]) => name);
  assert.deepEqual(errors, ['nickname', 'passwordHash', 'listEverything', 'colour'], found);

  const file = join(folder, 'api-types.ts');
  const { ino } = await stat(file);
  await make();
  assert.equal(
    (await stat(file)).ino,
    ino,
    'an equal file stays, so that nothing that watches it builds again',
  );
});
