// Interaction with the console by keyboard and mouse.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  axeFindings,
  chooseBulkAction,
  holds,
  isCutOff,
  openConsole,
  settled,
  signIn,
} from '../helpers/console-browser.js';
import { name, type World } from '../helpers/console-world.js';
import { ADMIN } from '../helpers/daemon.js';
import { eventually } from '../helpers/eventually.js';

export function interactionTests(getWorld: () => World): void {
  test('a wrong password is refused, and the right one opens the requested page', async (t) => {
    const { daemon, browser } = getWorld();
    const shown = await openConsole(t, browser, { url: daemon.adminUrl });
    const { page } = shown;
    await page.evaluate(`location.hash = '#/accounts?search=vip'`);
    await page.fill('input[autocomplete=username]', ADMIN.username);
    await page.fill('input[autocomplete=current-password]', 'wrong');
    await page.keyboard.press('Enter');
    await page.waitForSelector('[role=alert] >> text=Wrong user name, password or code');
    await signIn(shown, ADMIN.username, ADMIN.password);
    await page.waitForSelector('h1 >> text=Accounts');
    assert.equal(await page.inputValue('[data-search]'), 'vip');
    await holds(page, `document.activeElement.matches('main h1')`);
  });

  test('Ctrl+K finds accounts, sessions, logins, games and changes, and acts on an account, by keyboard alone', async (t) => {
    const { daemon, open } = getWorld();
    const { page, visit, errors } = await open(t, { width: 320, height: 640 });
    await visit('/accounts');
    const search = async (text: string): Promise<void> => {
      await page.keyboard.press('Control+k');
      await page.waitForSelector('.palette input[role=combobox]:focus');
      await page.keyboard.type(text);
    };
    const active = () =>
      page.evaluate<string>(
        `document.getElementById(document.activeElement.getAttribute('aria-activedescendant'))?.textContent ?? ''`,
      );
    /** Moves to the first option with this text, and runs it. */
    const run = async (group: string, text: string): Promise<void> => {
      await page.waitForSelector(`.palette [role=group]:has-text("${group}") [role=option] >> text=${text}`);
      await page.waitForSelector('.palette [role=status] >> text=/result/');
      for (let step = 0; step < 40 && !(await active()).includes(text); step += 1)
        await page.keyboard.press('ArrowDown');
      assert.ok((await active()).includes(text), text);
      await page.keyboard.press('Enter');
    };
    await page.focus('main h1');
    await search('');
    assert.equal(await active(), 'Overview', 'everything that can be opened, before anything is typed');
    await page.keyboard.press('ArrowUp');
    assert.equal(await active(), 'Who was it', 'the list goes on at its other end');
    await page.keyboard.press('Tab');
    await holds(
      page,
      `document.activeElement === document.body || document.activeElement.closest('.palette')`,
    );
    await page.keyboard.press('Escape');
    await page.waitForSelector('.palette', { state: 'detached' });
    await holds(page, `document.activeElement.matches('main h1')`);

    await search(name(1));
    await page.waitForSelector(`.palette [role=group]:has-text("Sessions") >> text=${name(1)}`);
    await page.waitForSelector(`.palette [role=group]:has-text("Logins") >> text=/Success/`);
    assert.deepEqual(await axeFindings(page), []);
    assert.equal(await isCutOff(page), false);
    await run('Do with this account', 'Suspend');
    await page.waitForSelector('dialog h2 >> text=/Suspend/');
    await page.keyboard.press('Escape');
    await page.waitForSelector('dialog', { state: 'detached' });
    await search(name(1));
    await run('Accounts', name(1));
    await page.waitForSelector(`h1 >> text=${name(1)}`);

    // The palette asks once. The sums of heartbeats are written from time to time.
    await eventually(async () =>
      assert.match((await daemon.api('GET', '/api/v1/heartbeats/sums?range=month')).text, /"arena1"/),
    );
    await search('arena1');
    await run('Heartbeats', 'arena1');
    await page.waitForSelector('h2 >> text=Newest of arena1');
    await daemon.api('PATCH', `/api/v1/accounts/${(await daemon.account(name(6))).AID}`, {
      remarks: 'moved',
    });
    await search(name(6));
    await run('Audit log', 'Changed account');
    await page.waitForSelector('.audit >> text=Changed account');
    await search('yesterday');
    await run('Pages and actions', 'Traffic of yesterday');
    await page.waitForSelector('.chip[aria-pressed=true] >> text=Yesterday');
    assert.deepEqual(errors, []);
  });

  test('keys: / searches, arrows move, x selects, Enter opens, Esc clears, g and a letter open a page', async (t) => {
    const { page, visit } = await getWorld().open(t);
    await visit('/accounts');
    await page.keyboard.press('/');
    await page.keyboard.type('player010');
    await page.waitForSelector('.counts >> text=/^10 of /');
    assert.match(page.url(), /search=player010/);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await settled(page);
    assert.equal(await page.evaluate(`document.activeElement.dataset.row`), '1');
    await page.keyboard.press('x');
    await page.waitForSelector('.bulk-bar >> text=1 selected');
    await page.keyboard.press('Escape');
    await page.waitForSelector('.bulk-bar', { state: 'detached' });
    await page.keyboard.press('Enter');
    await page.waitForSelector(`h1 >> text=${name(101)}`);
    await page.keyboard.press('g');
    await page.keyboard.press('s');
    await page.waitForSelector('h1 >> text=Sessions');
    await page.keyboard.press('?');
    await page.waitForSelector('dialog >> text=Keyboard');
  });

  test('the URL contains filters, sorting and search, and restores them', async (t) => {
    const { page, visit } = await getWorld().open(t);
    await visit('/accounts');
    await page.click('.chip >> text=Expired');
    await page.click('th >> text=Last login');
    await page.waitForSelector('th[aria-sort=descending] >> text=Last login');
    const url = page.url();
    assert.match(url, /expired=true/);
    assert.match(url, /sort=-lastLoginAt/);
    await page.waitForSelector('.counts >> text=of');
    const counts = (await page.textContent('.counts')) ?? '';
    await page.reload();
    await page.waitForSelector('.counts >> text=of');
    await page.waitForSelector('.chip[aria-pressed=true] >> text=Expired');
    await page.waitForSelector('th[aria-sort=descending] >> text=Last login');
    assert.equal((await page.textContent('.counts')) ?? '', counts);
    await page.goBack();
    await page.waitForSelector('th[aria-sort=ascending] >> text=User name');
  });

  test('many accounts are created from a pattern, after a preview that counts taken names', async (t) => {
    const { page, visit } = await getWorld().open(t);
    await visit('/accounts?new=many');
    await page.fill('dialog input >> nth=0', 'batch{01-12}');
    await page.click('dialog button >> text=Create 12');
    await page.waitForSelector('dialog >> text=12 accounts were created');
    await page.click('dialog footer >> text=I have saved it');
    await visit('/accounts?new=many');
    await page.fill('dialog input >> nth=0', 'batch{11-14}');
    await page.waitForSelector('dialog >> text=2 skipped: the user name is taken');
    await page.waitForSelector('dialog button >> text=Create 2');
  });

  test('a bulk action changes every matching account after a preview, and reports skipped accounts', async (t) => {
    const { page, visit } = await getWorld().open(t);
    await visit('/accounts?search=player0');
    await page.check('thead input[type=checkbox]');
    await page.click('text=/Select all \\d/');
    await chooseBulkAction(page, 'Extend');
    await page.waitForSelector('dialog .preview >> text=/accounts will change/');
    await page.waitForSelector('dialog >> text=/skipped: never expires/');
    await page.waitForSelector('dialog button[type=submit] >> text=/^Extend [\\d,]+ accounts$/');
    const box = `(selector) => document.querySelector(selector).getBoundingClientRect().toJSON()`;
    const right = (selector: string) => page.evaluate<number>(`(${box})('${selector}').right`);
    assert.ok((await right('dialog .segments')) <= (await right('dialog .preview')));
    const top = await page.evaluate<number>(`(${box})('dialog').top`);
    await page.click('dialog button[type=submit]');
    await page.waitForSelector('.toast >> text=/Extend: \\d+ done, \\d+ skipped/');
    await holds(page, `document.activeElement.matches('main h1')`);
    await page.check('thead input[type=checkbox]');
    await chooseBulkAction(page, 'Delete');
    await page.waitForSelector('dialog .preview >> text=/accounts will be deleted/');
    // A dialog grows downwards when its preview comes: every dialog begins at the same height.
    assert.equal(await page.evaluate<number>(`(${box})('dialog').top`), top);
    await page.keyboard.press('Escape');
    await visit('/accounts?new=export');
    await page.waitForSelector('dialog >> text=Download');
    assert.equal(await page.evaluate<number>(`(${box})('dialog').top`), top);
  });

  test('all accounts that expire between two days get new passwords, which are shown once', async (t) => {
    const { daemon, open } = getWorld();
    const day = (n: number) => new Date(Date.UTC(2031, 4, n, 12)).toISOString();
    for (const [i, name] of ['first', 'second', 'later'].entries())
      await daemon.api('POST', '/api/v1/accounts', { username: `may-${name}`, expiresAt: day(10 + i * 2) });
    const { page, visit, errors } = await open(t);
    await visit('/accounts?search=may-');
    await page.click('.menu-filter.days summary');
    await page.fill('.menu-filter.days input >> nth=0', '2031-05-10');
    await page.fill('.menu-filter.days input >> nth=1', '2031-05-12');
    await page.waitForSelector('.counts >> text=/^2 of /');
    assert.match(page.url(), /from=2031-05-10&until=2031-05-12/);
    assert.deepEqual(await axeFindings(page), []);
    await page.keyboard.press('Escape');
    await page.check('thead input[type=checkbox]');
    await chooseBulkAction(page, 'New passwords');
    await page.waitForSelector('dialog .preview >> text=2 accounts will change');
    await page.click('dialog button[type=submit]');
    await page.waitForSelector('dialog >> text=2 accounts have new passwords');
    const rows = await page.locator('dialog tbody tr').count();
    const password = (await page.textContent('dialog tbody td code')) ?? '';
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.click('dialog >> text=Save as CSV'),
    ]);
    assert.deepEqual([rows, file.suggestedFilename()], [2, 'accounts.csv']);
    await page.click('dialog footer >> text=I have saved it');
    await page.waitForSelector('.bulk-bar', { state: 'detached' });
    const { AID } = await daemon.account('may-first');
    assert.equal((await daemon.api('POST', `/api/v1/accounts/${AID}/link`, { password })).status, 200);
    assert.deepEqual(errors, []);
  });

  test('the audit log shows a bulk action as one entry with its accounts inside, and like logins it can be limited to days', async (t) => {
    const { daemon, open } = getWorld();
    const [first, second] = await Promise.all([daemon.account(name(40)), daemon.account(name(41))]);
    const limits = { bytesPerSecondDown: 2_000_000 };
    await daemon.api('PATCH', `/api/v1/accounts/${first.AID}`, { limits });
    const body = { ids: [first.AID, second.AID], action: { type: 'disable' }, dryRun: false };
    await daemon.api('POST', '/api/v1/accounts/bulk', body);
    const { page, visit, errors } = await open(t);
    await visit('/audit');
    await page.waitForSelector('.audit >> text=Speed down: 2.00 MB/s');
    const entry = page.locator('.audit > li').first();
    await entry.locator('text=Bulk action on accounts').waitFor();
    assert.match((await entry.textContent()) ?? '', /Action: Disable.*Number: 2/);
    await entry.locator('a >> text=show its changes').click();
    await page.waitForSelector('.counts >> text=/^2 of /');
    await page.waitForSelector(`.audit li:has-text("${name(40)}") >> text=by a bulk action`);
    for (const hash of ['/audit', '/sessions/logins']) {
      await visit(hash);
      await page.click('.days summary');
      await page.fill('.days input >> nth=1', '2026-01-01');
      await page.waitForSelector('.counts >> text=/^0 of /');
      assert.match(page.url(), /until=2026-01-01/);
      await page.click('.days >> text=Any day');
      await page.waitForSelector('.counts >> text=/^[1-9]/');
      await page.keyboard.press('Escape');
    }
    assert.deepEqual(errors, []);
  });

  test('deleting asks for the name and lists what is deleted', async (t) => {
    const { daemon, open } = getWorld();
    const id = await daemon.addAccount('unwanted', 'secret');
    const { page, visit, errors } = await open(t);
    await visit(`/accounts/${id}`);
    await page.click('.danger-zone button');
    await page.waitForSelector('dialog >> text=/heartbeat entr/');
    assert.ok(await page.isDisabled('dialog button[type=submit]'));
    await page.fill('dialog input', 'unwanted');
    await page.click('dialog button[type=submit]');
    await page.waitForSelector('.toast >> text=Deleted');
    await visit('/accounts?search=unwanted');
    await page.waitForSelector('text=No account matches');
    assert.deepEqual(errors, []);
  });

  test('a random, a chosen and the current password are shown in every format, and leave the page with their dialog', async (t) => {
    const { daemon, open } = getWorld();
    const id = await daemon.addAccount('formatted', 'first:pass');
    const { page, visit, errors } = await open(t);
    const showFormats = async (choice: string, password: string | null) => {
      await page.click('.page-head >> text=Password and link');
      await page.click(`dialog .segments >> text=${choice}`);
      if (password !== null) await page.fill('dialog input', password);
      await page.click('dialog button[type=submit]');
    };
    const textOf = async (format: string) => {
      await page.selectOption('dialog .client-formats select', format);
      return page.textContent(`dialog [data-format=${format}]`);
    };
    const { host, port } = daemon.socks;
    await visit(`/accounts/${id}`);
    await showFormats('Current password', 'wrong');
    await page.waitForSelector('dialog [role=alert] >> text=/not the password of the account/');
    await page.fill('dialog input', 'first:pass');
    await page.click('dialog button[type=submit]');
    await page.waitForSelector('dialog .qr');
    assert.equal(await textOf('plain'), `${host}:${port}:formatted:first:pass`);
    assert.match((await textOf('proxifier')) ?? '', /<Password>first:pass<\/Password>/);
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.click('dialog .client-text >> text=Save pulsegate.ppx'),
    ]);
    assert.equal(file.suggestedFilename(), 'pulsegate.ppx');
    assert.deepEqual(await axeFindings(page), []);
    await page.click('dialog footer button');

    await showFormats('New password of your choice', 'p@ss');
    await page.waitForSelector('dialog >> text=/Password and links of/');
    await page.waitForSelector('dialog .qr');
    await page.selectOption('dialog .client-formats select', 'shadowrocket');
    await page.waitForSelector('dialog .notice >> text=cannot represent');
    await page.click('dialog footer button');
    await showFormats('New random password', null);
    const password = (await page.textContent('dialog [data-password]')) ?? '';
    assert.match((await textOf('clash')) ?? '', new RegExp(`"password":"${password}"`));
    const used = await daemon.api('POST', `/api/v1/accounts/${id}/link`, { password });
    assert.equal(used.status, 200, used.text);
    await page.click('dialog footer button');
    await page.waitForSelector('dialog', { state: 'detached' });
    assert.ok(!(await page.content()).includes(password));
    assert.deepEqual(errors, []);
  });

  test('saving an account that someone else has changed is refused, and possible after a confirmation', async (t) => {
    const { daemon, open } = getWorld();
    const { page, visit } = await open(t);
    const id = await daemon.addAccount('shared', 'secret');
    await visit(`/accounts/${id}`);
    await page.click('.page-head >> text=Edit');
    await page.fill('dialog textarea', 'edited here');
    await daemon.api('PATCH', `/api/v1/accounts/${id}`, { remarks: 'edited elsewhere' });
    await page.click('dialog button[type=submit]');
    await page.waitForSelector('dialog >> text=Someone else has changed it in the meantime');
    const [body, conflict] = await page.evaluate<{ bottom: number }[]>(
      `['dialog .dialog-body', 'dialog .failure'].map((one) => document.querySelector(one).getBoundingClientRect().toJSON())`,
    );
    assert.ok(body && conflict && conflict.bottom <= body.bottom + 1, 'the conflict is out of sight');
    await page.waitForSelector('dialog >> text=now edited elsewhere');
    await page.click('dialog footer >> text=Save anyway');
    await page.waitForSelector('dialog', { state: 'detached' });
    await page.waitForSelector('.facts >> text=edited here');
  });

  test('the whitelist page explains its entries, and locks the operator out only after a confirmation', async (t) => {
    const { daemon, open } = getWorld();
    const { page, visit } = await open(t);
    await visit('/settings/whitelist');
    await page.fill('textarea', '10.0.0.0/8, invalid, 10.0.0.0/33');
    await page.waitForSelector('.field.wrong >> text=Not valid: invalid, 10.0.0.0/33. An entry is');
    assert.ok(await page.isDisabled('form.card button[type=submit]'));
    await page.fill('textarea', '10.0.0.0/8');
    await page.waitForSelector('.state.bad >> text=Refused');
    await page.click('form.card button[type=submit]');
    await page.waitForSelector('dialog >> text=This would lock you out');
    await page.keyboard.press('Escape');
    await page.fill('textarea', '127.0.0.1');
    await page.waitForSelector('form.card .state.good');
    await page.click('form.card button[type=submit]');
    await page.waitForSelector('.toast >> text=The whitelist was saved');
    await daemon.api('PUT', '/api/v1/settings/whitelist', { whitelist: '' });
  });

  test('the page contains only the visible ones of a thousand rows while they scroll', async (t) => {
    const { page, visit } = await getWorld().open(t);
    await visit('/accounts?limit=1000');
    await page.waitForSelector('table[aria-rowcount="1001"]');
    const mostRows = await page.evaluate<number>(`new Promise((done) => {
      const main = document.querySelector('main');
      let most = 0;
      const step = (n) => {
        most = Math.max(most, document.querySelectorAll('tbody tr').length);
        main.scrollTop += 400;
        if (n > 0) requestAnimationFrame(() => step(n - 1));
        else done(most);
      };
      step(60);
    })`);
    assert.ok(mostRows < 100, `${mostRows} rows are in the page`);
    await page.evaluate(`document.querySelector('main').scrollTop = 1e6`);
    await page.locator('tr[data-row="999"]').waitFor();
  });

  test('a banner appears while the daemon cannot be reached, and disappears afterwards', async (t) => {
    const { page, visit } = await getWorld().open(t);
    await visit('/sessions');
    await page.context().setOffline(true);
    await page.waitForSelector('.banner >> text=No connection to the daemon');
    await page.context().setOffline(false);
    await page.waitForSelector('.banner', { state: 'detached' });
  });

  test('"does not answer" goes away as soon as the daemon answers, on the page and in a dialog', async (t) => {
    const { page, visit } = await getWorld().open(t);
    await visit('/accounts');
    await page.check('tbody input[type=checkbox] >> nth=0');
    // The dialog itself is loaded while the daemon answers.
    await chooseBulkAction(page, 'Disable');
    await page.waitForSelector('dialog .preview');
    await page.click('dialog footer >> text=Cancel');
    await page.context().setOffline(true);
    await chooseBulkAction(page, 'Disable');
    await page.waitForSelector('dialog .failure >> text=The daemon does not answer');
    await page.waitForSelector('.banner');
    await page.waitForSelector('main > .failure >> text=The daemon does not answer');
    await page.context().setOffline(false);
    await page.waitForSelector('.failure', { state: 'detached' });
    await page.waitForSelector('dialog .preview');
    await page.keyboard.press('Escape');
    await page.click('tbody tr[data-row="0"] a');
    await page.click('button >> text=Password and link');
    await page.waitForSelector('dialog[open]');
    await page.context().setOffline(true);
    // The answer to an earlier request may take the failure away again at once.
    await page.evaluate(`void (globalThis.failed = new Promise((done) =>
      new MutationObserver(() => document.querySelector('dialog .failure') && done())
        .observe(document.body, { childList: true, subtree: true })))`);
    await page.click('dialog button[type=submit]');
    await page.evaluate('globalThis.failed');
    await page.context().setOffline(false);
    await page.waitForSelector('dialog .failure', { state: 'detached' });
  });

  test('a toast replaces the one of the same kind', async (t) => {
    const { page, visit } = await getWorld().open(t);
    await page.context().grantPermissions(['clipboard-write']);
    await visit(`/accounts/${getWorld().accountId}`);
    await page.click('.account-facts summary');
    for (let i = 0; i < 3; i += 1) await page.click('.facts button[aria-label=Copy]');
    await page.waitForSelector('.toast >> text=Copied');
    assert.equal(await page.locator('.toast').count(), 1);
  });

  test('a refused request is explained, and can be repeated', async (t) => {
    const { page } = await getWorld().open(t);
    await page.route('**/api/v1/accounts?*', (route) =>
      route.fulfill({ status: 403, contentType: 'application/json', body: '"IP不在白名单中"' }),
    );
    await page.evaluate(`location.hash = '#/accounts'`);
    await page.waitForSelector('[role=alert] >> text=Not allowed');
    await page.unroute('**/api/v1/accounts?*');
    await page.click('[role=alert] >> text=Try again');
    await page.waitForSelector('table.table');
  });

  test('after the end of the session the sign-in page appears, and returns to the page', async (t) => {
    const shown = await getWorld().open(t);
    await shown.visit('/sessions');
    await shown.page.context().clearCookies();
    await shown.page.waitForSelector('.login');
    await signIn(shown, ADMIN.username, ADMIN.password);
    await shown.page.waitForSelector('h1 >> text=Sessions');
  });
}
