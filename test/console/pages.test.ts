// Every page in both languages and themes, wide and on a phone: no error, nothing cut off, nothing axe finds serious.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Browser } from 'playwright-core';
import {
  axeFindings,
  BUILT_CONSOLE,
  isCutOff,
  launchBrowser,
  noBrowser,
  openConsole,
  signIn,
} from '../helpers/console-browser.js';
import { type MockDaemon, startMockDaemon } from '../helpers/mock-api.js';

let browser: Browser;
let daemon: MockDaemon;
let accountId = '';
let runId = '';

before(async () => {
  if (noBrowser) return;
  daemon = await startMockDaemon({ accounts: 300, console: BUILT_CONSOLE });
  browser = await launchBrowser();
  ({ accountId, runId } = daemon.samples());
});
after(async () => {
  await browser?.close();
  await daemon?.close();
});

const pages = (): readonly string[] => [
  '/',
  '/accounts',
  `/accounts/${accountId}`,
  '/accounts?search=no+such+account',
  '/sessions',
  '/sessions/logins?failed=true',
  '/heartbeats?by=account',
  '/heartbeats?game=arena',
  '/agents',
  `/agents/runs/${runId}`,
  '/agents/sessions',
  '/agents/sessions/hook:daily',
  '/settings/whitelist',
  '/settings/admin',
  '/settings/games',
  '/settings/audit',
  '/settings/tokens',
  '/settings/retention',
  '/settings/effective',
  '/settings/api',
  '/accounts?new=one',
  '/accounts?new=many',
  '/accounts?new=import',
  '/accounts?new=export',
  '/accounts/00000000-0000-4000-8000-000000000000',
  '/no/such/page',
];

/** A folder to keep a picture of every page in, for people to look at. */
const SHOTS = process.env['SCREENSHOTS'];

function shotName(hash: string, look: (typeof LOOKS)[number]): string {
  const page = hash.replace(/[\da-f]{8}-[\da-f-]{27}/, 'one').replace(/\W+/g, '-');
  return `page${page}-${look.language}-${look.theme}-${look.width}.png`;
}

const LOOKS = [
  { language: 'zh-CN', theme: 'light', width: 1440 },
  { language: 'en', theme: 'dark', width: 1440 },
  { language: 'zh-CN', theme: 'dark', width: 390 },
  { language: 'en', theme: 'light', width: 390 },
] as const;

for (const look of LOOKS) {
  test(`every page in ${look.language}, ${look.theme}, ${look.width} wide`, {
    skip: noBrowser,
  }, async (t) => {
    const shown = await openConsole(t, browser, { url: daemon.url, ...look });
    const { page, errors, visit } = shown;
    await page.waitForSelector('.login');
    assert.deepEqual(await axeFindings(page), [], 'login');
    await signIn(shown, 'admin', 'secret');
    for (const hash of pages()) {
      await visit(hash);
      assert.deepEqual(await axeFindings(page), [], hash);
      if (SHOTS) await page.screenshot({ path: join(SHOTS, shotName(hash, look)) });
      assert.equal(await isCutOff(page), false, `${hash} is wider than the window`);
      if (await page.locator('dialog[open]').count()) await page.keyboard.press('Escape');
    }
    assert.deepEqual(errors, []);
  });
}
