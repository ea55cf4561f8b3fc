// Tables: flexible columns stay readable, columns can be chosen, and cut-off cells have a hover text.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NO_PLAN_LIMITS } from '../../src/core/accounts/plans.js';
import { isCutOff, settled } from '../helpers/console-browser.js';
import { name, PASSWORD, type World } from '../helpers/console-world.js';

export function tableTests(getWorld: () => World): void {
  test('remarks and destinations have at least 160 px at every width that shows them', async (t) => {
    const { page, visit } = await getWorld().open(t);
    for (const width of [1000, 1100, 1280, 1366, 1440]) {
      await page.setViewportSize({ width, height: 800 });
      for (const [hash, key] of [
        ['/accounts', 'remarks'],
        ['/accounts', 'username'],
        ['/sessions', 'destination'],
        ['/sessions/logins', 'username'],
      ] as const) {
        await visit(hash);
        const box = await page.locator(`th[data-column=${key}]`).boundingBox();
        assert.ok((box?.width ?? 0) >= 160, `${key} has ${box?.width} px at ${width}`);
        assert.equal(await isCutOff(page), false, `${hash} at ${width}`);
      }
    }
  });

  test('chosen columns are remembered, and a table with too many of them scrolls instead of the page', async (t) => {
    const { page, visit } = await getWorld().open(t, { width: 1280 });
    await visit('/accounts');
    const heads = () =>
      page.locator('th[data-column]').evaluateAll((all) => all.map((one) => one.textContent));
    assert.ok((await heads()).includes('Traffic today'));
    assert.ok(!(await heads()).includes('Heartbeats'));
    await page.click('.chooser summary');
    await page.uncheck('.chooser >> text=Last login');
    for (const column of ['Heartbeats', 'Game']) await page.check(`.chooser >> text=${column}`);
    await page.keyboard.press('Escape');
    await page.reload();
    await page.waitForSelector('th[data-column=data]');
    const shown = await heads();
    assert.ok(shown.includes('Heartbeats') && !shown.includes('Last login'), shown.join());
    await page.setViewportSize({ width: 700, height: 800 });
    await settled(page);
    assert.equal(await isCutOff(page), false);
    const scrolls = `(() => { const box = document.querySelector('.table-box'); return box.scrollWidth > box.clientWidth && box.tabIndex === 0; })()`;
    assert.ok(await page.evaluate(scrolls));
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.click('.chooser summary');
    await page.click('.chooser >> text=Automatic, by width');
    await page.waitForSelector('th[data-column=login]');
  });

  test('the head of a table stays below the bar of bulk actions, in one line or two', async (t) => {
    const { page, visit } = await getWorld().open(t);
    for (const width of [1280, 1600]) {
      await page.setViewportSize({ width, height: 700 });
      await visit(`/accounts?search=player&limit=100&w=${width}`);
      await page.check('thead input[type=checkbox]');
      await page.waitForSelector('.bulk-bar >> text=100 selected');
      await page.evaluate(`document.querySelector('main').scrollTop = 1000`);
      await settled(page);
      const [bar, head, actions] = await page.evaluate<{ bottom: number; top: number; right: number }[]>(
        `['.bulk-bar', '.table thead th', '.bulk-actions .button:last-child'].map((one) => document.querySelector(one).getBoundingClientRect().toJSON())`,
      );
      assert.ok(bar && head && actions);
      assert.ok(Math.abs(head.top - bar.bottom) <= 1, `${width}: ${head.top} is not ${bar.bottom}`);
      assert.ok(bar.right - actions.right <= 16, `${width}: ${actions.right} of ${bar.right}`);
      await page.keyboard.press('Escape');
    }
  });

  test('the last line of bulk actions is nearly as long as the first', async (t) => {
    const { daemon, open } = getWorld();
    const before = await daemon.api('GET', '/api/v1/settings/plans');
    t.after(() => daemon.api('PUT', '/api/v1/settings/plans', before.json));
    const plan = { name: 'monthly', days: 30, startsAtFirstLogin: false, limits: NO_PLAN_LIMITS };
    await daemon.api('PUT', '/api/v1/settings/plans', { plans: [plan] });
    const seller = { name: 'reseller', role: 'seller', password: PASSWORD };
    const { id } = (await daemon.api('POST', '/api/v1/operators', seller)).json as { id: string };
    t.after(() => daemon.api('DELETE', `/api/v1/operators/${id}`));
    const { page, visit } = await open(t);
    for (const width of [1280, 1366, 1440, 1600]) {
      await page.setViewportSize({ width, height: 700 });
      await visit(`/accounts?search=player&w=${width}`);
      await page.check('thead input[type=checkbox]');
      await page.waitForSelector('.bulk-actions >> text=Apply plan');
      await page.waitForSelector('.bulk-actions >> text=Hand over');
      const lengths = await page.evaluate<number[]>(`(() => {
        const lines = new Map();
        for (const { top, width } of [...document.querySelectorAll('.bulk-actions .button')].map((b) => b.getBoundingClientRect()))
          lines.set(top, (lines.get(top) ?? 0) + width);
        return [...lines.values()];
      })()`);
      assert.ok(Math.min(...lengths) > 0.6 * Math.max(...lengths), `${width}: ${lengths.join()}`);
    }
  });

  test('a cut-off cell shows its whole text as hover text', async (t) => {
    const { daemon, open } = getWorld();
    const remarks = `renewed by phone, ${'pays monthly, '.repeat(12)}since May`;
    const { AID } = await daemon.account(name(1));
    await daemon.api('PATCH', `/api/v1/accounts/${AID}`, { remarks });
    const { page, visit } = await open(t);
    await visit(`/accounts?search=${name(1)}`);
    await page.hover('td[data-column=remarks]');
    assert.equal(await page.getAttribute('td[data-column=remarks]', 'title'), remarks);
  });
}
