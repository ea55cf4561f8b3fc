// Tables: flexible columns stay readable, columns can be chosen, and cut-off cells have a hover text.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NO_PLAN_LIMITS } from '../../src/core/accounts/plans/plans.js';
import { axeFindings, isCutOff, settled } from '../helpers/console-browser.js';
import { name, PASSWORD, type World } from '../helpers/console-world.js';
import { eventually } from '../helpers/eventually.js';

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
    const { page, visit } = await getWorld().open(t, { width: 1440 });
    await visit('/accounts');
    const heads = () =>
      page.locator('th[data-column]').evaluateAll((all) => all.map((one) => one.textContent));
    assert.ok((await heads()).includes('Traffic today'));
    assert.ok(!(await heads()).includes('Heartbeats'));
    await page.setViewportSize({ width: 1280, height: 800 });
    await eventually(async () => assert.ok(!(await heads()).includes('Quota')));
    for (const sold of ['Plan', 'Tags, remarks', 'Traffic today'])
      assert.ok((await heads()).includes(sold), sold);
    await page.setViewportSize({ width: 1440, height: 800 });
    await page.waitForSelector('th[data-column=login]');
    await page.click('.chooser summary');
    await page.uncheck('.chooser >> text=Last login');
    for (const column of ['Game', 'Heartbeats']) await page.check(`.chooser >> text=${column}`);
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
    await page.setViewportSize({ width: 1440, height: 800 });
    await page.click('.chooser summary');
    await page.click('.chooser >> text=Automatic, by width');
    await page.waitForSelector('th[data-column=login]');
  });

  test('nothing moves when a row is selected: the bar lies at the foot, with four actions and "More"', async (t) => {
    const { daemon, open } = getWorld();
    const before = await daemon.api('GET', '/api/v1/settings/plans');
    t.after(() => daemon.api('PUT', '/api/v1/settings/plans', before.json));
    const plan = { name: 'monthly', days: 30, startsAtFirstLogin: false, limits: NO_PLAN_LIMITS };
    await daemon.api('PUT', '/api/v1/settings/plans', { plans: [plan] });
    const { page, visit, errors } = await open(t);
    const places = () =>
      page.evaluate<
        string[]
      >(`[...document.querySelectorAll('main > :not(.bulk-foot), .table th, .table tbody tr')].map((one) => {
        const { top, left, width } = one.getBoundingClientRect();
        return [one.className, top, left, width].join(' ');
      })`);
    const box = (selector: string) =>
      page.evaluate<{ top: number; bottom: number; left: number; right: number }>(
        `document.querySelector('${selector}').getBoundingClientRect().toJSON()`,
      );
    for (const [width, height] of [
      [1366, 657],
      [390, 667],
      [320, 640],
    ] as const) {
      await page.setViewportSize({ width, height });
      await visit(`/accounts?search=player&w=${width}`);
      await settled(page);
      const still = await places();
      await page.check('tbody input[type=checkbox] >> nth=0');
      await page.waitForSelector('.bulk-actions >> text=Apply plan');
      assert.deepEqual(await places(), still, `${width}`);
      const bar = await box('.bulk-bar');
      assert.ok(bar.top > height / 2 && bar.bottom < height && bar.right <= width, JSON.stringify(bar));
      assert.deepEqual(
        await page
          .locator('.bulk-actions > *')
          .evaluateAll((all) =>
            all.map((one) => one.querySelector('summary')?.textContent ?? one.textContent),
          ),
        ['Extend', 'Apply plan', 'Disable', 'Enable', 'More'],
      );
      assert.deepEqual(await axeFindings(page), []);
      await page.click('.bulk-actions summary');
      await page.waitForSelector('.bulk-bar .menu');
      const menu = await box('.bulk-bar .menu');
      assert.ok(menu.top > 0 && menu.left >= 0 && menu.right <= width, JSON.stringify(menu));
      await page.keyboard.press('Escape');
      await page.waitForSelector('.bulk-bar .menu', { state: 'hidden' });
      await page.waitForSelector('.bulk-bar >> text=1 selected');
      // The last line of the page can be scrolled to above the bar.
      await page.evaluate(`document.querySelector('main').scrollTop = 1e6`);
      await settled(page);
      assert.ok((await box('.list-foot')).bottom <= (await box('.bulk-bar')).top);
      await page.keyboard.press('Escape');
      await page.waitForSelector('.bulk-bar', { state: 'detached' });
    }
    assert.deepEqual(errors, []);
  });

  test('an account that was found by a contact says so, and its owner is a column, a filter and a link', async (t) => {
    const { daemon, open } = getWorld();
    const seller = { name: 'reseller', role: 'seller', password: PASSWORD };
    const { id } = (await daemon.api('POST', '/api/v1/operators', seller)).json as { id: string };
    t.after(() => daemon.api('DELETE', `/api/v1/operators/${id}`));
    const { AID } = await daemon.account(name(4));
    const contacts = { email: 'kim@shop.example', telegram: '@kim_games' };
    await daemon.api('PATCH', `/api/v1/accounts/${AID}`, { contacts, owner: id });
    t.after(() => daemon.api('PATCH', `/api/v1/accounts/${AID}`, { owner: null }));
    const { page, visit } = await open(t, { width: 1440 });
    await visit('/operators');
    await page.click('tr:has-text("reseller") a');
    await page.waitForSelector('.counts >> text=/^1 of /');
    await page.waitForSelector('.owner-filter summary >> text=Belongs to: reseller');
    await page.waitForSelector(`td[data-column=owner] >> text=reseller`);
    await page.click('.owner-filter summary');
    await page.click('.owner-filter .menu >> text=Administrator');
    await page.waitForSelector('.counts >> text=/^[\\d,]{3,} of /');
    await visit('/accounts?search=KIM_games+shop.example');
    await page.waitForSelector(
      '.found-by >> text="@kim_games (Telegram chat id) · kim@shop.example (E-mail)"',
    );
    await visit(`/accounts?search=${name(4)}`);
    await page.waitForSelector(`tbody >> text=${name(4)}`);
    assert.equal(await page.locator('.found-by').count(), 0, 'the user name says it');
    await page.setViewportSize({ width: 390, height: 800 });
    await visit('/accounts?search=kim_games');
    await page.waitForSelector('.found-by >> text="@kim_games (Telegram chat id)"');
  });

  test('who used too much yesterday, or today by game, is one click from the overview', async (t) => {
    const { page, visit, errors } = await getWorld().open(t, { width: 1440 });
    await visit('/');
    await page.click('.card >> text=Yesterday');
    await page.waitForSelector('.chip[aria-pressed=true] >> text=Yesterday');
    await page.waitForSelector('.empty >> text=No traffic on these days');
    await page.click('.chip >> text=30 days');
    await page.waitForSelector('tbody td[data-column=label] >> text=player0001');
    const values = async () =>
      (await page.locator('td[data-column=bytes]').allTextContents()).map(parseFloat);
    const descending = await values();
    assert.deepEqual(
      descending,
      [...descending].sort((a, b) => b - a),
    );
    await page.click('th >> text=Total');
    await page.waitForSelector('th[data-column=bytes][aria-sort=ascending]');
    const ascending = descending.toReversed();
    await eventually(async () => assert.deepEqual(await values(), ascending));
    const file = await page.getAttribute('a:has-text("CSV")', 'href');
    const csv = await page.evaluate<string>(`fetch(${JSON.stringify(file)}).then((answer) => answer.text())`);
    assert.equal(csv.trim().split('\n').length, descending.length + 1);
    await page.click('.segments >> text=Game');
    await page.click('tbody >> text=arena1');
    await page.waitForSelector('.chip >> text=Game arena1');
    await visit('/traffic?from=2026-01-02&until=2026-01-01');
    await page.waitForSelector('main >> text=First day: must make a range of 1 to 366 days');
    assert.deepEqual(errors, []);
  });

  test('at 320 px no table is wider than the window, and a seller keeps its budget', async (t) => {
    const { daemon, open } = getWorld();
    const budget = { accounts: 50, days: 900, bytes: 5e11 };
    const seller = { name: 'reseller', role: 'seller', password: PASSWORD, budget };
    const { id } = (await daemon.api('POST', '/api/v1/operators', seller)).json as { id: string };
    t.after(() => daemon.api('DELETE', `/api/v1/operators/${id}`));
    const { page, visit } = await open(t, { width: 320 });
    for (const hash of [
      '/accounts',
      '/accounts?search=player',
      '/sessions',
      '/sessions/logins',
      '/traffic',
      '/agents',
      '/agents/sessions',
      '/operators',
      '/settings/nodes',
      '/audit',
    ]) {
      await visit(hash);
      assert.equal(await isCutOff(page), false, hash);
      assert.equal(await page.locator('.table-box.overflows').count(), 0, hash);
    }
    await visit('/operators');
    const row = (await page.textContent('tr:has-text("reseller")')) ?? '';
    assert.match(row, /Accounts: 0 \/ 50Days: 0 \/ 900Traffic: 0 B \/ 500 GB/);
  });

  test('a column of numbers sorts the largest first, and a chosen chip moves no other', async (t) => {
    const { page, visit } = await getWorld().open(t, { width: 1440 });
    await visit('/accounts');
    const chips = () =>
      page.locator('.toolbar .chip').evaluateAll((all) => all.map((one) => one.getBoundingClientRect().left));
    const before = await chips();
    await page.click('.chip >> text=Online');
    await page.waitForSelector('.counts >> text=of');
    assert.deepEqual(await chips(), before);
    await page.click('th >> text=Traffic today');
    await page.waitForSelector('th[aria-sort=descending] >> text=Traffic today');
    await page.click('th >> text=Traffic today');
    await page.waitForSelector('th[aria-sort=ascending] >> text=Traffic today');
  });

  test('a list is kept as a view under a name, and opened and removed; newest first is one', async (t) => {
    const { page, visit, errors } = await getWorld().open(t, { width: 390, height: 667 });
    const choose = (text: string) => page.click(`.views .menu button:has-text("${text}")`);
    await visit('/accounts?search=player000&expired=false');
    await page.click('.views summary');
    await page.getByLabel('Keep this list in this browser, as').fill('Paying');
    assert.deepEqual(await axeFindings(page), []);
    await page.keyboard.press('Enter');
    await page.waitForSelector('.views summary >> text=Paying');
    await visit('/accounts');
    await page.click('.views summary');
    await choose('Newest first');
    await page.waitForSelector('.views summary >> text=Newest first');
    assert.match(page.url(), /sort=-createdAt/);
    await page.click('.views summary');
    await choose('Paying');
    await page.waitForSelector('.counts >> text=/^10 of /');
    assert.match(page.url(), /#\/accounts\?expired=false&search=player000$/);
    assert.equal(await isCutOff(page), false);
    await page.click('.views summary');
    await page.click('.views [aria-label="Remove the view Paying"]');
    await page.waitForSelector('.views [aria-label="Remove the view Paying"]', { state: 'detached' });
    assert.equal(await page.evaluate(`localStorage.getItem('pulsegate.views.accounts')`), '{}');
    assert.deepEqual(errors, []);
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
