// The recipes for a shop in etc/api.md: each program sells, renews, suspends, resumes and removes an account, as it is written there, and an
// order that is sent twice counts once.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { NO_PLAN_LIMITS } from '../../../src/core/accounts/plans/plans.js';
import { PROJECT, startTestDaemon, type TestDaemon } from '../../helpers/daemon.js';
import { eventually } from '../../helpers/eventually.js';
import { freePort, isListening } from '../../helpers/ports.js';
import { needs } from '../../helpers/programs.js';
import { suiteScope } from '../../helpers/suite.js';

const TIMEOUT_MS = 120_000;
const DAY_MS = 86_400_000;

interface Account {
  readonly id: string;
  readonly isEnabled: boolean;
  readonly expiresAt: string;
}

const modulePath = (path: string): string => join(PROJECT, 'node_modules', path);
const packageOf = (name: string) => ({
  name: `the package ${name} (npm ci)`,
  isThere: () => existsSync(modulePath(name)),
});

describe('recipes for a shop', () => {
  const t = suiteScope();
  let daemon: TestDaemon;
  let folder: string;
  let env: NodeJS.ProcessEnv;

  /** Runs a program in the folder of the shop; returns what it prints. */
  async function run(program: string, ...words: string[]): Promise<string> {
    const { stdout } = await promisify(execFile)(program, words, { cwd: folder, env, timeout: TIMEOUT_MS });
    return stdout;
  }

  /** Writes the program of the recipe `name`, the code below its first mention. */
  async function writeRecipe(name: string): Promise<string> {
    const text = await readFile(join(PROJECT, 'etc/api.md'), 'utf8');
    const [, code] = /```\w+\n(.*?)```/s.exec(text.slice(text.indexOf(`\`${name}\`:`))) ?? [];
    assert.ok(code, name);
    await writeFile(join(folder, name), code);
    return code;
  }

  before(async () => {
    // In the project, so that the programs find its packages.
    folder = await mkdtemp(join(PROJECT, 'dist/recipes-'));
    t.after(() => rm(folder, { recursive: true, force: true }));
    daemon = await startTestDaemon(t);
    const plan = { name: 'month', days: 30, startsAtFirstLogin: false, limits: NO_PLAN_LIMITS };
    assert.equal((await daemon.api('PUT', '/api/v1/settings/plans', { plans: [plan] })).status, 200);
    const document = await daemon.api('GET', '/api/v1/openapi.json');
    await writeFile(join(folder, 'openapi.json'), document.text);
    const scopes = ['accounts:read', 'accounts:write'];
    const { json } = await daemon.api('POST', '/api/v1/tokens', { name: 'shop', scopes });
    const { secret } = json as { secret: string };
    env = {
      ...process.env,
      PULSEGATE_URL: daemon.adminUrl,
      PULSEGATE_TOKEN: secret,
    };
  });

  test('a program takes events, with their signatures', async (t) => {
    await writeRecipe('receive.mjs');
    const port = await freePort();
    const added = await daemon.api('POST', '/api/v1/event-receivers', {
      url: `http://127.0.0.1:${port}/`,
      types: ['account.created'],
    });
    const { secret, id } = added.json as { secret: string; id: string };
    const child = spawn(process.execPath, ['receive.mjs'], {
      cwd: folder,
      env: { ...process.env, PORT: String(port), SECRET: secret },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    t.after(() => child.kill());
    await eventually(() => isListening(port));
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    assert.equal((await daemon.api('POST', '/api/v1/accounts', { username: 'heard' })).status, 201);
    assert.equal((await lines.next()).value, 'account.created heard');
    await daemon.api('DELETE', `/api/v1/event-receivers/${id}`);
  });

  async function sell(name: string, shop: (...words: string[]) => Promise<string>): Promise<void> {
    const read = async (id: string) => (await daemon.api('GET', `/api/v1/accounts/${id}`)).json as Account;
    const bought = await shop('buy', `order-${name}`, name, 'month');
    const { id, expiresAt } = (JSON.parse(bought) as { account: Account }).account;
    assert.deepEqual(JSON.parse(await shop('buy', `order-${name}`, name, 'month')), JSON.parse(bought));
    for (let times = 0; times < 2; times++) await shop('renew', `renewal-${name}`, id);
    assert.equal(Date.parse((await read(id)).expiresAt) - Date.parse(expiresAt), 30 * DAY_MS);
    await shop('suspend', `suspension-${name}`, id);
    assert.equal((await read(id)).isEnabled, false);
    await shop('resume', `resumption-${name}`, id);
    assert.equal((await read(id)).isEnabled, true);
    await shop('remove', id);
    assert.equal((await daemon.api('GET', `/api/v1/accounts/${id}`)).status, 404);
    // A refusal is an error of the program.
    await assert.rejects(shop('suspend', 'another-key', id), /404|Not Found|no such account/);
  }

  test('curl and jq', needs('curl', 'jq'), async () => {
    await writeRecipe('shop.sh');
    await sell('curl', (...words) => run('sh', 'shop.sh', ...words));
  });

  test('Python', needs('python3'), async () => {
    await writeRecipe('shop.py');
    await sell('python', (...words) => run('python3', 'shop.py', ...words));
  });

  const generator = needs(packageOf('openapi-typescript'), packageOf('openapi-fetch'));
  test('TypeScript, with types that openapi-typescript makes of the document', generator, async () => {
    const options = ['openapi.json', '--default-non-nullable', 'false', '-o', 'pulsegate.d.ts'];
    await run(process.execPath, modulePath('openapi-typescript/bin/cli.js'), ...options);
    await writeRecipe('shop.ts');
    const compilerOptions = {
      module: 'nodenext',
      target: 'es2023',
      types: ['node'],
      strict: true,
      skipLibCheck: true,
    };
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['shop.ts'] }));
    await run(process.execPath, modulePath('typescript7/bin/tsc'), '-p', 'tsconfig.json');
    await sell('typescript', (...words) => run(process.execPath, 'shop.js', ...words));
  });
});
