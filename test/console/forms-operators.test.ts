// The console of operators on a real daemon: each role sees the controls that it may use, and no others.
// Only by name: npm run test:console
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { openStore } from '../../src/store/store.js';
import { chooseBulkAction, noBrowser, settled } from '../helpers/console-browser.js';
import { ADMIN } from '../helpers/daemon.js';
import { databaseOf } from '../helpers/database.js';
import { eventually } from '../helpers/eventually.js';
import { type Json, useFormConsole } from '../helpers/form-console.js';

const PASSWORD = 'a-good-password';

describe('the console of operators', { skip: noBrowser }, () => {
  const { daemon, open, api, play } = useFormConsole();

  async function addOperator(role: string, name: string, budget?: Json) {
    await api('POST', '/operators', { name, password: PASSWORD, role, budget });
    return { username: name, password: PASSWORD };
  }

  test('a viewer sees no control that changes something, and no page of a viewer sends a refused request', async (t) => {
    const id = await daemon().addAccount('viewed', 'secret');
    await api('PATCH', `/accounts/${id}`, { limits: { quotaBytes: 1e9 } });
    await play(t, 'viewed', 50);
    await eventually(async () => {
      const { periodBytes } = (await api('GET', `/accounts/${id}`))['usage'] as { periodBytes: number };
      assert.ok(periodBytes > 0);
    });
    // Each page, and a row to wait for before its controls are read.
    const rows = new Map([
      ['/accounts?search=viewed', 'main tbody td >> text=viewed'],
      [`/accounts/${id}`, 'main:has-text("No link yet.") section:has(h2:text("Live sessions (1)")) tbody td'],
      ['/sessions', 'main tbody td >> text=viewed'],
    ]);
    const pages = [...rows.keys()];
    const controlsOf = async ({ page, visit }: { page: Page; visit(hash: string): Promise<void> }) => {
      const found: string[] = [];
      for (const [hash, row] of rows) {
        await visit(hash);
        await page.waitForSelector(row);
        found.push(...(await page.evaluate<string[]>(CONTROLS)));
      }
      return new Set(found);
    };
    const adminControls = await controlsOf(await open(t));
    const shown = await open(t, {}, await addOperator('viewer', 'kim'));
    const { page, visit, errors } = shown;
    const refused: string[] = [];
    page.on('response', (response) => {
      if (response.status() === 403 || response.request().method() !== 'GET') refused.push(response.url());
    });
    const viewerControls = await controlsOf(shown);
    assert.deepEqual([...adminControls].filter((name) => !viewerControls.has(name)).sort(), [
      'Delete account',
      'Edit',
      'End',
      'End all',
      'Extend',
      'Import',
      'Make link',
      'New account',
      'Password and link',
      'Reset usage',
      'Select this page',
      'Select viewed',
      'Select viewed → 127.0.0.1',
      'Send to player',
      'Suspend',
    ]);
    for (const hash of pages) {
      await visit(hash);
      for (let nth = 0; nth < (await page.locator('main button').count()); nth += 1) {
        // A click by script also reaches buttons in closed menus.
        await page.evaluate(`document.querySelectorAll('main button')[${nth}]?.click()`);
        await settled(page);
        const dialog = page.locator('dialog[open]');
        if (await dialog.count()) {
          assert.equal(await dialog.locator('h2').textContent(), 'Export');
          await page.keyboard.press('Escape');
        }
        // A filter or a column heading changes the URL.
        if ((await page.evaluate('location.hash')) !== `#${hash}`) await visit(hash);
      }
    }
    for (const hash of ['/accounts?new=one', '/accounts?new=import', '/settings/whitelist', '/']) {
      await visit(hash);
      assert.equal(await page.locator('dialog[open]').count(), 0, hash);
    }
    await page.evaluate(`location.hash = '/agents'`);
    await page.waitForSelector('main .failure >> text=Your role does not include this');
    assert.deepEqual(refused, []);
    assert.deepEqual(errors, []);
  });

  test('a seller sees the own budget, and a preview shows when it is too small', async (t) => {
    const budget = { accounts: 2, days: 70, bytes: null };
    const { page, visit, errors } = await open(t, {}, await addOperator('seller', 'shop', budget));
    const budgetRegion = page.getByRole('region', { name: 'Your budget' });
    await budgetRegion.locator('text=2 left').waitFor();
    await budgetRegion.locator('text=70 days left').waitFor();
    await page.waitForSelector('.tile:has-text("Active accounts") >> text=of 0 accounts');
    await page.waitForSelector('.tile:has-text("Traffic today") >> text=0 B in 30 days');
    await visit('/accounts');
    await page.waitForSelector('.empty >> text=Create one, or import them from a file.');
    assert.equal(await page.locator('.empty pre').count(), 0, 'a seller has no shell on the server');
    await page.click('.page-head >> text=New account');
    const submit = page.locator('dialog button[type=submit]');
    await page.getByLabel('User name').fill('sold');
    await page.waitForSelector('dialog >> text=an account that never expires needs an unlimited budget');
    assert.ok(await submit.isDisabled(), 'one account that the budget does not cover');
    await page.click('dialog >> text=Many');
    await page.fill('dialog input >> nth=0', 'sold{1-3}');
    await page.click('dialog >> text=in 30 days');
    await page.waitForSelector('dialog .state.bad >> text=Your budget does not cover this');
    await page.waitForSelector('dialog >> text=Accounts: 3 needed, 2 left');
    assert.ok(await submit.isDisabled(), 'more accounts than the budget has');
    await page.fill('dialog input >> nth=0', 'sold{1-2}');
    await page.waitForSelector('dialog .state.good >> text=Your budget covers this');
    await submit.click();
    await page.click('dialog >> text=I have saved it');
    await budgetRegion.locator('text=/^0 left/').waitFor();

    await page.check('thead input[type=checkbox]');
    await chooseBulkAction(page, 'Extend');
    await page.waitForSelector('dialog .state.bad >> text=Your budget does not cover this');
    await page.waitForSelector('dialog >> text=/Days: 60 days needed, 10(.0[0-9])? days left/');
    assert.ok(await submit.isDisabled(), 'more days than the budget has');
    await page.getByRole('textbox', { name: 'Days' }).fill('5');
    await page.waitForSelector('dialog .state.good >> text=Your budget covers this');
    await submit.click();
    await page.waitForSelector('.toast >> text=Extend: 2 done');
    await budgetRegion.locator('text=/^0(.0[0-9])? days left/').waitFor();
    assert.deepEqual(errors, []);
  });

  test('contacts are set for one new account, for many, and for selected accounts after a preview', async (t) => {
    const { page, visit, errors } = await open(t);
    const contactsOf = async (search: string) => {
      const { items } = (await api('GET', `/accounts?search=${search}`)) as { items: Json[] };
      return items.map(({ contacts }) => Object.values(contacts as Json));
    };
    await visit('/accounts?new=one');
    await page.getByLabel('User name').fill('reached');
    await page.click('dialog summary >> text=Contacts');
    await page.getByLabel('E-mail').fill('not an address');
    await page.click('dialog button[type=submit]');
    await page.waitForSelector('dialog [role=alert] >> text=E-mail: must be an e-mail address');
    await page.getByLabel('E-mail').fill('one@example.com');
    await page.getByLabel('Language of notices').selectOption('zh');
    await page.click('dialog button[type=submit]');
    await page.click('dialog >> text=I have saved it');
    assert.deepEqual(await contactsOf('reached'), [['one@example.com', null, 'zh']]);

    await visit('/accounts?new=many');
    await page.click('dialog >> text=A pasted list');
    const list = 'group1,,,,@first\ngroup2\ngroup3,,,wrong';
    await page.locator('dialog textarea').first().fill(list);
    await page.click('dialog summary >> text=Contacts');
    await page.getByRole('textbox', { name: 'Telegram chat id' }).fill('@everyone');
    await page.waitForSelector(
      'dialog >> text=Line 3, group3: not a valid e-mail address or Telegram chat id',
    );
    await page.click('dialog button >> text=Create 2');
    await page.click('dialog >> text=I have saved it');
    assert.deepEqual(await contactsOf('group'), [
      [null, '@first', null],
      [null, '@everyone', null],
    ]);

    await visit('/accounts?search=group');
    await page.check('thead input[type=checkbox]');
    await chooseBulkAction(page, 'Contacts');
    await page.check('dialog label >> text=E-mail');
    await page.locator('dialog .limit-field input[maxlength]').fill('team@example.com');
    await page.waitForSelector(
      'dialog .preview tr:has-text("group1") >> text=/→ E-mail: team@example.com · Telegram chat id: @first/',
    );
    await page.click('dialog button[type=submit]');
    await page.waitForSelector('.toast >> text=Contacts: 2 done');
    assert.deepEqual(await contactsOf('group'), [
      ['team@example.com', '@first', null],
      ['team@example.com', '@everyone', null],
    ]);
    assert.deepEqual(errors, []);
  });

  test('refused patterns, templates and taken names are explained in Chinese', async (t) => {
    const { page, visit, errors } = await open(t, { language: 'zh-CN' });
    const refusal = page.locator('.failure');
    const expectChinese = async (text: string) => {
      await refusal.locator(`text=${text}`).waitFor();
      assert.doesNotMatch(String(await refusal.textContent()), /[a-z]{2,} [a-z]{2,}/i);
    };
    await visit('/settings/games');
    await page.click('text=添加规则');
    const rule = page.locator('section[aria-label="规则 1"]');
    await rule.locator('text=从首包提取').click();
    const pattern = rule.locator('label:has(> span:text-is("从首包提取")) input');
    for (const [typed, text] of [
      ['ID=(', '缺少右括号'],
      ['ID=[', '缺少右方括号'],
      ['ID=a**', '重复符号连用'],
      ['ID=\\y', '不认识的转义'],
      ['ID=(?=x)', '不支持前瞻和后顾'],
    ] as const) {
      await pattern.fill(typed);
      await page.locator('main .button.primary', { hasText: '保存' }).click();
      await expectChinese(text);
    }
    await page.locator('main .button', { hasText: '撤销' }).click();

    await visit('/notices/settings');
    const template = page.locator('main textarea').first();
    await template.fill('{username} 到期：{left}');
    await page.waitForSelector('main >> text=示例：player01 到期：还有 3 天');
    await template.fill('{nobody}');
    await page.locator('main button[type=submit]').click();
    await expectChinese('占位符只能是');
    await page.locator('main .button', { hasText: '撤销' }).click();

    await visit('/operators');
    await page.click('text=新建操作员');
    await page.locator('dialog input').first().fill('admin');
    await page.locator('dialog input[type=password]').fill(PASSWORD);
    await page.click('dialog button[type=submit]');
    await expectChinese('另一个操作员或管理员已使用这个名字');
    await page.keyboard.press('Escape');
    assert.deepEqual(errors, []);
  });

  test('what outlasts the session asks for the password, keeps what was typed, and goes on', async (t) => {
    const store = await openStore(await databaseOf(daemon().dataDir));
    t.after(() => store.close());
    const { page, visit, errors } = await open(t);
    /** The last confirmation was long ago. */
    const unconfirm = async () => {
      for (const { hash } of await store.consoleSessions.all())
        await store.consoleSessions.confirmed(hash, 0);
      const until = `fetch('/api/v1/me').then((answer) => answer.json()).then((me) => me.confirmedUntil)`;
      await eventually(async () => assert.equal(await page.evaluate(until), null));
    };
    const title = page.locator('dialog[open] h2', { hasText: 'Confirm that it is you' });
    await visit('/operators');
    await unconfirm();
    await page.click('text=New operator');
    await page.locator('dialog input').first().fill('late');
    await page.locator('dialog input[type=password]').fill(PASSWORD);
    await page.click('dialog button[type=submit]');
    await title.waitFor();
    await page.keyboard.press('Escape');
    await page.waitForSelector('dialog >> text=Nothing was changed. Try again, and enter your password.');
    assert.equal(await page.locator('dialog input').first().inputValue(), 'late');
    await page.click('dialog button[type=submit]');
    await title.waitFor();
    await page.keyboard.type('guess');
    await page.keyboard.press('Enter');
    await page.waitForSelector('dialog >> text=is not the current password');
    await page.locator('dialog input[type=password]').last().fill(ADMIN.password);
    await page.keyboard.press('Enter');
    await page.waitForSelector('main td >> text=late');

    await visit('/settings/backup');
    await unconfirm();
    await page.click('a[download]');
    await title.waitFor();
    await page.keyboard.type(ADMIN.password);
    const download = page.waitForEvent('download');
    await page.keyboard.press('Enter');
    assert.match((await download).suggestedFilename(), /^pulsegate-.*\.db$/);
    assert.deepEqual(
      errors.filter((error) => !/status of 40[03]/.test(error)),
      [],
    );
  });
});

/** A script for the browser that returns the name of each control of the page. */
const CONTROLS = `[...document.querySelectorAll('main :is(button, a.button, input[type=checkbox])')].map((one) =>
  one.textContent.trim() || one.getAttribute('aria-label') || one.type)`;
