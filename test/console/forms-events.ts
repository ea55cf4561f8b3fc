// Events in the console: receivers are added and tested, each attempt is shown, and one is sent again; sellers have their own.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { axeFindings } from '../helpers/console-browser.js';
import { assertSigned, startReceiver } from '../helpers/event-receiver.js';
import { eventually } from '../helpers/eventually.js';
import type { FormConsole, Json } from '../helpers/form-console.js';

export function eventFormTests({ daemon, open, api, play, stir }: FormConsole): void {
  const receivers = async () => (await api('GET', '/event-receivers'))['items'] as Json[];

  describe('events', () => {
    test('a receiver is added, tested, gets an event again that it refused, and a new secret', async (t) => {
      const receiver = await startReceiver(t, [500], ({ type }) => type === 'account.created');
      const shown = await open(t);
      const { page, visit, errors } = shown;
      await daemon().addAccount('moves', 'secret');
      await play(t, 'moves', 100);
      await visit('/events');
      await page.waitForSelector('.empty >> text=No receivers yet');
      const reads = await stir(t, shown, /\/accounts\//);
      await page.click('.button >> text=New receiver');
      const url = page.locator('dialog').getByLabel('URL');
      await url.pressSequentially('shop.example', { delay: 700 });
      assert.equal(await url.inputValue(), 'shop.example', `after ${reads()} reads`);
      await page.click('dialog button[type=submit]');
      await page.waitForSelector('dialog .field.wrong >> text=must be an http:// or https:// URL');
      await url.fill(receiver.url);
      // The types of accounts are ticked, and those of sessions are not.
      const group = (name: string) =>
        page.locator('dialog fieldset', { has: page.locator(`legend >> text=${name}`) });
      assert.ok(await group('Accounts').getByLabel('Account created').isChecked());
      assert.ok(!(await group('Sessions').getByLabel('Sessions opened').isChecked()));
      await group('Accounts').getByLabel('Accounts').uncheck();
      assert.ok(await page.locator('dialog button[type=submit]').isDisabled(), 'without a type');
      await group('Accounts').getByLabel('Account created').check();
      await group('Sessions').getByLabel('Sessions', { exact: true }).check();
      assert.deepEqual(await axeFindings(page), []);
      await page.click('dialog button[type=submit]');
      const secret = (await page.locator('dialog code.whole').textContent()) ?? '';
      assert.match(secret, /^whsec_/);
      await page.click('dialog footer >> text=I have saved it');
      await page.waitForSelector('tr >> text=Account created · Sessions opened · Sessions closed');
      assert.deepEqual(
        (await receivers()).map((one) => one['types']),
        [['account.created', 'session.opened', 'session.closed']],
      );

      await page.click('tr button >> text=Test');
      await page.waitForSelector('.toast.good >> text=Delivered: HTTP 204');
      await page.waitForSelector('tr a .state.good >> text=Delivered');
      const [tried] = await receiver.waitFor('test');
      assert.ok(tried);
      assertSigned(tried, secret);

      const id = await daemon().addAccount('bought', 'secret');
      const row = page.locator('tr', { hasText: 'Account created: bought' });
      await row.locator('.state.bad >> text=Failed').waitFor({ timeout: 30_000 });
      assert.equal(await row.locator('a').getAttribute('href'), `#/accounts/${id}`);
      await page.click('.chip >> text=Failed');
      await page.waitForSelector('tr:has-text("Test") td[data-column=about]', { state: 'detached' });
      await row.locator('td[data-column=state]').click();
      await page.waitForSelector('dialog td >> text=HTTP 500');
      assert.deepEqual(await axeFindings(page), []);
      await page.click('dialog button[type=submit] >> text=Send again');
      await page.waitForSelector('.toast >> text=Sending again');
      await receiver.waitFor('account.created', 2);
      await page.waitForSelector('.empty >> text=Nothing sent');
      await page.click('.chip >> text=Failed');
      await row.locator('.state.good >> text=Delivered').waitFor();
      await page.keyboard.press('Escape');
      await row.focus();
      await page.keyboard.press('Enter');
      await page.waitForSelector('dialog tbody tr >> nth=1');
      await page.keyboard.press('Escape');

      await page.click('tr:has-text("Sessions opened ·") a');
      await page.waitForSelector(`.chip[aria-pressed=true] >> text=${receiver.url}`);

      await page.click(`tr button >> text=${receiver.url}`);
      await page.getByLabel('Replace the signing secret').check();
      await page.click('dialog button[type=submit]');
      await page.locator('dialog code.whole').waitFor();
      assert.notEqual(await page.locator('dialog code.whole').textContent(), secret);
      await page.click('dialog footer >> text=I have saved it');
      await page.click(`tr button >> text=${receiver.url}`);
      await page.getByLabel('Send to it').uncheck();
      await page.click('dialog button[type=submit]');
      await page.waitForSelector('tr .state.none >> text=Off');

      await visit('/audit');
      await page.waitForSelector(`li:has-text("Changed receivers of events") ins >> text=${receiver.url}`);
      await visit('/events');
      await page.click('tr button >> text=Remove');
      await page.click('dialog button[type=submit]');
      await page.waitForSelector('.empty >> text=No receivers yet');
      assert.deepEqual(await receivers(), []);
      assert.deepEqual(errors, []);
    });

    test('a seller has receivers of its own, sees the events of its accounts, and why none arrives', async (t) => {
      const seller = { username: 'own-shop', password: 'a-good-password' };
      const { id } = await api('POST', '/operators', {
        name: 'own-shop',
        password: seller.password,
        role: 'seller',
      });
      const { page, visit, errors } = await open(t, { language: 'zh-CN', width: 320 }, seller);
      await page.click('.rail-more summary');
      await page.click('.rail-more a >> text=事件');
      await page.click('.button >> text=新建接收方');
      assert.equal(await page.locator('dialog fieldset').count(), 2, 'accounts and sessions');
      // No seller reaches an address of the machine.
      await page.getByLabel('URL').fill('http://127.0.0.1:1/');
      await page.click('dialog button[type=submit]');
      await page.click('dialog footer >> text=我已保存');
      await page.click('tr button >> text=测试');
      await page.waitForSelector('.toast.bad >> text=没有送达');
      await page.waitForSelector('tr .state.bad >> text=失败');
      await page.locator('tr', { hasText: /^测试/ }).last().focus();
      await page.keyboard.press('Enter');
      await page.waitForSelector('dialog td >> text=its address is not permitted');
      await page.keyboard.press('Escape');
      const sold = await daemon().addAccount('sold-here', 'secret');
      await api('PATCH', `/accounts/${sold}`, { owner: id });
      await api('PATCH', `/accounts/${sold}`, { remarks: 'renamed' });
      const row = page.locator('tr', { hasText: '账号已修改：sold-here' });
      await row.first().waitFor({ timeout: 30_000 });
      await row.first().locator('text=重新发送').click({ timeout: 30_000 });
      await page.waitForSelector('.toast >> text=正在重新发送');
      assert.deepEqual(await axeFindings(page), []);
      assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 320);
      // The administrator sees whose it is.
      const admin = await open(t);
      await admin.visit('/events');
      await admin.page.waitForSelector('tr:has-text("http://127.0.0.1:1/") >> text=own-shop');
      await eventually(async () => assert.equal((await receivers())[0]?.['owner'], 'own-shop'));
      await api('DELETE', `/event-receivers/${(await receivers())[0]?.['id']}`);
      await visit('/events');
      await page.waitForSelector('.empty >> text=还没有接收方');
      assert.deepEqual([errors, admin.errors], [[], []]);
    });
  });
}
