// Settings that two tabs change at the same time, and their entries in the audit log.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { NO_PLAN_LIMITS } from '../../src/core/accounts/plans/plans.js';
import { eventually } from '../helpers/eventually.js';
import type { FormConsole, Json } from '../helpers/form-console.js';

const planOf = (name: string, days: number) => ({
  name,
  days,
  startsAtFirstLogin: false,
  limits: NO_PLAN_LIMITS,
  exit: null,
});

export function sharedFormTests({ daemon, open, api, saveNotices }: FormConsole): void {
  describe('settings that two tabs save', () => {
    test('keep the fields that each tab has changed (notices)', async (t) => {
      const { page, visit, errors } = await open(t);
      await visit('/notices/settings');
      const perMinute = page.getByLabel('Messages a minute, each channel');
      await perMinute.fill('7');
      await saveNotices({ historyDays: 77, email: { port: 2525 } });
      await page.click('form button[type=submit]');
      await page.waitForSelector('.toast >> text=Saved');
      const { perMinute: stored, historyDays, email } = await api('GET', '/settings/notices');
      assert.deepEqual([stored, historyDays, (email as Json)['port']], [7, 77, 2525]);
      await eventually(async () =>
        assert.equal(await page.getByLabel('Keep the history (days)').inputValue(), '77'),
      );
      assert.deepEqual(errors, []);
    });

    test('are shown in both versions, and "save anyway" keeps the fields that only the other tab has changed (PAC files)', async (t) => {
      const { page, visit, errors } = await open(t);
      await visit('/settings/pac');
      await page.fill('textarea', 'proxy *.first.example');
      await api('PUT', '/settings/pac', {
        rules: [{ match: '*.second.example', via: 'proxy' }],
        otherwise: 'direct',
      });
      await page.click('form.card button[type=submit]');
      const conflict = page.locator('form.card [role=alert]');
      await conflict.locator('text=now proxy *.second.example').waitFor();
      await conflict.locator('text=yours: proxy *.first.example').waitFor();
      await conflict.locator('text=now direct').waitFor();
      await page.click('form.card button[type=submit] >> text=Save anyway');
      await page.waitForSelector('.toast >> text=Saved');
      assert.deepEqual(await api('GET', '/settings/pac'), {
        rules: [{ match: '*.first.example', via: 'proxy' }],
        otherwise: 'direct',
      });
      assert.deepEqual(errors, []);
    });

    test('keep the plan of the other tab (plans)', async (t) => {
      const { page, visit, errors } = await open(t);
      await api('PUT', '/settings/plans', { plans: [planOf('monthly', 30)] });
      await visit('/plans');
      await page.click('tbody >> text=monthly');
      await page.getByRole('textbox', { name: 'Days' }).fill('31');
      // The page cannot read the other tab's plan before it sends its own change, so the refused dialog has to read it.
      let isSent = false;
      let failedRead = () => {};
      const read = new Promise<void>((resolve) => {
        failedRead = resolve;
      });
      await page.route('**/api/v1/settings/plans', async (route) => {
        if (route.request().method() === 'PUT') isSent = true;
        if (isSent) return route.continue();
        await route.fulfill({ status: 500 });
        failedRead();
      });
      await api('PUT', '/settings/plans', { plans: [planOf('monthly', 30), planOf('yearly', 365)] });
      await read;
      await page.click('dialog button[type=submit]');
      await page.waitForSelector('dialog .failure >> text=Someone else has changed it in the meantime');
      await page.waitForSelector('tbody >> text=yearly');
      assert.equal(await page.getByRole('textbox', { name: 'Days' }).inputValue(), '31');
      await page.click('dialog button[type=submit]');
      await page.waitForSelector('dialog', { state: 'detached' });
      assert.deepEqual(await api('GET', '/settings/plans'), {
        plans: [planOf('monthly', 31), planOf('yearly', 365)],
      });
      assert.deepEqual(errors, []);
    });
  });

  test('refused settings are named beside their fields, with what is allowed', async (t) => {
    const { page, visit } = await open(t, { language: 'zh-CN' });
    const wrong = (text: string) => page.waitForSelector(`.field.wrong >> text=${text}`);
    await visit('/notices/settings');
    await page.getByLabel('SMTP 服务器').fill('no host');
    await page.getByLabel('发件地址').fill('me');
    await page.click('form button[type=submit] >> text=保存');
    await wrong('须为主机名或 IP 地址');
    await wrong('须为一个邮箱地址');
    await page.waitForSelector('.failure >> text=邮件 · SMTP 服务器：须为主机名或 IP 地址');
    await page.click('text=撤销');
    await visit('/settings/pac');
    await page.fill('textarea', 'proxy *.game.example\ndirect *..example');
    await page.click('form button[type=submit]');
    await wrong('*..example 不是');
    await page.click('text=撤销');
  });

  test('the audit log shortens contacts, names their language, and keeps a change to an address with the same beginning', async (t) => {
    const { page, visit, errors } = await open(t, { language: 'zh-CN' });
    const id = await daemon().addAccount('anna', 'secret');
    for (const contacts of [
      { email: 'anna@qq.com', telegram: '@annachan', language: 'zh' },
      { email: 'alice@qq.com', language: null },
    ])
      await api('PATCH', `/accounts/${id}`, { contacts });
    await visit(`/accounts/${id}`);
    const changes = page.locator('.audit li:has-text("修改账号") .changes :is(ins, del)');
    await changes.first().waitFor();
    assert.deepEqual(await changes.allTextContents(), [
      '邮箱：a…@qq.com',
      ...['通知语言：中文', '通知语言：—'],
      ...['邮箱：—', '邮箱：a…@qq.com'],
      ...['Telegram 聊天 ID：—', 'Telegram 聊天 ID：@a…'],
      ...['通知语言：—', '通知语言：中文'],
    ]);
    assert.deepEqual(errors, []);
  });

  test('the audit log shows settings by the names of their fields, and ports as they are written', async (t) => {
    const { page, visit, errors } = await open(t);
    await saveNotices({ perMinute: 8, email: { port: 2526, security: 'starttls', operator: false } });
    await api('PUT', '/settings/public-address', { host: 'play.example.com', port: 10_800 });
    await api('PUT', '/settings/games', { rules: [{ id: 'arena', match: { ports: [7000] } }] });
    await visit('/audit');
    for (const text of [
      'E-mail · Port: 2526',
      'E-mail · Encryption: STARTTLS (587)',
      'E-mail · To me: off',
      'Messages a minute, each channel: 8',
      'Port: 10800',
      'Rules: arena',
    ])
      await page.locator('.changes ins', { hasText: text }).first().waitFor();
    const shown = await page.locator('.changes :is(ins, del)').allTextContents();
    assert.doesNotMatch(shown.join('\n'), /\b[a-z]+[A-Z]\w*:|\b[a-z]+\.[a-z]+:|\[object/);
    assert.deepEqual(errors, []);
  });
}
