// Navigation in the console: pages of a list, going back, focus, keyboard and phone.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { holds, isCutOff, openConsole, settled, signIn } from '../helpers/console-browser.js';
import type { World } from '../helpers/console-world.js';
import { ADMIN } from '../helpers/daemon.js';
import { eventually } from '../helpers/eventually.js';
import { connectThrough, loggedInClient } from '../helpers/socks-client.js';

export function navigationTests(getWorld: () => World): void {
  test('pages of a list have numbers, and going back restores search, page and scroll position', async (t) => {
    const { page, visit } = await getWorld().open(t);
    await visit('/accounts?search=player&limit=100');
    const first = await page.textContent('tr[data-row="0"] a.strong');
    await page.click('.pager >> text=Next');
    await page.waitForSelector('.pager [aria-current=page] >> text=2');
    await page.click('.pager >> text=Next');
    await page.waitForSelector('.pager [aria-current=page] >> text=3');
    await page.waitForSelector('.pager >> text=/of 1[23] pages/');
    await page.waitForSelector('.pager >> text=/201–300 of/');
    await page.click('.pager >> text=Previous');
    await page.waitForSelector('.pager >> text=/101–200 of/');
    await page.reload();
    await page.waitForSelector('.pager [aria-current=page] >> text=2');
    const second = await page.textContent('tr[data-row="0"] a.strong');

    await page.evaluate(`document.querySelector('main').scrollTop = 1800`);
    await settled(page);
    await page.click('tr[data-row="50"] a.strong');
    await page.waitForSelector('.danger-zone');
    await page.click('.page-head a[aria-label=Accounts]');
    await page.waitForSelector('tr[data-row="50"]');
    await holds(page, `Math.abs(document.querySelector('main').scrollTop - 1800) < 40`);
    assert.match(page.url(), /search=player/);
    await page.waitForSelector('.pager [aria-current=page] >> text=2');
    await page.click('.pager >> text="1"');
    await page.waitForSelector('.pager >> text=/1–100 of/');
    await page.waitForSelector('table:not(.pending)');
    assert.equal(await page.textContent('tr[data-row="0"] a.strong'), first);
    assert.notEqual(first, second);
  });

  test('the list of accounts loads at most 80 kB at first, and neither other pages nor the other language', async (t) => {
    const { daemon, browser, cookie } = getWorld();
    const { page } = await openConsole(t, browser, { url: `${daemon.adminUrl}/icon.svg#`, cookie });
    const devTools = await page.context().newCDPSession(page);
    await devTools.send('Network.enable');
    const paths = new Map<string, string>();
    const loaded = new Map<string, number>();
    devTools.on('Network.responseReceived', ({ requestId, response }) =>
      paths.set(requestId, new URL(response.url).pathname),
    );
    devTools.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
      const path = paths.get(requestId) ?? '';
      if (path === '/' || path.startsWith('/assets/')) loaded.set(path, encodedDataLength);
    });
    await page.goto(`${daemon.adminUrl}/#/accounts`);
    await page.waitForSelector('tr[data-row="0"]');
    const names = [...loaded.keys()].join(' ');
    assert.match(names, /texts_en/);
    assert.doesNotMatch(names, /texts_zh|settings|chart|qr|create|account-/);
    const bytes = [...loaded.values()].reduce((sum, each) => sum + each, 0);
    t.diagnostic(`first load: ${bytes} bytes in ${loaded.size} files`);
    assert.ok(bytes > 20_000 && bytes <= 80_000, `${bytes} bytes: ${JSON.stringify([...loaded])}`);
  });

  test('a page or dialog that cannot be loaded says so, and is loaded again on request and when the daemon is back', async (t) => {
    const { page } = await getWorld().open(t);
    let isGone = true;
    await page.route(/\/assets\/(heartbeats|export)-/, (route) =>
      isGone ? route.fulfill({ status: 404, body: '' }) : route.continue(),
    );
    await page.evaluate(`location.hash = '/heartbeats'`);
    await page.waitForSelector('main .failure >> text=This part could not be loaded');
    await page.evaluate(`location.hash = '/accounts?new=export'`);
    await page.waitForSelector('dialog .failure >> text=This part could not be loaded');
    isGone = false;
    await page.click('dialog .failure button');
    await page.waitForSelector('dialog >> text=Download');
    await page.keyboard.press('Escape');
    await page.context().setOffline(true);
    await page.evaluate(`location.hash = '/heartbeats'`);
    await page.waitForSelector('main .failure >> text=This part could not be loaded');
    await page.waitForSelector('.banner');
    await page.context().setOffline(false);
    await page.waitForSelector('h1 >> text=Heartbeats');
  });

  test('an address without a page says so and leads back', async (t) => {
    const { page, visit } = await getWorld().open(t);
    await visit('/no/such/page');
    await page.waitForSelector('main >> text=There is no such page');
    await page.click('main a.button >> text=To the start page');
    await page.waitForSelector('h1 >> text=Overview');
    await visit('/accounts/00000000-0000-4000-8000-000000000000');
    await page.waitForSelector('main >> text=There is no such account');
    await page.click('main a.button >> text=To the list of accounts');
    await page.waitForSelector('h1 >> text=Accounts');
  });

  test('the buttons below the navigation switch language and theme, and sign out', async (t) => {
    const { daemon, browser } = getWorld();
    const shown = await openConsole(t, browser, { url: daemon.adminUrl });
    await signIn(shown, ADMIN.username, ADMIN.password);
    const { page } = shown;
    await page.click('.rail-tools >> text=中文');
    await page.waitForSelector('h1 >> text=概览');
    await page.click('.rail-tools >> text=English');
    await page.waitForSelector('h1 >> text=Overview');
    await page.click('.rail-tools [aria-label="Theme: Light"]');
    assert.equal(await page.evaluate(`document.documentElement.dataset.theme`), 'dark');
    await page.click('.rail-tools [aria-label="Sign out"]');
    await page.waitForSelector('.login');
  });

  test('a page that is left keeps no listener', async (t) => {
    const { page, visit } = await getWorld().open(t);
    const devTools = await page.context().newCDPSession(page);
    await devTools.send('Performance.enable');
    const listeners = async () => {
      for (const hash of ['/accounts', '/sessions', '/heartbeats', '/audit', '/']) await visit(hash);
      await devTools.send('HeapProfiler.collectGarbage');
      const { metrics } = await devTools.send('Performance.getMetrics');
      return metrics.find(({ name }) => name === 'JSEventListeners')?.value ?? 0;
    };
    await listeners();
    // What the browser has not collected yet still counts. A leak grows with each round.
    const before = Math.min(await listeners(), await listeners());
    await eventually(async () => assert.ok((await listeners()) <= before));
  });

  test('the row in the place of an ended session gets the focus, and the heading after the last one', async (t) => {
    const { daemon, targetPort, open } = getWorld();
    for (const username of ['focus1', 'focus2']) {
      await daemon.addAccount(username, 'secret');
      const account = { port: daemon.socks.port, username, password: 'secret' };
      const client = await connectThrough(account, '127.0.0.1', targetPort);
      t.after(() => client.destroy());
    }
    const { page, visit } = await open(t);
    await visit('/sessions?search=focus&sort=username');
    // Also on the first page after a load, whose heading has not had the focus.
    await page.reload();
    await page.waitForSelector('tr[data-row="1"] >> text=focus2');
    await page.focus('tr[data-row="0"] >> text=End');
    await page.keyboard.press('Enter');
    await page.waitForSelector('dialog[open]');
    await page.click('dialog footer .danger');
    await page.waitForSelector('tbody:not(:has-text("focus1"))');
    await holds(
      page,
      `document.activeElement.matches('tr:has(td)') && document.activeElement.textContent.includes('focus2')`,
    );
    await page.focus('tr[data-row="0"] >> text=End');
    await page.keyboard.press('Enter');
    await page.click('dialog footer .danger');
    await page.waitForSelector('.empty');
    await holds(page, `document.activeElement.matches('main h1')`);
  });

  test('a dialog opens with the focus on its first field, or on its title when it has none', async (t) => {
    const { page, visit } = await getWorld().open(t);
    const focused = async () => {
      await page.waitForSelector('dialog[open]');
      return page.evaluate<string>(`document.activeElement.outerHTML`);
    };
    for (const [dialog, first] of [
      ['export', /aria-pressed="true".*>CSV</],
      ['import', /type="file"/],
      ['one', /required/],
    ] as const) {
      await visit(`/accounts?new=${dialog}`);
      assert.match(await focused(), first);
      await page.keyboard.press('Escape');
    }
    await visit('/');
    await page.keyboard.press('?');
    assert.match(await focused(), /^<h2/);
  });

  test('settings are found by label, by words of the other language and by key, and the focus goes to what was found', async (t) => {
    const { page, visit, errors } = await getWorld().open(t);
    const focused = () =>
      page.evaluate<string>(
        `(document.activeElement.closest('label, tr') ?? document.activeElement).textContent`,
      );
    const find = async (text: string, hit: string) => {
      await page.fill('.find input', text);
      await page.click(`.hits a:has-text("${hit}")`);
    };
    await visit('/settings');
    await find('runs and conv', 'Runs and conversations (days)');
    await eventually(async () => assert.match(await focused(), /^Runs and conversations/));
    await find('登录记录', 'Logins (days)');
    await eventually(async () => assert.match(await focused(), /^Logins \(days\)/));
    await find('socks.publicHost', 'Host name or IP address');
    await eventually(async () => assert.match(await focused(), /^Host name or IP address/));
    assert.equal(await page.textContent('main h1'), 'Players’ address');
    await find('SOCKS.idleTimeout', 'socks.idleTimeout');
    await eventually(async () => assert.match(await focused(), /^socks\.idleTimeout/));
    await find('perMinute', 'guard.connectionsPerMinute');
    await find('messages a minute', 'Messages a minute, each channel');
    await eventually(async () => assert.match(await focused(), /^Messages a minute/));
    assert.equal(await page.textContent('main h1'), 'Notices');
    await visit('/settings');
    await page.fill('.find input', 'nothing like this');
    await page.waitForSelector('.find >> text=No such setting');
    assert.deepEqual(errors, []);
  });

  test('former addresses of pages lead to where they are now, and a phone has further pages below More', async (t) => {
    const { page, errors } = await getWorld().open(t, { width: 390 });
    for (const [from, to, heading] of [
      ['#/settings/plans', '#/plans', 'Plans'],
      ['#/settings/operators', '#/operators', 'Operators'],
      ['#/settings/notices?state=failed', '#/notices?state=failed', 'Notices'],
      ['#/settings/reminders', '#/notices/settings', 'Notices'],
      ['#/settings/audit?search=x', '#/audit?search=x', 'Audit log'],
    ]) {
      await page.evaluate(`location.hash = '${from}'`);
      await eventually(async () => {
        assert.equal(await page.evaluate('location.hash'), to);
        assert.equal(await page.textContent('main h1'), heading);
      });
    }
    assert.equal(await page.locator('.rail > a:visible').count(), 4);
    await page.click('.rail-more summary');
    await page.click('.rail-more >> text=Operators');
    await eventually(async () => assert.equal(await page.evaluate('location.hash'), '#/operators'));
    await page.waitForSelector('.rail-more .menu', { state: 'detached' });
    await page.click('.rail-more summary');
    await page.waitForSelector('.rail-more [aria-label="Sign out"]');
    assert.equal(await isCutOff(page), false);
    await page.keyboard.press('Escape');
    assert.deepEqual(errors, []);
  });

  test('a backup is downloaded from the settings', async (t) => {
    const { page, visit } = await getWorld().open(t);
    await visit('/settings/backup');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.click('a >> text=Download a backup'),
    ]);
    assert.match(download.suggestedFilename(), /^pulsegate-.*\.db$/);
    assert.equal(await download.failure(), null);
  });

  test('the recent log shows new lines, can be filtered, searched and copied, and pauses while the operator scrolls', async (t) => {
    const { daemon, open } = getWorld();
    const { page, visit, errors } = await open(t, { height: 400 });
    const failToLogIn = (username: string) =>
      loggedInClient({ port: daemon.socks.port, username, password: 'x' }).then(
        () => assert.fail('logged in'),
        () => undefined,
      );
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await visit('/settings/log?search=stranger-0');
    await page.waitForSelector('.empty');
    await Promise.all(Array.from({ length: 16 }, (_, i) => failToLogIn(`stranger-${i}`)));
    await page.waitForSelector('.log .state.warn >> text=warning');
    await page.waitForSelector('.log .what >> text=unknown-user');
    await page.click('.chips >> text=Errors only');
    await page.waitForSelector('.empty');
    await page.click('.chips >> text=Errors only');
    await page.click('.toolbar >> text=Copy these lines');
    await page.waitForSelector('.toast >> text=Copied');
    const copied = await page.evaluate<string>('navigator.clipboard.readText()');
    const logged = await daemon.waitForLine((line) => line['user'] === 'stranger-0');
    assert.deepEqual(JSON.parse(copied), logged);

    await visit('/settings/log?search=stranger');
    await page.waitForSelector('.log > li:nth-child(16)');
    await page.evaluate(`document.querySelector('main').scrollTop = 400`);
    await page.waitForSelector('.paused');
    const first = () => page.textContent('.log > li:first-child');
    const pausedAt = await first();
    await failToLogIn('stranger-16');
    await page.waitForSelector('.paused >> text=1 newer line');
    assert.equal(await first(), pausedAt);
    await page.click('.paused >> text=Resume');
    await page.waitForSelector('.log > li:first-child >> text=stranger-16');
    await page.waitForSelector('.paused', { state: 'detached' });
    assert.deepEqual(errors, []);
  });

  test('counts are shown beside their list, and do not move it on a phone', async (t) => {
    const { open } = getWorld();
    const wide = await open(t);
    await wide.visit('/audit');
    await wide.page.waitForSelector('.toolbar .counts');
    assert.equal(await wide.page.locator('.page-head .counts').count(), 0);
    const chinese = await open(t, { language: 'zh-CN' });
    await chinese.visit('/audit');
    const changes = (await chinese.page.locator('.changes').allTextContents()).join(' ');
    assert.match(changes, /[\u4e00-\u9fff]：\S/);
    assert.doesNotMatch(changes, /[\u4e00-\u9fff]:/);
    const { page, visit } = await open(t, { width: 390 });
    const top = () => page.evaluate<number>(`document.querySelector('.search').getBoundingClientRect().top`);
    await page.route('**/api/v1/accounts?*', (route) => route.fulfill({ status: 403 }));
    await page.evaluate(`location.hash = '#/accounts?search=player'`);
    await page.waitForSelector('.failure');
    const topWithoutCounts = await top();
    await page.unroute('**/api/v1/accounts?*');
    await visit('/accounts?search=player0');
    await page.waitForSelector('.page-head .counts >> text=/of/');
    assert.equal(await top(), topWithoutCounts);
  });

  test('a new page moves the focus to its heading, and arrow keys move it into the list', async (t) => {
    const { accountId, open } = getWorld();
    const { page, visit } = await open(t);
    const focused = () =>
      page.evaluate<string>(`document.activeElement.tagName + ' ' + document.activeElement.textContent`);
    // The first page leaves the focus to the browser, so it must be open before the next one.
    await page.waitForSelector('main h1 >> text=Overview');
    await visit('/sessions');
    await eventually(async () => assert.equal(await focused(), 'H1 Sessions'));
    await page.click('.rail >> text=Accounts');
    // First the heading: the previous page has rows too.
    await eventually(async () => assert.equal(await focused(), 'H1 Accounts'));
    await page.waitForSelector('tr[data-row="0"]');
    await page.keyboard.press('ArrowDown');
    assert.equal(await page.evaluate(`document.activeElement.dataset.row`), '0');
    await visit(`/accounts/${accountId}`);
    await holds(page, `document.activeElement.tagName === 'H1'`);
  });

  test('j and k move at once, also after a click on a chip or a checkbox, and going back returns the focus to the row', async (t) => {
    const { page, visit } = await getWorld().open(t);
    await visit('/accounts?search=player0');
    const focused = () => page.evaluate<string | undefined>('document.activeElement.dataset.row');
    const at = (row: string) => eventually(async () => assert.equal(await focused(), row));
    await page.waitForSelector('tbody tr');
    await page.keyboard.press('j');
    await at('0');
    await page.keyboard.press('j');
    await at('1');
    await page.click('.chip >> text=Online');
    await page.waitForSelector('.counts >> text=of');
    await page.keyboard.press('k');
    await eventually(async () => assert.notEqual(await focused(), undefined));
    await visit('/accounts?search=player01');
    await page.check('tbody tr[data-row="2"] input');
    await page.keyboard.press('j');
    await at('3');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.diagnosis');
    assert.equal(await focused(), undefined);
    await page.goBack();
    await at('3');
    await page.keyboard.press('k');
    await at('2');
    await page.click('tbody tr[data-row="2"] a');
    await page.waitForSelector('.diagnosis');
    await page.click('.page-head a[aria-label=Accounts]');
    await at('2');
    await page.click('[data-search]');
    await page.keyboard.type('j');
    assert.equal(await page.inputValue('[data-search]'), 'player01j', 'in a field, j is a letter');
  });

  test('a setting shows its key in the configuration and its default, of notices too', async (t) => {
    const { page, visit } = await getWorld().open(t);
    await visit('/settings/retention');
    const word = (label: string) =>
      page.locator(`.field:has(> span:text-is("${label}")) > .word`).first().innerText();
    await page.waitForSelector('.field > .word');
    assert.match(await word('Audit log (days)'), /^admin\.audit\.days Default: \d+$/);
    assert.match(await word('Runs and conversations (days)'), /^webhooks\.retention Default: \d+d$/);
    await visit('/settings/games');
    await page.waitForSelector('.word >> text=heartbeats.games Default: —');
    await visit('/notices/settings');
    await page.waitForSelector('.field > .word');
    assert.equal(await word('My daily digest at'), 'notices.digestHour Default: 09:00');
    assert.equal(await word('Messages a minute, each channel'), 'Default: 20');
  });

  test('lists on tabs have counts beside their filters, the API page is in Chinese, and a configured password causes a warning', async (t) => {
    const { page, visit } = await getWorld().open(t, { language: 'zh-CN' });
    for (const hash of ['/sessions', '/sessions/logins']) {
      await visit(hash);
      await page.waitForSelector('.toolbar .counts >> text=/共/');
    }
    await visit('/settings/api');
    await page.waitForSelector('main:not(:has(.counts))');
    await page.waitForSelector('h2 >> text=导入与导出');
    const english = `[...document.querySelectorAll('.api-document summary .soft')].map((one) => one.textContent).filter((text) => !/[\u4e00-\u9fff]/.test(text))`;
    assert.deepEqual(await page.evaluate(english), []);
    await visit('/settings/admin');
    await page.waitForSelector('form .notice >> text=PULSEGATE_ADMIN_PASSWORD');
    // The width of a small phone, and of 1,280 px at 400 % (WCAG 1.4.10).
    await page.setViewportSize({ width: 320, height: 568 });
    await settled(page);
    assert.equal(await isCutOff(page), false);
  });

  test('ending a session asks for a confirmation', async (t) => {
    const { daemon, open } = getWorld();
    const { page, visit } = await open(t);
    const count = async () => ((await daemon.api('GET', '/api/v1/sessions')).json as { total: number }).total;
    const before = await count();
    await visit('/sessions?search=player0005');
    await page.click('tbody >> text=End');
    await page.waitForSelector('dialog >> text=player0005');
    await page.click('dialog >> text=Cancel');
    assert.equal(await count(), before);
    await page.click('tbody >> text=End');
    await page.click('dialog button[type=submit]');
    await page.waitForSelector('.toast >> text=1 session ended');
    assert.equal(await count(), before - 1);
    const { AID } = await daemon.account('player0004');
    await visit(`/accounts/${AID}`);
    await page.click('.flush >> text=End all');
    await page.waitForSelector('dialog >> text=Cancel');
    assert.equal(await count(), before - 1);
    await page.click('dialog button[type=submit]');
    await page.waitForSelector('.toast >> text=1 session ended');
    // The message about the first session may still be shown.
    await eventually(async () => assert.equal(await count(), before - 2));
  });

  test('durations are rounded: 30 days are still shown as 30 days after some seconds', async (t) => {
    const { daemon, open } = getWorld();
    const expiresAt = new Date(Date.now() + 30 * 86_400_000 - 5_000).toISOString();
    const answer = await daemon.api('POST', '/api/v1/accounts', { username: 'monthly', expiresAt });
    assert.equal(answer.status, 201, answer.text);
    const { page, visit } = await open(t);
    await visit('/accounts?search=monthly');
    assert.equal(await page.textContent('td[data-column=expires]'), 'in 30 days');
  });

  test('a pasted list may have quotes, and reasons are in the language of the operator', async (t) => {
    const { daemon, open } = getWorld();
    const { page, visit } = await open(t, { language: 'zh-CN' });
    await visit('/accounts?new=many');
    await page.click('dialog >> text=粘贴名单');
    await page.fill('dialog textarea', '"Zhang, San",secret1,"says ""hi"""\nli.si,secret2,plain');
    await page.click('dialog button >> text=创建 2 个');
    await page.waitForSelector('dialog >> text=已创建 2 个账号');
    assert.equal((await daemon.account('Zhang, San'))['Remarks'], 'says "hi"');
    assert.equal((await daemon.account('li.si'))['Remarks'], 'plain');
    await page.click('dialog footer >> text=我已保存');

    await visit('/accounts?new=import');
    const lines = [
      'username,password,maxSessions',
      'fast,secret,0',
      ...Array.from({ length: 249 }, () => ',nobody'),
    ].join('\n');
    const file = { name: 'bad.csv', mimeType: 'text/csv', buffer: Buffer.from(lines) };
    await page.setInputFiles('dialog input[type=file]', file);
    await page.click('dialog footer >> text=试运行');
    await page.waitForSelector('dialog td >> text=缺少用户名');
    await page.waitForSelector('dialog td >> text=maxSessions 须为不小于 1 的整数');
    await page.waitForSelector('dialog >> text=另有 50 行未列出');
    await page.waitForSelector('dialog .scroll[tabindex="0"][aria-label=文件各行]');
  });
}
