// What an operator who sells access does all day: sell an account and send it, and act on it from its row. The clicks are counted.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { NO_PLAN_LIMITS } from '../../src/core/accounts/plans/plans.js';
import { axeFindings, type ConsolePage, holds } from '../helpers/console-browser.js';
import type { FormConsole } from '../helpers/form-console.js';
import { startSmtpServer } from '../helpers/smtp-server.js';
import { connectThrough } from '../helpers/socks-client.js';
import { echo, startTarget } from '../helpers/targets.js';

/** Counts the presses of a pointer on the page from now on. */
async function countClicks(page: Page): Promise<() => Promise<number>> {
  await page.evaluate(`
    top.clicks = 0;
    document.addEventListener('pointerdown', () => { top.clicks += 1; }, true);
  `);
  return () => page.evaluate<number>('top.clicks');
}

export function sellingTests({ daemon, open, api, saveNotices }: FormConsole): void {
  /** Copies the message of the open dialog, and returns what is on the clipboard. */
  async function copyMessage(page: Page): Promise<string> {
    await page.click('dialog >> text=Copy message');
    await page.waitForSelector('.toast >> text=Copied');
    return page.evaluate<string>('navigator.clipboard.readText()');
  }

  describe('an account is sold', () => {
    test('for a month and sent with four clicks and its name; what is sent lets the player in', async (t) => {
      // Before the window opens: an open one learns of it a moment later.
      await api('PUT', '/settings/public-address', { host: 'gate.example.com', port: 10_801 });
      const { page, visit, errors } = await open(t);
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      await visit('/accounts');
      const clicks = await countClicks(page);
      await page.click('.page-head >> text=New account');
      await page.waitForSelector('dialog input:focus');
      await page.keyboard.type('sold-1');
      await page.click('dialog .chip >> text=30 days');
      await page.click('dialog button[type=submit]');
      const sent = await copyMessage(page);
      assert.equal(await clicks(), 4);
      const day = new Date(Date.now() + 30 * 86_400_000).getFullYear();
      const parts = new RegExp(
        `^您的代理账号已开通\n服务器（SOCKS5）：gate.example.com:10801\n用户名：sold-1\n密码：(\\S+)\n到期时间：${day}-\\d\\d-\\d\\d \\d\\d:\\d\\d（Asia/Shanghai）\n一键配置和查询：(http\\S+)$`,
      );
      assert.match(sent, parts, 'without the line of the plan, of which there is none');
      const [, password = '', link = ''] = parts.exec(sent) ?? [];
      const target = await startTarget(t, echo);
      const player = await connectThrough(
        { port: daemon().socks.port, username: 'sold-1', password },
        '127.0.0.1',
        target.port,
      );
      player.destroy();
      assert.equal((await fetch(`${link}?format=clash`)).status, 200);
      assert.equal(await page.locator('dialog .qr:visible').count(), 1);
      assert.deepEqual(await axeFindings(page), []);
      // What was copied is kept: nothing asks.
      await page.keyboard.press('Escape');
      await page.waitForSelector('dialog', { state: 'detached' });
      assert.deepEqual(errors, []);
    });

    test('in the language of its player and by the operator’s text, of which unknown values are refused', async (t) => {
      const { page, visit, errors } = await open(t, { width: 320 });
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      await visit('/notices/settings');
      const text = page.getByLabel('With a new account · English');
      await text.fill('Hello {username}\nuntil {expires}\nwith {passwort}');
      await page.click('form button[type=submit]');
      const allowed = '{address} {username} {password} {expires} {plan} {link}';
      await page.waitForSelector(`.field.wrong >> text=only these placeholders: ${allowed}`);
      await text.fill('Hello {username}\nuntil {expires}\nwith {password}\nby {link}');
      await page.click('form button[type=submit]');
      await page.waitForSelector('.toast >> text=Saved');
      assert.equal(((await api('GET', '/settings/notices'))['handover'] as { zh: unknown }).zh, null);
      const id = await daemon().addAccount('sold-2', 'secret');
      await api('PATCH', `/accounts/${id}`, { contacts: { language: 'en' } });
      await visit(`/accounts/${id}`);
      await page.click('.page-head >> text=Send to player');
      await page.click('dialog >> text=Make link');
      await page.click('dialog button[type=submit]');
      assert.match(await copyMessage(page), /^Hello sold-2\nuntil never\nby http\S+\/sub\/\S+$/);
      await page.click('dialog .segments >> text=Chinese');
      assert.match(await copyMessage(page), /用户名：sold-2\n到期时间：长期有效\n/);
      assert.deepEqual(await axeFindings(page), []);
      assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 320);
      assert.deepEqual(errors, []);
    });
  });

  test('the message of an account goes to its player by e-mail with one click', async (t) => {
    const mail = await startSmtpServer(t, { user: 'gate', password: 'mail-password' });
    const server = { host: '127.0.0.1', port: mail.port, security: 'none', from: 'gate@example.com' };
    await saveNotices({ email: { ...server, user: 'gate', password: 'mail-password', players: true } });
    const { page, visit, errors } = await open(t);
    const id = await daemon().addAccount('mailed', 'secret');
    await api('PATCH', `/accounts/${id}`, { contacts: { email: 'player@example.com', language: 'en' } });
    await visit(`/accounts/${id}`);
    await page.click('.page-head >> text=Send to player');
    await page.click('dialog >> text=Make link');
    await page.click('dialog button[type=submit]');
    await page.click('dialog >> text=Send by E-mail');
    await page.waitForSelector('.toast >> text=Message sent');
    assert.deepEqual(
      mail.received.map(({ to }) => to),
      ['player@example.com'],
    );
    assert.match(mail.received[0]?.content ?? '', /mailed/);
    assert.deepEqual(await axeFindings(page), []);
    // What was sent is kept: nothing asks.
    await page.keyboard.press('Escape');
    await page.waitForSelector('dialog', { state: 'detached' });
    assert.deepEqual(errors, []);
  });

  describe('from the row of an account', () => {
    /** Opens the list with the one account, and returns its row, in which the pointer is. */
    async function rowOf({ page, visit }: Pick<ConsolePage, 'page' | 'visit'>, username: string) {
      await visit(`/accounts?search=${username}`);
      const row = page.locator(`tr[data-row="0"]:has-text("${username}")`);
      await row.waitFor();
      await row.hover();
      return row;
    }

    test('it is renewed by its plan with two clicks', async (t) => {
      const shown = await open(t);
      const { page, errors } = shown;
      const { plans } = (await api('GET', '/settings/plans')) as { plans: object[] };
      const plan = { name: 'row-month', days: 30, startsAtFirstLogin: false, limits: NO_PLAN_LIMITS };
      await api('PUT', '/settings/plans', { plans: [...plans, plan] });
      await api('POST', '/accounts', { username: 'row-renewed', plan: plan.name });
      const row = await rowOf(shown, 'row-renewed');
      const clicks = await countClicks(page);
      await row.getByRole('button', { name: 'Renew' }).click();
      await page.click('dialog button[type=submit]:enabled');
      await page.waitForSelector('.toast >> text=Apply plan: 1 done');
      assert.equal(await clicks(), 2);
      await page.waitForSelector('tr[data-row="0"] >> text=in 60 days');
      assert.deepEqual(errors, []);
    });

    test('it is suspended with two clicks and a reason, which the page of the player shows', async (t) => {
      const shown = await open(t);
      const { page, visit, errors } = shown;
      const id = await daemon().addAccount('row-suspended', 'secret');
      const { url } = (await api('POST', `/accounts/${id}/subscription`)) as { url: string };
      const row = await rowOf(shown, 'row-suspended');
      const clicks = await countClicks(page);
      await row.getByRole('button', { name: 'Suspend' }).click();
      await page.waitForSelector('dialog input:focus');
      await page.keyboard.type('unpaid since May');
      await page.waitForSelector('dialog button[type=submit]:enabled');
      assert.deepEqual(await axeFindings(page), []);
      await page.click('dialog button[type=submit]:enabled');
      await page.waitForSelector('.toast >> text=Suspend: 1 done');
      assert.equal(await clicks(), 2);
      await page.waitForSelector('tr[data-row="0"] .state >> text=Suspended');
      await visit(`/accounts/${id}`);
      await page.waitForSelector('.diagnosis >> text=Suspended until further notice: unpaid since May');
      const named = await fetch(`${url}?format=clash`);
      assert.match(await named.text(), /已暂停 · Suspended: unpaid since May/);
      const player = await page.context().newPage();
      await player.goto(url);
      await player.waitForSelector('main >> text=unpaid since May');
      await player.close();
      await page.click('.diagnosis >> text=Lift suspension');
      await page.click('dialog button[type=submit]:enabled');
      await page.waitForSelector('.diagnosis >> text=The account is enabled');
      assert.deepEqual(errors, []);
    });

    test('everything can be done by keyboard alone, and Esc in a dialog keeps the selection', async (t) => {
      const shown = await open(t);
      const { page, errors } = shown;
      await daemon().addAccount('row-keys', 'secret');
      const row = await rowOf(shown, 'row-keys');
      await page.mouse.move(0, 0);
      await row.focus();
      await page.keyboard.press('x');
      await page.waitForSelector('.bulk-bar');
      // The checkbox of the row, then its actions. Without an end there is nothing to renew.
      for (const label of [null, 'Send to player', 'Suspend', 'Actions on row-keys']) {
        await page.keyboard.press('Tab');
        if (label !== null) await holds(page, `document.activeElement.ariaLabel === '${label}'`);
      }
      await page.keyboard.press('Enter');
      await page.waitForSelector('.row-actions .menu');
      assert.deepEqual(await axeFindings(page), []);
      await page.keyboard.press('Tab');
      await holds(page, `document.activeElement.textContent === 'Send to player'`);
      await page.keyboard.press('Enter');
      const message = page.locator('dialog [data-message]');
      await message.waitFor();
      assert.match((await message.textContent()) ?? '', /用户名：row-keys\n到期时间：长期有效$/);
      await page.keyboard.press('Escape');
      await message.waitFor({ state: 'detached' });
      assert.equal(await row.getAttribute('aria-selected'), 'true');
      await page.keyboard.press('Escape');
      await page.waitForSelector('.bulk-bar', { state: 'detached' });
      assert.deepEqual(errors, []);
    });

    test('the menu of a row fits the smallest phone', async (t) => {
      const shown = await open(t, { width: 320 });
      const { page, errors } = shown;
      await daemon().addAccount('row-phone', 'secret');
      const row = await rowOf(shown, 'row-phone');
      await row.locator('summary').click();
      const entry = page.locator('.row-actions .menu >> text="Disable"');
      const box = await entry.boundingBox();
      assert.ok(box && box.x >= 0 && box.x + box.width <= 320);
      assert.deepEqual(await axeFindings(page), []);
      await entry.click();
      await page.click('dialog button[type=submit]:enabled');
      await page.waitForSelector('tr[data-row="0"] .state >> text=Disabled');
      assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 320);
      assert.deepEqual(errors, []);
    });
  });
}
