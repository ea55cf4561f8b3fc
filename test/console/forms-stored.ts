// Forms of the console on a real daemon: the typed values are stored although the data of the page changes.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { chooseBulkAction } from '../helpers/console-browser.js';
import { ADMIN } from '../helpers/daemon.js';
import { eventually } from '../helpers/eventually.js';
import type { FormConsole, Json } from '../helpers/form-console.js';
import { encodeGbk } from '../helpers/gbk.js';
import { connectThrough } from '../helpers/socks-client.js';
import { echo, startTarget } from '../helpers/targets.js';

const GB = 1e9;
const DAY = 86_400_000;

export function storedFormTests({ daemon, open, api, limitsOf, play, stir }: FormConsole): void {
  describe('forms of the console', () => {
    test('a quota that is typed slowly while the player transfers data is stored as typed', async (t) => {
      const shown = await open(t);
      const { page, visit, errors } = shown;
      const id = await daemon().addAccount('typed', 'secret');
      await api('PATCH', `/accounts/${id}`, { limits: { maxSessions: 7, quotaPeriod: 'day' } });
      await play(t, 'typed', 50);
      await visit(`/accounts/${id}`);
      const reads = await stir(t, shown, new RegExp(`/accounts/${id}$`));
      await page.click('.page-head >> text=Edit');
      const quota = page.getByLabel('Traffic quota (GB)');
      await quota.pressSequentially('1.5', { delay: 700 });
      assert.equal(await quota.inputValue(), '1.5');
      assert.ok(reads() >= 2, `the page behind the dialog was read ${reads()} times`);
      await page.click('dialog button[type=submit]');
      await page.waitForSelector('dialog', { state: 'detached' });
      assert.deepEqual(
        [(await limitsOf(id))['quotaBytes'], (await limitsOf(id))['maxSessions']],
        [1.5 * GB, 7],
      );
      assert.deepEqual(errors, []);
    });

    test('a list loads over a slow connection although its accounts change all the time', async (t) => {
      const shown = await open(t);
      const { page, visit, errors } = shown;
      await stir(t, shown, /\/accounts\?/);
      const count = `new EventSource('/api/v1/events').addEventListener('changed', () => { window.changes += 1; })`;
      await page.evaluate(`window.changes = 0; ${count}; null`);
      // Each list takes so long that the page gets three events of changes meanwhile.
      await page.route('**/api/v1/accounts?*', async (route) => {
        const before = await page.evaluate<number>('changes');
        await eventually(async () => assert.ok((await page.evaluate<number>('changes')) >= before + 3));
        await route.continue().catch(() => undefined);
      });
      await visit('/accounts?search=stirred');
      await page.waitForSelector('td[data-column=username] >> text=stirred');
      assert.deepEqual(errors, []);
    });

    test('zero and less are errors and not "no limit", and the form cannot be saved until they are corrected', async (t) => {
      const { page, visit, errors } = await open(t);
      const id = await daemon().addAccount('zero', 'secret');
      await api('PATCH', `/accounts/${id}`, { limits: { quotaBytes: 5 * GB, maxSessions: 3 } });
      await visit(`/accounts/${id}`);
      await page.click('.page-head >> text=Edit');
      const submit = page.locator('dialog button[type=submit]');
      for (const [label, invalid] of [
        ['Traffic quota (GB)', '0'],
        ['Traffic quota (GB)', '-5'],
        ['Maximum sessions', '0'],
        ['Maximum sessions', '1.5'],
        ['Maximum sessions', 'many'],
      ] as const) {
        const field = page.getByLabel(label);
        const before = await field.inputValue();
        await field.fill(invalid);
        await page.waitForSelector('dialog .field.wrong [role=alert]');
        assert.ok(await submit.isDisabled(), `${label} ${invalid} can be saved`);
        await field.fill(before);
        await page.waitForSelector('dialog .field.wrong', { state: 'detached' });
      }
      await page.getByLabel('Maximum sessions').fill('');
      await submit.click();
      await page.waitForSelector('dialog', { state: 'detached' });
      assert.deepEqual(
        [(await limitsOf(id))['quotaBytes'], (await limitsOf(id))['maxSessions']],
        [5 * GB, null],
      );
      assert.deepEqual(errors, []);
    });

    test('allowed addresses and a schedule are set for many accounts after a preview, and cleared', async (t) => {
      const shown = await open(t);
      const { page, visit, errors } = shown;
      const id = await daemon().addAccount('hourly', 'secret');
      await api('PATCH', `/accounts/${id}`, { allowedClients: ['192.0.2.0/24'] });
      const stored = async () => {
        const { allowedClients, schedule } = await api('GET', `/accounts/${id}`);
        return { allowedClients, schedule };
      };
      await visit('/accounts?search=hourly');
      const reads = await stir(t, shown, /\/accounts\?/);
      await page.check('thead input[type=checkbox]');
      await chooseBulkAction(page, 'Where and when');
      assert.equal(await page.locator('dialog textarea').count(), 0, 'fields without a tick are hidden');
      await page.check('dialog label >> text=Schedule');
      await page.waitForSelector('dialog .field small >> text=in the time zone Asia/Shanghai');
      const schedule = page.locator('dialog').getByRole('textbox', { name: 'Schedule' });
      await schedule.pressSequentially('mon-fri 8:00-23:00', { delay: 100 });
      await eventually(() => assert.ok(reads() >= 1));
      assert.equal(await schedule.inputValue(), 'mon-fri 8:00-23:00');
      await page.waitForSelector('dialog .preview ins >> text=Mon–Fri 08:00–23:00');
      await page.waitForSelector('dialog .preview .soft >> text=192.0.2.0/24');
      await page.click('dialog button[type=submit]');
      await page.waitForSelector('.toast >> text=Where and when: 1 done');
      assert.deepEqual(await stored(), {
        allowedClients: ['192.0.2.0/24'],
        schedule: 'mon-fri 08:00-23:00',
      });

      await page.check('thead input[type=checkbox]');
      await chooseBulkAction(page, 'Where and when');
      await page.check('dialog label >> text=Allowed clients');
      await page.waitForSelector('dialog .preview ins >> text=Everywhere');
      await page.locator('dialog textarea').fill('home.example');
      await page.waitForSelector('dialog .failure >> text=home.example');
      assert.ok(await page.locator('dialog button[type=submit]').isDisabled());
      await page.locator('dialog textarea').fill('');
      await page.waitForSelector('dialog .preview ins >> text=Everywhere');
      await page.click('dialog button[type=submit]');
      await page.waitForSelector('dialog', { state: 'detached' });
      assert.deepEqual(await stored(), { allowedClients: [], schedule: 'mon-fri 08:00-23:00' });
      assert.deepEqual(errors, []);
    });

    test('bulk limits change only ticked limits, and the preview shows every limit', async (t) => {
      const shown = await open(t);
      const { page, visit, errors } = shown;
      const id = await daemon().addAccount('bulky', 'secret');
      await api('PATCH', `/accounts/${id}`, {
        limits: { quotaBytes: 10 * GB, quotaPeriod: 'day', maxSessions: 4 },
      });
      await visit('/accounts?search=bulky');
      const reads = await stir(t, shown, /\/accounts\?/);
      await page.check('thead input[type=checkbox]');
      await chooseBulkAction(page, 'Set limits');
      assert.equal(await page.locator('dialog select').count(), 0, 'fields without a tick are hidden');
      await page.check('dialog label >> text=Traffic quota');
      const quota = page.locator('dialog input[inputmode=decimal]');
      await quota.pressSequentially('50.25', { delay: 150 });
      await eventually(() => assert.ok(reads() >= 1));
      assert.equal(await quota.inputValue(), '50.25');
      await page.waitForSelector('dialog .preview ins >> text=50.25 GB per day');
      await page.waitForSelector('dialog .preview del >> text=10 GB per day');
      await page.waitForSelector('dialog .preview >> text=Maximum sessions: 4');
      await page.click('dialog button[type=submit]');
      await page.waitForSelector('.toast >> text=Set limits: 1 done');
      const limits = await limitsOf(id);
      assert.deepEqual(
        [limits['quotaBytes'], limits['quotaPeriod'], limits['maxSessions']],
        [50.25 * GB, 'day', 4],
      );
      assert.deepEqual(errors, []);
    });

    test('every key in every field of a game rule is kept although the page reloads its data', async (t) => {
      const shown = await open(t);
      const { page, visit, errors } = shown;
      await visit('/settings/games');
      const reads = await stir(t, shown, /\/settings\/games$/);
      await page.click('text=Add a rule');
      const rule = page.locator('section[aria-label="Rule 1"]');
      await rule.locator('text=From the first bytes').click();
      const typed = [
        ['From the first bytes', 'ID=(\\w+);'],
        ['Hosts', '*.arena.example, 203.0.113.0/24'],
        ['Ports', '7000, 7100-7200'],
      ] as const;
      for (const [label, text] of typed) {
        const field = rule.locator(`label:has(> span:text-is("${label}")) input`);
        const timer = setInterval(() => void api('PUT', '/settings/retention', retention), 60);
        await field.pressSequentially(text, { delay: 20 });
        clearInterval(timer);
        assert.equal(await field.inputValue(), text);
      }
      await eventually(() => assert.ok(reads() >= 1, 'the page did not read the rules again'));
      for (const [label, text] of typed)
        assert.equal(await rule.locator(`label:has(> span:text-is("${label}")) input`).inputValue(), text);
      await page.click('.columns > section >> text=Save');
      await page.waitForSelector('text=Changed in the console');
      assert.deepEqual((await api('GET', '/settings/games'))['rules'], [
        {
          gameId: 'ID=(\\w+);',
          match: { hosts: ['*.arena.example', '203.0.113.0/24'], ports: [7000, '7100-7200'] },
          maxBytes: 4096,
        },
      ]);
      assert.deepEqual(errors, []);
      await api('DELETE', '/settings/games');
    });

    const retention = {
      heartbeatDays: 30,
      heartbeatsPerAccount: 10_000,
      sessionDays: 90,
      runDays: 30,
      loginDays: 30,
      auditDays: 365,
    };

    test('a pasted report offers its addresses and times, and the chosen ones find the account', async (t) => {
      const { page, visit, errors } = await open(t);
      const target = await startTarget(t, echo);
      await daemon().addAccount('culprit', 'secret');
      const account = { port: daemon().socks.port, username: 'culprit', password: 'secret' };
      await connectThrough(account, '127.0.0.1', target.port);
      const { remotePort } = await target.nextConnection();
      const time = new Date().toISOString().slice(0, 19).replace('T', ' ');
      await visit('/sessions/trace');
      await page.fill('textarea', `${time} CST from 192.0.2.1:${remotePort} to 127.0.0.1:${target.port}`);
      await page.click('text=Find addresses and times');
      assert.equal(
        await page.getByLabel('Time', { exact: true }).inputValue(),
        '',
        'nothing is filled in by itself',
      );
      const choices = (text: string) => page.locator('.row', { hasText: text }).locator('button');
      await choices(`127.0.0.1:${target.port}`).first().click();
      await choices(`192.0.2.1:${remotePort}`).last().click();
      await page.getByLabel('Our address').fill('');
      await page.click(`button:has-text("${time} choose the zone")`);
      assert.ok(
        await page.locator('form button[type=submit]').isDisabled(),
        'the zone is still to be chosen',
      );
      await page.getByLabel('Its time zone').selectOption('+00:00');
      await page.click('form button[type=submit]');
      await page.waitForSelector(`tr:has-text("culprit"):has-text("← 127.0.0.1:${remotePort}")`);
      await page.reload();
      assert.equal(await page.getByLabel('Its port').inputValue(), String(target.port));
      await page.click('a:has-text("culprit")');
      await page.waitForSelector('h1:has-text("culprit")');
      assert.deepEqual(errors, []);
    });

    test('extending counts from the later of now and the old expiry, and its preview marks accounts that expire earlier or stay expired', async (t) => {
      const { page, visit, errors } = await open(t);
      const at = (days: number) => new Date(Date.now() + days * DAY).toISOString();
      const long = await daemon().addAccount('extend-long', 'secret');
      const past = await daemon().addAccount('extend-past', 'secret');
      await api('PATCH', `/accounts/${long}`, { expiresAt: at(344.5) });
      await api('PATCH', `/accounts/${past}`, { expiresAt: at(-60) });
      await visit('/accounts?search=extend-');
      await page.check('thead input[type=checkbox]');
      await chooseBulkAction(page, 'Extend');
      await page.waitForSelector('dialog .preview >> text=2 accounts will change');
      assert.equal(await page.locator('dialog .preview .bad-text, dialog .preview .state.bad').count(), 0);
      await page.click('dialog .segments >> text=Now');
      await page.waitForSelector('dialog .preview >> text=1 expires earlier than before');
      await page.waitForSelector('dialog tr:has-text("extend-long"):has-text("344 days") .bad-text');
      await page.waitForSelector('dialog tr:has-text("extend-long") .state.bad >> text=shorter');
      await page.click('dialog .segments >> text=The old expiry');
      await page.waitForSelector('dialog .preview >> text=1 stays expired');
      await page.waitForSelector('dialog tr:has-text("extend-past") .state.bad >> text=stays expired');
      await page.click('dialog .segments >> text=The later of the two');
      await page.waitForSelector('dialog .preview:not(:has(.state.bad))');
      await page.click('dialog button[type=submit]');
      await page.waitForSelector('.toast >> text=Extend: 2 done');
      const daysLeft = async (id: string) =>
        (Date.parse(String((await api('GET', `/accounts/${id}`))['expiresAt'])) - Date.now()) / DAY;
      assert.ok(Math.abs((await daysLeft(long)) - 374.5) < 0.01, `${await daysLeft(long)} days`);
      assert.ok(Math.abs((await daysLeft(past)) - 30) < 0.01, `${await daysLeft(past)} days`);
      assert.deepEqual(errors, []);
    });

    test('the diagnosis of an account over quota says only that, and only a quota has a use to reset', async (t) => {
      const { page, visit, errors } = await open(t);
      const id = await daemon().addAccount('spent', 'secret');
      await play(t, 'spent', 60_000);
      const used = async () => ((await api('GET', `/accounts/${id}`))['usage'] as Json)['periodBytes'];
      await eventually(async () => assert.ok(Number(await used()) >= 2000));
      await visit(`/accounts/${id}`);
      await page.waitForSelector('.diagnosis >> text=No traffic quota');
      assert.equal(await page.locator('.diagnosis >> text=Reset usage').count(), 0);
      await api('PATCH', `/accounts/${id}`, { limits: { quotaBytes: 1_000 } });
      await page.waitForSelector('.diagnosis >> text=Everything else');
      const shown = await page.locator('.diagnosis .checks li:visible').allTextContents();
      assert.equal(shown.length, 1, shown.join());
      assert.match(shown[0] ?? '', /^Traffic .* of 1\.00 kB .*Starts anew .*Reset usage$/);
      await page.click('.diagnosis summary');
      await page.waitForSelector('.diagnosis details >> text=The account is enabled');
      assert.deepEqual(errors, []);
    });

    test('the diagnosis tells when the guard slowed an account from its last failure', async (t) => {
      const { page, visit, errors } = await open(t);
      const id = await daemon().addAccount('hasty', 'secret');
      // The guard lets sixty through at once and one more each second, so on a slow machine more than sixty-one meet it.
      await api('PATCH', `/accounts/${id}`, { limits: { connectionsPerMinute: 60 } });
      const account = { port: daemon().socks.port, username: 'hasty', password: 'secret' };
      const { port } = await startTarget(t, echo);
      const isSlowed = async () =>
        ((await api('GET', `/logins?accountId=${id}`))['items'] as Json[]).some(
          (one) => one['outcome'] === 'slowed',
        );
      for (let n = 0; n <= 60 || !(await isSlowed()); n += 1)
        (await connectThrough(account, '127.0.0.1', port)).destroy();
      await visit(`/accounts/${id}`);
      await page.waitForSelector('.diagnosis >> text=/Last slowed by the guard: ?Slowed: opens much/');
      await page.waitForSelector('.diagnosis >> text=No failed logins');
      await assert.rejects(connectThrough({ ...account, password: 'wrong' }, '127.0.0.1', port));
      await page.waitForSelector('.diagnosis >> text=/Last failure: ?Wrong password/');
      await page.waitForSelector('.diagnosis >> text=/Last slowed by the guard/');
      assert.deepEqual(errors, []);
    });

    test('the page of an account resets the usage, and shows and sets the egress class', async (t) => {
      const { page, visit, errors } = await open(t);
      const id = await daemon().addAccount('used', 'secret');
      await api('PATCH', `/accounts/${id}`, { limits: { quotaBytes: GB } });
      await play(t, 'used', 60_000);
      const used = async () => ((await api('GET', `/accounts/${id}`))['usage'] as Json)['periodBytes'];
      await eventually(async () => assert.ok(Number(await used()) >= 2000));
      await visit(`/accounts/${id}`);
      await page.click('.diagnosis >> text=Reset usage');
      await page.click('dialog button[type=submit]');
      await page.waitForSelector('.toast >> text=Reset usage: 1 done');
      assert.equal(await used(), 0);
      await page.waitForSelector('.facts >> text=default rules', { state: 'attached' });
      await page.click('.page-head >> text=Edit');
      await page.getByLabel('Egress class').selectOption('friends');
      await page.click('dialog button[type=submit]');
      await page.waitForSelector('.facts dd >> text=friends', { state: 'attached' });
      assert.equal((await limitsOf(id))['egressClass'], 'friends');
      assert.deepEqual(errors, []);
    });

    test('a file from Chinese Excel is imported correctly, and an export has the byte order mark that Excel needs', async (t) => {
      const shown = await open(t, { timezone: 'Asia/Shanghai', language: 'zh-CN' });
      const { page, visit, errors } = shown;
      const sheet = [
        '账号,密码,备注,到期时间,是否启用',
        'gbk01,secret1,"张三，微信 wx_1",2026/12/31,是',
        'gbk02,secret2,李四（月付）,2026-12-31 23:59,否',
        'gbk03,secret3,,2027年1月5日,启用',
        '',
      ].join('\r\n');
      await visit('/accounts?new=import');
      await page.setInputFiles('dialog input[type=file]', {
        name: '账号.csv',
        mimeType: 'text/csv',
        buffer: encodeGbk(sheet),
      });
      await page.click('dialog button[type=submit]');
      await page.waitForSelector('dialog .preview >> text=/GBK.*Asia.Shanghai（GMT.8）/');
      await page.waitForSelector(
        'dialog tr:has-text("gbk02"):has-text("李四（月付）"):has-text("2026-12-31 23:59:00")',
      );
      await page.click('dialog button[type=submit]');
      await page.waitForSelector('dialog footer >> text=关闭');
      const { items } = (await api('GET', '/accounts?search=gbk0')) as { items: Json[] };
      assert.deepEqual(
        items.map(({ username, remarks, expiresAt, isEnabled }) => [username, remarks, expiresAt, isEnabled]),
        [
          ['gbk01', '张三，微信 wx_1', '2026-12-30T16:00:00.000Z', true],
          ['gbk02', '李四（月付）', '2026-12-31T15:59:00.000Z', false],
          ['gbk03', null, '2027-01-04T16:00:00.000Z', true],
        ],
      );
      const exported = await fetch(`${daemon().adminUrl}/api/v1/accounts/export?format=csv&search=gbk0`, {
        headers: { authorization: `Basic ${btoa(`${ADMIN.username}:${ADMIN.password}`)}` },
      });
      const bytes = Buffer.from(await exported.arrayBuffer());
      assert.deepEqual([...bytes.subarray(0, 3)], [0xef, 0xbb, 0xbf]);
      assert.match(bytes.toString(), /张三，微信 wx_1/);
      assert.deepEqual(errors, []);
    });
  });
}
