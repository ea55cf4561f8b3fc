// Charts: legends and axes are readable, and nothing moves while a page loads.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { isCutOff, openConsole, settled } from '../helpers/console-browser.js';
import type { World } from '../helpers/console-world.js';
import { eventually } from '../helpers/eventually.js';

/** The limit of web.dev for a good cumulative layout shift. */
const MAX_LAYOUT_SHIFT = 0.1;

/** Loads a page and returns its layout shift without the input of a user. */
async function layoutShift(page: Page, hash: string): Promise<number> {
  await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
  await page.reload();
  await page.waitForSelector('main:has(.page-head):not(:has(.skeleton, .waiting))');
  await settled(page);
  return page.evaluate<number>('window.shifted');
}

export function chartTests(getWorld: () => World): void {
  test('legends show the latest complete step without a pointer, plots have one height, and failures are red', async (t) => {
    for (const width of [1280, 390]) {
      const { page, visit } = await getWorld().open(t, { width });
      await visit('/');
      await page.waitForSelector('.charts:not(:has(figcaption .number:empty)) .u-over');
      const charts = await page.evaluate<{ plot: number; values: string[]; at: string }[]>(`
        [...document.querySelectorAll('.charts .chart')].map((chart) => ({
          plot: chart.getBoundingClientRect().height,
          values: [...chart.querySelectorAll('.key b')].map((one) => one.textContent),
          at: chart.querySelector('figcaption .number').textContent,
        }))`);
      assert.equal(charts.length, 4);
      assert.equal(new Set(charts.map((one) => one.plot)).size, 1, JSON.stringify(charts));
      assert.match(charts[0]?.values[0] ?? '', /^[\d.]+ [kM]?B\/s$/);
      for (const { values } of charts) assert.ok(!values.includes('—'), values.join());
      const red = await page.evaluate<boolean>(`
        getComputedStyle([...document.querySelectorAll('.key')].find((one) => one.textContent.startsWith('Failed')).querySelector('.swatch')).backgroundColor ===
        getComputedStyle(Object.assign(document.body.appendChild(document.createElement('i')), { style: 'background: var(--bad)' })).backgroundColor`);
      assert.ok(red, 'failed logins are not red');
    }
  });

  test('an unfinished step is not drawn', async (t) => {
    const { daemon, open } = getWorld();
    // Sums of heartbeats are written every 20 s, and the page asks every 30 s.
    await eventually(async () => {
      const { json } = await daemon.api('GET', '/api/v1/heartbeats/series?range=day&by=game');
      assert.notDeepEqual((json as { series: unknown[] }).series, []);
    });
    const { page, visit } = await open(t);
    await visit('/heartbeats?range=day');
    await page.waitForSelector('.chart figcaption .number:not(:empty)');
    const at = (await page.textContent('.chart figcaption .number')) ?? '';
    // The page shows the local time at which a step of ten minutes begins.
    assert.ok(Date.parse(at.replace(' ', 'T')) + 600_000 <= Date.now(), `the step from ${at} has not ended`);
  });

  test('an empty chart shows no step, and has room for its labels', async (t) => {
    const { page, visit } = await getWorld().open(t, { width: 390 });
    const at = Array.from({ length: 144 }, (_, i) =>
      new Date(Date.now() - (145 - i) * 600_000).toISOString(),
    );
    const body = JSON.stringify({ range: 'day', by: 'game', stepSeconds: 600, at, series: [] });
    await page.route('**/api/v1/heartbeats/series?*', (route) =>
      route.fulfill({ status: 200, contentType: 'application/json', body }),
    );
    await visit('/heartbeats');
    await page.waitForSelector('.chart .no-data');
    assert.equal(await page.textContent('.chart figcaption .number'), '');
    // The labels of the axes need room to the left, below, and half a label to the right.
    const room = await page.evaluate<number[]>(`(() => {
      const [all, over] = ['.u-wrap', '.u-over'].map((one) => document.querySelector(one).getBoundingClientRect());
      return [over.left - all.left, all.right - over.right, all.bottom - over.bottom];
    })()`);
    assert.ok((room[0] ?? 0) >= 60 && (room[1] ?? 0) >= 18 && (room[2] ?? 0) >= 20, room.join());
  });

  test('entries without a game are named so, and only the rest of the games is called others', async (t) => {
    const { page, visit } = await getWorld().open(t);
    const at = ['2026-11-20T10:00:00Z', '2026-11-20T10:10:00Z'];
    const one = (label: string | null, isOthers: boolean) => ({
      key: label,
      label,
      isOthers,
      total: 2,
      counts: [1, 1],
    });
    const series = [one('arena', false), one(null, false), one(null, true)];
    await page.route('**/api/v1/heartbeats/series?*', (route) =>
      route.fulfill({ json: { range: 'day', by: 'game', stepSeconds: 600, at, series } }),
    );
    const now = new Date().toISOString();
    const sum = (key: string, lastAt: string) => ({
      key,
      label: key,
      heartbeats: 1,
      accounts: 1,
      bytesUp: 1,
      bytesDown: 1,
      lastAt,
    });
    const items = [
      sum('arena', new Date(Date.now() - 180_000).toISOString()),
      sum('old', '2026-01-01T00:00:00Z'),
    ];
    await page.route('**/api/v1/heartbeats/sums?*', (route) =>
      route.fulfill({ json: { from: at[0], to: now, items } }),
    );
    await visit('/heartbeats');
    // The sums know only in which step an entry came.
    await page.waitForSelector('tr[data-row="0"] >> text=/in the last \\d+ (s|min)/');
    await page.waitForSelector('tr[data-row="1"] >> text=/\\d+ days ago/');
    await page.waitForSelector('.legend .key >> nth=2');
    const keys = await page.locator('.legend .key').allTextContents();
    assert.deepEqual(
      keys.map((key) => key.replace(/[\d\s]+$/, '').trim()),
      ['arena', 'no game', 'others'],
    );
  });

  test('nothing moves while a page loads', async (t) => {
    const { accountId, daemon, browser, cookie } = getWorld();
    for (const width of [1280, 390]) {
      // A new window, because the script stays in its window.
      const { page } = await openConsole(t, browser, { url: daemon.adminUrl, cookie, width });
      await page.addInitScript(`window.shifted = 0;
        new PerformanceObserver((list) => {
          for (const one of list.getEntries()) if (!one.hadRecentInput) { window.shifted += one.value; (window.moved ??= []).push(one.value.toFixed(3) + ' ' + one.sources.map((s) => (s.node?.className || s.node?.nodeName) + ' ' + s.previousRect.y + '/' + s.previousRect.height + '→' + s.currentRect.y + '/' + s.currentRect.height).join(' | ')); }
        }).observe({ type: 'layout-shift', buffered: true });`);
      for (const hash of [
        '/',
        '/accounts',
        '/sessions',
        '/heartbeats',
        '/agents',
        `/accounts/${accountId}`,
      ]) {
        const shift = await layoutShift(page, hash);
        if (process.env['SHOW_SHIFT'])
          console.log(width, hash, shift.toFixed(3), await page.evaluate('window.moved'));
        assert.ok(shift <= MAX_LAYOUT_SHIFT, `${hash}, ${width} wide: ${shift.toFixed(3)}`);
      }
      // The worst case: long names of games in the chart that load after the table below it.
      const at = ['2026-11-20T10:00:00Z', '2026-11-20T10:10:00Z'];
      const labels = Array.from(
        { length: 6 },
        (_, i) => `A game with a name that is as_long_as_a_line_of_a_phone_and_holds_no_space_number_${i}`,
      );
      const series = labels.map((label) => ({ key: label, label, total: 1, counts: [1, 0] }));
      const sums = { heartbeats: 1, accounts: 1, bytesUp: 1, bytesDown: 1, lastAt: at[1] };
      const items = labels.map((label) => ({ key: label, label, ...sums }));
      let release = (): void => {};
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      await page.route('**/api/v1/heartbeats/series?*', async (route) => {
        await released;
        await route.fulfill({ json: { range: 'day', by: 'game', stepSeconds: 600, at, series } });
      });
      await page.route('**/api/v1/heartbeats/sums?*', (route) =>
        route.fulfill({ json: { from: at[0], to: at[1], items } }),
      );
      const sumsLoaded = page.waitForResponse('**/api/v1/heartbeats/sums?*');
      await page.evaluate(`location.hash = '/heartbeats'`);
      await page.reload();
      await sumsLoaded;
      await settled(page);
      release();
      await page.waitForSelector('.legend .key >> nth=5');
      await page.waitForSelector('tbody tr >> nth=5');
      await settled(page);
      assert.equal(await page.evaluate('window.shifted'), 0);
      assert.equal(await isCutOff(page), false, `a name is wider than ${width} px`);
    }
  });
}
