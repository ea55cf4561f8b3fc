// The console on a separate daemon: the first day of an operator, and changes of the sign-in.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { runCommand } from '../helpers/command.js';
import { fetchFrom } from '../helpers/console.js';
import {
  type ConsolePage,
  chooseBulkAction,
  launchBrowser,
  noBrowser,
  openConsole,
  signIn,
} from '../helpers/console-browser.js';
import { ADMIN, copyProgram, plainEnvironment, startTestDaemon, type TestDaemon } from '../helpers/daemon.js';
import { eventually } from '../helpers/eventually.js';
import { findProgram } from '../helpers/programs.js';
import { connectThrough } from '../helpers/socks-client.js';
import { suiteScope } from '../helpers/suite.js';
import { echo, startTarget } from '../helpers/targets.js';
import { fromBase32, totpCodes } from '../helpers/totp.js';

const skip = { skip: noBrowser };
const run = promisify(execFile);
const CONFIG = { heartbeats: { games: [{ gameId: 'GAME=([^;]+);' }] } };

/** Creates an account in the console and returns the shown password. */
async function createAccount({ page, visit }: ConsolePage, username: string): Promise<string> {
  await visit('/accounts?new=one');
  await page.fill('dialog input >> nth=0', username);
  await page.keyboard.press('Enter');
  await page.waitForSelector('dialog .qr');
  const password = (await page.textContent('[data-password]')) ?? '';
  await page.click('dialog footer button');
  return password;
}

describe('the console of a new daemon', () => {
  // One daemon, without accounts at first, and one window that is signed in.
  const scope = suiteScope();
  let daemon: TestDaemon;
  let shown: ConsolePage;
  /** The folder with the files of the daemon, which a test changes. */
  let program: string;
  before(async () => {
    if (noBrowser) return;
    program = await copyProgram(scope);
    // A package that is 210 days old.
    const build = { commit: '0123456789abcdef', date: new Date(Date.now() - 210 * 86_400_000).toISOString() };
    await writeFile(join(program, 'dist/program/build.json'), JSON.stringify(build));
    const [browser, started] = await Promise.all([
      launchBrowser(),
      startTestDaemon(scope, { config: CONFIG, program }),
    ]);
    scope.after(() => browser.close());
    daemon = started;
    shown = await openConsole(scope, browser, { url: daemon.adminUrl });
    await signIn(shown, ADMIN.username, ADMIN.password);
  });

  it(
    'an operator creates an account, sees and ends its session, extends it, and is locked out by the whitelist',
    skip,
    async (t) => {
      const { page, visit, errors } = shown;
      await page.waitForSelector('text=Three steps to begin');
      const password = await createAccount(shown, 'player01');
      const account = { port: daemon.socks.port, username: 'player01', password };

      const web = createServer((_, response) => response.end('hello'));
      web.listen(0, '127.0.0.1');
      await once(web, 'listening');
      t.after(() => web.close());
      const webPort = (web.address() as { port: number }).port;
      if (findProgram('curl')) {
        const proxy = `socks5h://player01:${encodeURIComponent(password)}@127.0.0.1:${daemon.socks.port}`;
        const { stdout } = await run('curl', [
          '-s',
          '-x',
          proxy,
          '--noproxy',
          '',
          `http://127.0.0.1:${webPort}/`,
        ]);
        assert.equal(stdout, 'hello');
      }

      const target = await startTarget(t, echo);
      const client = await connectThrough(account, '127.0.0.1', target.port);
      client.send('GAME=arena7;');
      await visit('/accounts');
      await page.waitForSelector('tbody .state.good >> text=Online', { timeout: 30_000 });
      await visit('/sessions');
      await page.waitForSelector(`tbody >> text=127.0.0.1:${target.port}`);
      await page.waitForSelector('tbody >> text=arena7', { timeout: 30_000 });
      const closed = client.closed();
      await page.click('tbody >> text=End');
      await page.click('dialog button[type=submit]');
      await closed;
      await page.waitForSelector('text=Nobody is online');

      await visit('/accounts');
      await page.check('thead input[type=checkbox]');
      await chooseBulkAction(page, 'Extend');
      await page.click('dialog .segments >> text=Now');
      await page.waitForSelector('dialog .preview >> text=1 account will change');
      await page.click('dialog button[type=submit]');
      await page.waitForSelector('.toast >> text=Extend: 1 done');
      const expiresAt = String((await daemon.account('player01'))['ExpiresAt']);
      const days = (Date.parse(`${expiresAt}Z`) - Date.now()) / 86_400_000;
      assert.ok(days > 29.9 && days < 30.1, expiresAt);

      await visit('/audit');
      await page.waitForSelector('.audit >> text=player01');

      await visit('/settings/whitelist');
      await page.fill('textarea', '10.0.0.0/8');
      await page.waitForSelector('form.card .state.bad');
      // "Save anyway" over the list of another operator asks too, and its answer replaces that list.
      await daemon.api('PUT', '/api/v1/settings/whitelist', { whitelist: '127.0.0.0/8' });
      await page.click('form.card button[type=submit]');
      await page.click('form.card button[type=submit] >> text=Save anyway');
      await page.fill('dialog input', '127.0.0.1');
      await page.click('dialog button[type=submit]');
      await page.waitForSelector('dialog', { state: 'detached' });
      assert.equal((await daemon.api('GET', '/api/v1/me')).status, 403);
      const restored = await runCommand(daemon.dataDir, [
        'whitelist',
        'set',
        '',
        '--config',
        daemon.configFile,
      ]);
      assert.equal(restored.code, 0, restored.stderr);
      await eventually(async () => assert.notEqual((await daemon.api('GET', '/api/v1/me')).status, 403));
      await page.reload();
      await page.waitForSelector('.rail');
      assert.deepEqual(errors, []);
    },
  );

  it(
    'the console and doctor show the running version, its age, and a newer installed version',
    skip,
    async () => {
      const { page, visit, errors } = shown;
      const packageFile = join(program, 'package.json');
      const oldPackage = await readFile(packageFile, 'utf8');
      const { version } = JSON.parse(oldPackage) as { version: string };
      const doctor = async () => {
        const command = [
          join(program, 'bin/pulsegate.js'),
          'doctor',
          '--json',
          '--config',
          daemon.configFile,
        ];
        const { stdout } = await run(process.execPath, command, { env: plainEnvironment() });
        const { findings } = JSON.parse(stdout) as { findings: { check: string; text: string }[] };
        return findings.find(({ check }) => check === 'version')?.text;
      };
      await visit('/settings/effective');
      await page.waitForSelector('text=built from commit 0123456789ab');
      await page.waitForSelector('text=210 days ago');
      await page.waitForSelector('.notice >> text=This release is old');
      assert.match((await doctor()) ?? '', /commit 0123456789ab, 210 days old: look for a newer release$/);
      await writeFile(packageFile, JSON.stringify({ ...JSON.parse(oldPackage), version: '99.1.0' }));
      await page.reload();
      await page.waitForSelector(`.notice >> text=99.1.0 is installed, but ${version} is running`);
      assert.equal(await page.locator('text=This release is old').count(), 0);
      assert.equal(await doctor(), `99.1.0 is installed, ${version} is running: restart the daemon`);
      await writeFile(packageFile, oldPackage);
      assert.deepEqual(errors, []);
    },
  );

  it(
    'an operator tests and saves game rules, changes the retention, enables a second factor and changes the password',
    skip,
    async () => {
      const { page, visit, errors } = shown;
      await visit('/settings/games');
      await page.click('text=Add a rule');
      const added = page.locator('section[aria-label="Rule 2"]');
      await added.locator('input').nth(0).fill('arena');
      await added.locator('input').nth(1).fill('*.arena.example');
      await added.locator('input').nth(1).blur();
      await page.click('form.card button[type=submit]');
      await page.waitForSelector('text=Rule 2 matches: arena');
      await page.click('.columns > section >> text=Save');
      await page.waitForSelector('text=Changed in the console');
      const rules = (await daemon.api('GET', '/api/v1/settings/games')).json as { rules: unknown[] };
      assert.deepEqual(rules.rules[1], { id: 'arena', match: { hosts: ['*.arena.example'] } });

      await visit('/settings/retention');
      await page.fill('form input >> nth=0', '7');
      await page.click('form.card button[type=submit]');
      // The page may still show the message about the rules, so ask the daemon.
      await eventually(async () => {
        const retention = (await daemon.api('GET', '/api/v1/settings/retention')).json;
        assert.equal((retention as { heartbeatDays: number }).heartbeatDays, 7);
      });
      // A page with unsaved input asks before it closes, so wait until it knows that the input is saved.
      await page.waitForSelector('form.card .row button >> nth=1', { state: 'detached' });

      await visit('/settings/admin');
      await page.click('text=Turn on');
      await page.waitForSelector('dialog >> text=Turn on the second factor');
      const secret = (await page.textContent('dialog code')) ?? '';
      const code = totpCodes(fromBase32(secret));
      await page.fill('dialog input', code(0));
      await page.keyboard.press('Enter');
      await page.waitForSelector('dialog .recovery-codes');
      const codes = await page.locator('.recovery-codes code').allTextContents();
      assert.equal(new Set(codes).size, 10);
      await page.click('dialog footer button');
      await page.waitForSelector('text=10 recovery codes are left');
      await page.waitForSelector('text=Turn off');
      await page.fill('input[autocomplete=current-password]', ADMIN.password);
      for (const field of await page.locator('input[autocomplete=new-password]').all())
        await field.fill('another-password');
      await page.click('text=Change password >> nth=-1');
      await page.waitForSelector('.toast >> text=The password was changed');
      await page.click('[aria-label="Sign out"]');
      await page.fill('input[autocomplete=username]', ADMIN.username);
      await page.fill('input[autocomplete=current-password]', 'another-password');
      await page.keyboard.press('Enter');
      // A code is valid once, so use the next one.
      await page.fill('input[autocomplete=one-time-code]', code(1));
      await page.keyboard.press('Enter');
      await page.waitForSelector('.rail');
      // Each recovery code is valid once, in upper or lower case.
      const session = { username: ADMIN.username, password: 'another-password' };
      const signInWith = (code = '') =>
        fetchFrom(daemon, 'POST', '/api/v1/session', {}, { ...session, code: code.toUpperCase() });
      assert.equal((await signInWith(codes[0])).status, 200);
      assert.equal((await signInWith(codes[0])).status, 401);
      await visit('/settings/admin');
      await page.reload();
      await page.waitForSelector('text=9 recovery codes are left');
      await page.click('text=Make new recovery codes');
      await page.fill('dialog input', codes[1] ?? '');
      await page.keyboard.press('Enter');
      await page.waitForSelector('dialog .recovery-codes');
      const renewed = await page.locator('.recovery-codes code').allTextContents();
      await page.click('dialog footer button');
      await page.waitForSelector('text=10 recovery codes are left');
      await page.click('text=Turn off');
      await page.fill('dialog input', renewed[0] ?? '');
      await page.keyboard.press('Enter');
      await page.waitForSelector('text=Turn on');
      assert.deepEqual(errors, []);
    },
  );
});
