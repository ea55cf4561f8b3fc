// Forms of accounts in the console, on a real daemon.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { chooseBulkAction } from '../helpers/console-browser.js';
import { eventually } from '../helpers/eventually.js';
import type { FormConsole, Json } from '../helpers/form-console.js';

export function accountFormTests({ daemon, open, api, play, stir }: FormConsole): void {
  describe('forms of accounts', () => {
    test('tags are stored as typed although the page reloads, set for many accounts after a preview, and filter the list', async (t) => {
      const shown = await open(t);
      const { page, visit, errors } = shown;
      const id = await daemon().addAccount('tagged1', 'secret');
      await daemon().addAccount('tagged2', 'secret');
      await play(t, 'tagged1', 50);
      await visit(`/accounts/${id}`);
      const reads = await stir(t, shown, new RegExp(`/accounts/${id}$`));
      await page.click('.page-head >> text=Edit');
      const field = page.locator('dialog label:has(> span:text-is("Tags")) input');
      await field.pressSequentially('vip，月付', { delay: 200 });
      await eventually(() => assert.ok(reads() >= 1));
      assert.equal(await field.inputValue(), 'vip，月付');
      await page.click('dialog button[type=submit]');
      await page.waitForSelector('.facts a.tag >> text=月付');
      assert.deepEqual((await api('GET', `/accounts/${id}`))['tags'], ['vip', '月付']);

      await visit('/accounts?search=tagged');
      await page.check('thead input[type=checkbox]');
      await chooseBulkAction(page, 'Tags');
      await page.click('dialog .chips >> text=+ vip >> nth=0');
      await page.locator('dialog label:has(> span:text-is("Remove")) input').fill('月付');
      await page.waitForSelector('dialog .preview tr:has-text("tagged2") >> text=Tags: — → Tags: vip');
      await page.waitForSelector(
        'dialog .preview tr:has-text("tagged1") >> text=Tags: vip, 月付 → Tags: vip',
      );
      await page.click('dialog button[type=submit]');
      await page.waitForSelector('.toast >> text=Tags: 2 done');
      await visit('/accounts');
      await page.click('.tag-filter summary');
      await page.click('.tag-filter .menu >> text=vip');
      await page.waitForSelector('.page-head .counts >> text=/2 of/');
      const { items } = (await api('GET', '/accounts?tag=vip')) as { items: Json[] };
      assert.deepEqual(
        items.map(({ username }) => username),
        ['tagged1', 'tagged2'],
      );
      assert.deepEqual(errors, []);
    });

    test('an account is renamed while its player transfers data, and a taken name is refused', async (t) => {
      const shown = await open(t, { language: 'zh-CN' });
      const { page, visit, errors } = shown;
      const id = await daemon().addAccount('renamed1', 'secret');
      await daemon().addAccount('renamed2', 'secret');
      await play(t, 'renamed1', 50);
      await visit(`/accounts/${id}`);
      await page.waitForSelector('.state.good >> text=在线');
      const reads = await stir(t, shown, new RegExp(`/accounts/${id}$`));
      await page.click('.page-head >> text=编辑');
      const field = page.locator('dialog label:has(> span:text-is("用户名")) input');
      await field.fill('renamed');
      await field.press('End');
      await field.pressSequentially('2', { delay: 200 });
      await page.waitForSelector('dialog >> text=/个在线会话会断开/');
      await eventually(() => assert.ok(reads() >= 1));
      await page.click('dialog button[type=submit]');
      await page.waitForSelector('dialog [role=alert] >> text=该用户名已存在');
      await field.fill('新名字');
      const remarks = page.locator('dialog textarea').first();
      await remarks.fill('长'.repeat(4_001));
      await page.click('dialog button[type=submit]');
      await page.waitForSelector('dialog [role=alert] >> text=备注：最多 4,000 个字符');
      await remarks.fill('');
      await page.click('dialog button[type=submit]');
      await page.waitForSelector('h1 >> text=新名字');
      assert.equal((await api('GET', `/accounts/${id}`))['username'], '新名字');
      assert.deepEqual(errors, []);
    });

    test('what the daemon refuses is shown beside its field, which gets the focus, and a failure to send comes into view', async (t) => {
      const { page, visit, errors } = await open(t, { width: 1366, height: 657 });
      const id = await daemon().addAccount('refused1', 'secret');
      await visit(`/accounts/${id}`);
      await page.click('.page-head >> text=Edit');
      const clients = page.getByLabel('Allowed clients');
      await clients.fill('10.0.0.1\nhome');
      await page.locator('dialog input').first().fill('refused2');
      const isInView = (selector: string) =>
        page.evaluate<boolean>(`(() => {
          const [body, one] = ['dialog .dialog-body', '${selector}'].map((e) => document.querySelector(e).getBoundingClientRect());
          return one.top >= body.top - 1 && one.bottom <= body.bottom + 1;
        })()`);
      await page.click('dialog button[type=submit]');
      await page.waitForSelector('dialog .field.wrong:has-text("Allowed clients") >> text="home" is neither');
      assert.equal(await page.evaluate('document.activeElement.value'), '10.0.0.1\nhome');
      assert.equal(await clients.getAttribute('aria-invalid'), 'true');
      assert.ok(await isInView('dialog .field.wrong'));
      await clients.fill('10.0.0.1');
      // All requests: the answer to another one would remove the failure.
      await page.route('**/api/v1/**', (route) => route.abort());
      await page.click('dialog button[type=submit]');
      await page.waitForSelector('dialog .failure >> text=The daemon does not answer');
      assert.equal(await page.locator('dialog .field.wrong').count(), 0);
      assert.ok(await isInView('dialog .failure'));
      await page.unroute('**/api/v1/**');
      await page.click('dialog button[type=submit]');
      await page.waitForSelector('h1 >> text=refused2');
      assert.deepEqual(errors, []);
    });

    for (const texts of [
      {
        language: 'en',
        edit: 'Edit',
        label: 'Addresses without password',
        invalid:
          /Addresses without password: "203\.0\.113" is neither an address \(203\.0\.113\.7\) nor a network/,
        wide: /Addresses without password: 0\.0\.0\.0\/0 is too wide: at least \/8 \(IPv4\) or \/16 \(IPv6\)/,
        taken:
          /Addresses without password: 198\.51\.100\.0\/24 overlaps an address of the account "neighbour-en"/,
      },
      {
        language: 'zh-CN',
        edit: '编辑',
        label: '免密地址',
        invalid: /免密地址："203\.0\.113" 不是地址（203\.0\.113\.7）或网段/,
        wide: /免密地址：网段 0\.0\.0\.0\/0 过大：IPv4 至少 \/8，IPv6 至少 \/16/,
        taken: /免密地址：198\.51\.100\.0\/24 与账号 "neighbour-zh-CN" 的免密地址重叠/,
      },
    ] as const) {
      const { language } = texts;
      test(`addresses are stored as typed although the page reloads, and invalid, too wide and taken ones are refused (${language})`, async (t) => {
        const shown = await open(t, { language });
        const { page, visit, errors } = shown;
        const id = await daemon().addAccount(`console-${language}`, 'secret');
        const neighbour = await daemon().addAccount(`neighbour-${language}`, 'secret');
        const neighbourChange = { authorizedAddresses: ['198.51.100.7'] };
        await daemon().api('PATCH', `/api/v1/accounts/${neighbour}`, neighbourChange);
        await play(t, `console-${language}`, 50);
        await visit(`/accounts/${id}`);
        const reads = await stir(t, shown, new RegExp(`/accounts/${id}$`));
        await page.click(`.page-head >> text=${texts.edit}`);
        const field = page.locator(`dialog label:has(> span:text-is("${texts.label}")) textarea`);
        const saveAndExpect = async (text: string, message: RegExp) => {
          await field.fill(text);
          await page.click('dialog button[type=submit]');
          await page.locator('dialog [role=alert]', { hasText: message }).waitFor();
        };
        await field.pressSequentially('203.0.113.7\n2001:db8:1::/48；203.0.113.7', { delay: 100 });
        await eventually(() => assert.ok(reads() >= 1));
        assert.equal(await field.inputValue(), '203.0.113.7\n2001:db8:1::/48；203.0.113.7');
        await saveAndExpect('203.0.113', texts.invalid);
        await saveAndExpect('0.0.0.0/0', texts.wide);
        await saveAndExpect('198.51.100.0/24', texts.taken);
        await field.fill('203.0.113.7\n2001:db8:1::/48；203.0.113.7');
        await page.click('dialog button[type=submit]');
        await page.waitForSelector('.facts dd >> text=203.0.113.7, 2001:db8:1::/48');
        const saved = await api('GET', `/accounts/${id}`);
        assert.deepEqual(saved['authorizedAddresses'], ['203.0.113.7', '2001:db8:1::/48']);
        // The test in the next language saves the same addresses.
        await daemon().api('PATCH', `/api/v1/accounts/${id}`, { authorizedAddresses: [] });
        await daemon().api('PATCH', `/api/v1/accounts/${neighbour}`, { authorizedAddresses: [] });
        assert.deepEqual(errors, []);
      });
    }

    test('on a phone, dialogs of an account and of a session are no wider than the window', async (t) => {
      const { page, visit, errors } = await open(t, { width: 390 });
      const id = await daemon().addAccount('narrow', 'secret');
      await play(t, 'narrow', 60_000);
      const fits = () =>
        page.evaluate<boolean>(`(() => {
          const parts = document.querySelectorAll('dialog[open] :is(.dialog-body, .segments)');
          return [...parts].every((part) => part.scrollWidth <= part.clientWidth);
        })()`);
      await visit(`/accounts/${id}`);
      await page.click('.page-head >> text=Password and link');
      await page.waitForSelector('dialog .segments >> text=Current password');
      assert.ok(await fits(), 'choices are cut off');
      await page.keyboard.press('Escape');
      await page.waitForSelector('dialog', { state: 'detached' });
      await visit('/sessions?search=narrow');
      await page.click('tbody button >> text=End');
      await page.waitForSelector('dialog >> text=narrow → 127.0.0.1');
      assert.ok(await fits(), 'the text does not wrap');
      assert.deepEqual(errors, []);
    });

    test('accounts are created and renewed by a new plan, after a preview of every value', async (t) => {
      const { page, visit, errors } = await open(t);
      await visit('/plans');
      await page.click('text=New plan');
      await page.fill('dialog input >> nth=0', 'Month');
      await page.getByLabel('Traffic quota (GB)').pressSequentially('50.5', { delay: 100 });
      await page.getByLabel('Maximum client addresses').fill('2');
      await page.click('dialog button[type=submit]');
      await page.waitForSelector('td >> text=50.5 GB per month');
      await visit('/accounts?new=many');
      await page.fill('dialog input >> nth=0', 'by-plan-{1-2}');
      await page.click('dialog .segments button >> text="Month"');
      await page.waitForSelector('dialog >> text=/30 days · Maximum client addresses/');
      assert.equal(
        await page.locator('dialog input[type=datetime-local]').count(),
        0,
        'the plan sets the expiry',
      );
      await page.click('dialog button >> text=Create 2');
      await page.click('dialog >> text=I have saved it');
      await visit('/accounts?search=by-plan');
      // From here on, no plans can be read: the bar has its buttons from its first appearance.
      await page.route('**/api/v1/settings/plans', () => undefined);
      await page.check('thead input[type=checkbox]');
      await page.waitForSelector('.bulk-bar >> text=Apply plan');
      await page.unroute('**/api/v1/settings/plans');
      await chooseBulkAction(page, 'Apply plan');
      const row = page.locator('dialog .preview tr:has-text("by-plan-2")');
      await row.locator('text=in 60 days').waitFor();
      await row.locator('text=Maximum client addresses: 2').waitFor();
      await row.locator('text=50.5 GB per month').waitFor();
      await page.click('dialog button[type=submit]');
      await page.waitForSelector('.toast >> text=Apply plan: 2 done');
      const { items } = (await api('GET', '/accounts?search=by-plan')) as { items: Json[] };
      for (const { plan, expiresAt, limits } of items) {
        assert.deepEqual([plan, (limits as Json)['quotaBytes']], ['Month', 50.5e9]);
        assert.equal(Math.round((Date.parse(String(expiresAt)) - Date.now()) / 86_400_000), 60);
      }
      assert.deepEqual(errors, []);
    });

    test('a pasted list is read by the separator that it has, with or without a heading, and may be typed slowly', async (t) => {
      const { page, visit, errors } = await open(t);
      await daemon().addAccount('moving', 'secret');
      await play(t, 'moving', 100);
      await visit('/accounts?new=many');
      await page.click('dialog >> text=A pasted list');
      const area = page.locator('dialog textarea').first();
      await area.pressSequentially('slow;pw 1', { delay: 700 });
      assert.equal(await area.inputValue(), 'slow;pw 1');
      const rows = () =>
        page
          .locator('dialog .scroll tbody tr')
          .evaluateAll((all) =>
            all.map((row) => [...row.children].map((cell) => cell.textContent).join('|')),
          );
      const isRead = async (text: string, expected: readonly string[], separator: string) => {
        await area.fill(text);
        await eventually(async () => assert.deepEqual(await rows(), expected, text));
        await page.waitForSelector(`dialog option >> text="recognised: ${separator}"`, { state: 'attached' });
      };
      await isRead('slow;pw 1\nother；x', ['slow|pw 1', 'other|x'], 'semicolon');
      await isRead('a,b,"c, d"\ne，f', ['a|b|c, d', 'e|f|—'], 'comma');
      await isRead('a\t\tnote\nb\tx', ['a|random|note', 'b|x|—'], 'tab');
      await isRead('a:b\nc:d', ['a|b', 'c|d'], 'colon');
      await isRead('a b\nc  d some words', ['a|b|—', 'c|d|some words'], 'blank');
      await isRead('a\nb', ['a|random', 'b|random'], 'comma');
      await isRead('用户名,邮箱,密码\nann,a@b.example,pw', ['ann|pw|a@b.example'], 'comma');
      await page.uncheck('dialog >> text=The first line is a heading');
      await eventually(async () => assert.equal((await rows()).length, 2));
      await isRead('user,secret', ['user|secret'], 'comma');
      await area.fill('a:b c');
      await page.selectOption('dialog select >> nth=0', ' ');
      await eventually(async () => assert.deepEqual(await rows(), ['a:b|c']));
      assert.deepEqual(errors, []);
    });

    test('a wrong line of a pasted list is named, and it alone is left out', async (t) => {
      const { page, visit, errors } = await open(t, { width: 390 });
      await daemon().addAccount('taken', 'secret');
      await visit('/accounts?new=many');
      await page.click('dialog >> text=A pasted list');
      const long = 'n'.repeat(256);
      const list = `good1,pw-1\ntaken,x\n,nobody\n${long},x\n\ngood2,pw-2,note,not-mail\ngood3,${'密'.repeat(86)}\ngood1,again\ngood4`;
      await page.locator('dialog textarea').first().fill(list);
      await page.waitForSelector('dialog .preview >> text=2 accounts will be created');
      const named = await page.locator('dialog .refused-lines li').allTextContents();
      assert.deepEqual(named, [
        'Line 2, taken: the user name is taken',
        'Line 3, —: not a valid user name',
        `Line 4, ${long}: not a valid user name`,
        'Line 6, good2: not a valid e-mail address or Telegram chat id',
        'Line 7, good3: not a valid password',
        'Line 8, good1: listed twice',
      ]);
      const fits = `[...document.querySelectorAll('dialog[open] .dialog-body')].every((one) => one.scrollWidth <= one.clientWidth)`;
      assert.ok(await page.evaluate<boolean>(fits));
      await page.click('dialog button >> text=Create 2 accounts');
      await page.waitForSelector('dialog >> text=2 accounts were created');
      const { items } = (await api('GET', '/accounts?search=good')) as { items: Json[] };
      assert.deepEqual(
        items.map(({ username }) => username),
        ['good1', 'good4'],
      );
      assert.deepEqual(errors, []);
    });

    test('a name or password that is too long says so, and a past expiry asks', async (t) => {
      const { page, visit, errors } = await open(t);
      await visit('/accounts?new=one');
      await page.getByLabel('User name').fill('名'.repeat(86));
      await page.waitForSelector('dialog >> text=Too long: 258 bytes, at most 255 are possible.');
      const submit = page.locator('dialog button[type=submit]').first();
      assert.ok(await submit.isDisabled());
      assert.equal(await page.getByLabel('User name').inputValue(), '名'.repeat(86), 'nothing is cut off');
      await page.getByLabel('User name').fill('too-late');
      await page.fill('dialog input[type=datetime-local]', '2024-01-01T10:00');
      await submit.click();
      await page.waitForSelector('dialog >> text=Create an expired account?');
      await page.click('dialog:has-text("Create an expired account?") >> nth=-1 >> text=Cancel');
      assert.equal((await api('GET', '/accounts?search=too-late'))['matched'], 0);
      await submit.click();
      await page.click('dialog >> text=Create anyway');
      await page.waitForSelector('dialog >> text=The account is ready');
      const { items } = (await api('GET', '/accounts?search=too-late')) as { items: Json[] };
      assert.equal(items[0]?.['isExpired'], true);
      assert.deepEqual(errors, []);
    });

    test('names and passwords are not broken where they are copied and compared', async (t) => {
      const { page, visit } = await open(t, { width: 390 });
      const username = `some-player-with-a-long-name-${'x'.repeat(40)}`;
      await visit('/accounts?new=one');
      await page.getByLabel('User name').fill(username);
      await page.getByLabel('Password').fill(`a-password-${'with-dashes-'.repeat(8)}end`);
      await page.click('dialog button[type=submit]');
      await page.waitForSelector('dialog >> text=The account is ready');
      const lines = (selector: string) =>
        page.evaluate<number>(`(() => {
          const range = document.createRange();
          range.selectNodeContents(document.querySelector('${selector}'));
          return new Set([...range.getClientRects()].filter(({ width }) => width > 0).map(({ top }) => Math.round(top))).size;
        })()`);
      for (const selector of ['dialog [data-password]', 'dialog .facts code', 'dialog [data-format]'])
        assert.equal(await lines(selector), 1, selector);
      await page.click('dialog footer >> text=I have saved it');
      await visit(`/accounts?search=${username}`);
      await page.click('tbody a');
      await page.waitForSelector('.diagnosis');
      assert.equal(await lines('h1'), 1, 'the heading');
    });
  });
}
