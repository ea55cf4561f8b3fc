// Every page, on a phone and wide, in both languages and themes: no error, nothing cut off, nothing axe finds serious, and
// nothing of what players choose becomes markup.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { axeFindings, isCutOff } from '../helpers/console-browser.js';
import { PAYLOADS, type World } from '../helpers/console-world.js';

const pages = ({ accountId, runId }: World): readonly string[] => [
  '/',
  '/accounts?search=player00',
  `/accounts/${accountId}`,
  '/accounts?search=no+such+account',
  '/sessions',
  '/sessions/logins',
  '/heartbeats?by=account',
  '/heartbeats?game=arena1',
  '/agents',
  `/agents/runs/${runId}`,
  '/agents/sessions',
  '/settings/whitelist',
  '/settings/address',
  '/settings/plans',
  '/settings/admin',
  '/settings/operators',
  '/settings/games',
  '/settings/notices',
  '/settings/reminders',
  '/settings/nodes',
  '/settings/audit',
  '/settings/log',
  '/settings/tokens',
  '/settings/retention',
  '/settings/effective',
  '/settings/api',
  '/accounts?new=one&search=player000',
  '/accounts?new=many&search=player000',
  '/accounts?new=import&search=player000',
  '/accounts?new=export&search=player000',
  '/accounts/00000000-0000-4000-8000-000000000000',
  '/no/such/page',
];

/** A folder to keep a picture of every page in, for people to look at. */
const SHOTS = process.env['SCREENSHOTS'];

type Look = (typeof LOOKS)[number];
const LOOKS = [
  { language: 'zh-CN', theme: 'dark', width: 390 },
  { language: 'en', theme: 'light', width: 1440 },
  ...(SHOTS
    ? ([
        { language: 'en', theme: 'light', width: 390 },
        { language: 'zh-CN', theme: 'light', width: 1280 },
        { language: 'zh-CN', theme: 'dark', width: 1440 },
      ] as const)
    : []),
] as const;

function shotName(hash: string, look: Look): string {
  const page = hash.replace(/[\da-f]{8}-[\da-f-]{27}/, 'one').replace(/\W+/g, '-');
  return `page${page}-${look.language}-${look.theme}-${look.width}.png`;
}

/** What stands in the page that only markup of others could have put there. */
const FOREIGN = `[
  ...(window.harmed ? ['a script ran'] : []),
  ...[...document.querySelectorAll('#app script, #app iframe, #app object, #app embed, #app base, #app meta, #app style, #app link, #app video, #app math')].map((e) => e.outerHTML),
  ...[...document.querySelectorAll('#app *')].flatMap((e) => [...e.attributes].filter((a) => /^on/i.test(a.name) || /^\\s*javascript:/i.test(a.value) && a.name === 'href').map((a) => a.name + '=' + a.value)),
]`;

/** Tables that need scrolling sideways, and on a wide window tabs that do. */
const CUT_OFF = `[...document.querySelectorAll(innerWidth < 720 ? '.table-room' : '.table-room, .tabs')]
  .filter((e) => e.scrollWidth > e.clientWidth + 1)
  .map((e) => e.outerHTML.slice(0, 200))`;

export function pageTests(getWorld: () => World): void {
  test('every page, in both languages and themes, wide and on a phone', async (t) => {
    const world = getWorld();
    const cutOff: string[] = [];
    await Promise.all(
      LOOKS.map(async (look, nth) => {
        const { page, errors, visit } = await world.open(t, look);
        for (const [i, hash] of pages(world).entries()) {
          const where = `${hash} in ${look.language}, ${look.width} wide`;
          await visit(hash);
          // axe takes longer than all else: without pictures, which CI takes, it sees each page in one of the looks.
          if (SHOTS || i % LOOKS.length === nth) assert.deepEqual(await axeFindings(page), [], where);
          assert.deepEqual(await page.evaluate(FOREIGN), [], where);
          if (SHOTS) await page.screenshot({ path: join(SHOTS, shotName(hash, look)) });
          assert.equal(await isCutOff(page), false, `${where}: wider than the window`);
          cutOff.push(...(await page.evaluate<string[]>(CUT_OFF)).map((part) => `${where}: ${part}`));
          if (await page.locator('dialog[open]').count()) await page.keyboard.press('Escape');
        }
        assert.deepEqual(errors, []);
      }),
    );
    assert.deepEqual(cutOff, []);
  });

  test(`${PAYLOADS.length} names that try to be markup are shown as they are`, async (t) => {
    const { page, visit, errors } = await getWorld().open(t, { width: 1920, height: 3_000 });
    const names = new Set<string>();
    for (const sort of ['username', '-username']) {
      await visit(`/accounts?sort=${sort}`);
      await page.waitForSelector('table:not(.pending)');
      for (const each of await page.locator('td[data-column=username]').allTextContents()) names.add(each);
    }
    for (const payload of PAYLOADS) assert.ok(names.has(payload), `not shown as text: ${payload}`);
    for (const hash of ['/', '/sessions', '/heartbeats', '/agents', '/agents/sessions', '/settings/audit']) {
      await visit(hash);
      assert.deepEqual(await page.evaluate(FOREIGN), [], hash);
    }
    assert.deepEqual(errors, []);
  });
}
