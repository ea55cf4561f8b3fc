// Every page, on a phone and a wide window, in both languages and themes: no error, nothing cut off, no serious finding of axe, and
// no text of players that becomes markup.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { axeFindings, isCutOff } from '../helpers/console-browser.js';
import { PAYLOADS, type World } from '../helpers/console-world.js';
import type { Scope } from '../helpers/suite.js';

const pages = ({ accountId, runId }: World): readonly string[] => [
  '/',
  '/accounts?search=player00',
  `/accounts/${accountId}`,
  '/accounts?search=no+such+account',
  '/sessions',
  '/sessions/logins',
  '/sessions/trace?destination=127.0.0.0%2F8&time=2031-01-01+00%3A00%3A00&zone=%2B00%3A00&tolerance=12h',
  '/heartbeats?by=account',
  '/heartbeats?game=arena1',
  '/traffic',
  '/traffic?by=game',
  '/traffic?from=2020-01-01&until=2020-01-01',
  '/agents',
  `/agents/runs/${runId}`,
  '/agents/sessions',
  '/settings/whitelist',
  '/settings/address',
  '/plans',
  '/settings/admin',
  '/operators',
  '/settings/exits',
  '/settings/games',
  '/settings/pac',
  '/notices',
  '/notices/settings',
  '/events',
  '/settings/nodes',
  '/audit',
  '/settings/log',
  '/settings/tokens',
  '/settings/retention',
  '/settings/backup',
  '/settings',
  '/settings/effective',
  '/settings/api',
  '/accounts?new=one&search=player000',
  '/accounts?new=many&search=player000',
  '/accounts?new=import&search=player000',
  '/accounts?new=export&search=player000',
  '/accounts/00000000-0000-4000-8000-000000000000',
  '/no/such/page',
];

export interface Look {
  readonly language: 'zh-CN' | 'en';
  readonly theme: 'light' | 'dark';
  readonly width: number;
}

const LOOKS: readonly Look[] = [
  { language: 'zh-CN', theme: 'dark', width: 390 },
  { language: 'en', theme: 'light', width: 1440 },
];

/** axe checks every fourth page in each look. */
const AXE_EVERY = 4;

/** A script that returns the elements and attributes that only markup of players could have added. */
const FOREIGN = `[
  ...(window.harmed ? ['a script ran'] : []),
  ...[...document.querySelectorAll('#app script, #app iframe, #app object, #app embed, #app base, #app meta, #app style, #app link, #app video, #app math')].map((e) => e.outerHTML),
  ...[...document.querySelectorAll('#app *')].flatMap((e) => [...e.attributes].filter((a) => /^on/i.test(a.name) || /^\\s*javascript:/i.test(a.value) && a.name === 'href').map((a) => a.name + '=' + a.value)),
]`;

/** A script that returns the tables that need horizontal scrolling, and on a wide window such tabs. */
const CUT_OFF = `[...document.querySelectorAll(innerWidth < 720 ? '.table-box' : '.table-box, .tabs')]
  .filter((e) => e.scrollWidth > e.clientWidth + 1)
  .map((e) => e.outerHTML.slice(0, 200))`;

/** A script that returns the interface's own Chinese texts with half-width punctuation. Texts of players and operators are left out. */
const HALF_WIDTH = `document.documentElement.lang !== 'zh-CN' ? [] : [...document.querySelectorAll('main h2, label, legend, th, dt, .chip, .checks li, .field small')]
  .map((e) => e.textContent)
  .filter((text) => /[\\u4e00-\\u9fff] ?[,:;?!()]|[,:;?!()] ?[\\u4e00-\\u9fff]/.test(text))`;

export interface Walk {
  readonly looks: readonly Look[];
  /** Whether axe, the slowest check, runs on this page in this look. */
  readonly axe: (page: number, look: number) => boolean;
  /** Called for each page that passed the checks. */
  readonly onPage?: (page: Page, hash: string, look: Look) => Promise<unknown>;
}

/** Opens every page in each of these looks, with one window per look. */
export async function walkPages(t: Scope, world: World, { looks, axe, onPage }: Walk): Promise<void> {
  const cutOff: string[] = [];
  await Promise.all(
    looks.map(async (look, nth) => {
      const { page, errors, visit } = await world.open(t, look);
      for (const [i, hash] of pages(world).entries()) {
        const where = `${hash} in ${look.language}, ${look.width} wide`;
        await visit(hash);
        if (axe(i, nth)) assert.deepEqual(await axeFindings(page), [], where);
        assert.deepEqual(await page.evaluate(FOREIGN), [], where);
        assert.deepEqual(await page.evaluate(HALF_WIDTH), [], `${where}: half-width punctuation`);
        assert.equal(await isCutOff(page), false, `${where}: wider than the window`);
        cutOff.push(...(await page.evaluate<string[]>(CUT_OFF)).map((part) => `${where}: ${part}`));
        await onPage?.(page, hash, look);
        if (await page.locator('dialog[open]').count()) await page.keyboard.press('Escape');
      }
      assert.deepEqual(errors, []);
    }),
  );
  assert.deepEqual(cutOff, []);
}

export function pageTests(getWorld: () => World): void {
  test('every page has no error and nothing cut off, in both languages and themes, wide and on a phone', async (t) => {
    // Each page with axe in each look: `npm run pages`.
    await walkPages(t, getWorld(), { looks: LOOKS, axe: (page, look) => page % AXE_EVERY === look });
  });

  test(`${PAYLOADS.length} names with markup are shown as text`, async (t) => {
    const { page, visit, errors } = await getWorld().open(t, { width: 1920, height: 3_000 });
    const names = new Set<string>();
    for (const sort of ['username', '-username']) {
      await visit(`/accounts?sort=${sort}`);
      await page.waitForSelector('table:not(.pending)');
      for (const each of await page.locator('td[data-column=username]').allTextContents()) names.add(each);
    }
    for (const payload of PAYLOADS) assert.ok(names.has(payload), `not shown as text: ${payload}`);
    for (const hash of ['/', '/sessions', '/heartbeats', '/agents', '/agents/sessions', '/audit']) {
      await visit(hash);
      assert.deepEqual(await page.evaluate(FOREIGN), [], hash);
    }
    assert.deepEqual(errors, []);
  });
}
