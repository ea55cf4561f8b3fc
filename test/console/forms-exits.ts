// The page of exits: making, changing, testing and removing one, with what the daemon refuses, and its figures.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { eventually } from '../helpers/eventually.js';
import type { FormConsole, Json } from '../helpers/form-console.js';

export function exitFormTests({ daemon, open, api, play }: FormConsole): void {
  describe('the page of exits', () => {
    test('makes an exit, shows who uses it, says what the other side sees, and removes it', async (t) => {
      const shown = await open(t);
      const { page, visit, errors } = shown;
      await visit('/settings/exits');
      await page.waitForSelector('text=No exits yet');
      await page.click('text=New exit');
      await page.locator('dialog input').first().fill('jp jp');
      await page.waitForSelector('dialog >> text=1 to 64 letters, digits');
      assert.ok(await page.locator('dialog button[type=submit]').isDisabled());
      await page.locator('dialog input').first().fill('jp');
      await page.getByLabel('Source addresses').fill('127.0.0.7/8');
      await page.click('dialog button[type=submit]');
      await page.waitForSelector('dialog .field.wrong:has-text("Source addresses")');
      await page.getByLabel('Source addresses').fill('127.0.0.7');
      await page.click('dialog button[type=submit]');
      await page.waitForSelector('tbody .state.good >> text=Up', { timeout: 30_000 });

      const id = await daemon().addAccount('leaver', 'secret');
      await api('PATCH', `/accounts/${id}`, { exit: 'jp' });
      await play(t, 'leaver', 50);
      await page.waitForSelector('tbody >> text=1 / 1', { timeout: 30_000 });
      await page.waitForSelector('tbody >> text=/^\\d+ \\/ \\d+ ms$/');
      await page.waitForSelector('tbody .traffic');
      await page.click('tbody >> text=Test');
      await page.waitForSelector('dialog >> text=The other side sees 127.0.0.7.');
      await page.click('dialog footer >> text=Close');

      await page.click('tbody >> text=Remove');
      await page.click('dialog button[type=submit]');
      await page.waitForSelector('dialog .failure');
      await page.click('dialog footer >> text=Cancel');
      await api('PATCH', `/accounts/${id}`, { exit: null });
      await page.click('tbody >> text=Remove');
      await page.click('dialog button[type=submit]');
      await page.waitForSelector('text=No exits yet');
      // The refused field and the refused removal.
      assert.deepEqual(errors, []);
    });

    test('a changed exit keeps the password that is stored, and is given to a seller', async (t) => {
      const upstreams = [{ proxy: 'http://127.0.0.1:9', username: 'us', password: 'hidden' }];
      await api('POST', '/exits', { name: 'far', upstreams });
      const seller = { username: 'shop', password: 'a-good-password' };
      const { id } = await api('POST', '/operators', {
        name: 'shop',
        password: seller.password,
        role: 'seller',
      });
      const { page, visit, errors } = await open(t);
      await visit('/settings/exits');
      await page.waitForSelector('tbody .state.bad >> text=Down', { timeout: 30_000 });
      await page.click('tbody button.name >> text=far');
      const proxies = page.getByLabel('Proxies');
      assert.equal(await proxies.inputValue(), 'http://us@127.0.0.1:9');
      await proxies.fill('http://us@127.0.0.1:9\nsocks5://kim:new:secret@127.0.0.1:8');
      await page.getByText('Routes by policy').click();
      await page.getByLabel('Packet mark').fill('0');
      await page.waitForSelector('dialog >> text=A whole number from 1 to 4294967295.');
      await page.getByLabel('Packet mark').fill('');
      await page.getByLabel('Network interface').fill('nowhere0');
      await page.getByText('For accounts without an exit').click();
      await page.locator('dialog .scopes >> text=shop').click();
      await page.click('dialog button[type=submit]');
      await page.waitForSelector('dialog .failure');
      await page.getByLabel('Network interface').fill('');
      await page.click('dialog button[type=submit]');
      await page.waitForSelector('tbody .tag >> text=default');
      const stored = await api('GET', '/exits/far');
      assert.deepEqual(
        (stored['upstreams'] as Json[]).map(({ proxy, username, hasPassword }) => [
          proxy,
          username,
          hasPassword,
        ]),
        [
          ['http://127.0.0.1:9', 'us', true],
          ['socks5://127.0.0.1:8', 'kim', true],
        ],
      );
      assert.deepEqual([stored['isDefault'], stored['sellers']], [true, [id]]);
      assert.deepEqual(errors, []);

      // The seller may choose it for its accounts, and sees no page of exits.
      const shop = await open(t, { language: 'zh-CN' }, seller);
      const sold = await daemon().addAccount('sold', 'secret');
      await api('PATCH', `/accounts/${sold}`, { owner: id });
      await shop.visit(`/accounts/${sold}`);
      await shop.page.click('.page-head >> text=编辑');
      const choice = shop.page.locator('dialog .field:has-text("出口") select');
      // The dialog is loaded when it is first opened.
      await choice.waitFor();
      assert.deepEqual(await choice.locator('option').allTextContents(), ['默认', 'far']);
      await shop.visit('/settings/exits');
      await eventually(async () => assert.equal(await shop.page.locator('main >> text=上级代理').count(), 0));
      assert.deepEqual(shop.errors, []);
      await api('PATCH', '/exits/far', { isDefault: false });
      await api('DELETE', '/exits/far');
    });
  });
}
