// The console keeps unsaved input, or asks before it discards it: at the end of the session, on leaving a page, on Esc, and when others save.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { type ConsolePage, settled } from '../helpers/console-browser.js';
import { ADMIN } from '../helpers/daemon.js';
import { eventually } from '../helpers/eventually.js';
import type { FormConsole } from '../helpers/form-console.js';

const QUESTION = 'dialog[role=alertdialog]';

/** Whether the browser would ask before it closes the window. */
const wouldAskOnUnload = (page: Page): Promise<boolean> =>
  page.evaluate<boolean>(`(() => {
    const event = new Event('beforeunload', { cancelable: true });
    dispatchEvent(event);
    return event.defaultPrevented;
  })()`);

async function answer(page: Page, button: string): Promise<void> {
  await page.click(`${QUESTION} footer >> text=${button}`);
  await page.waitForSelector(QUESTION, { state: 'detached' });
}

const asksOnUnload = (page: Page, expected: boolean): Promise<void> =>
  eventually(async () => assert.equal(await wouldAskOnUnload(page), expected));

/** Makes a change and waits until the page has read and shown `path` again. */
async function readAgainAfter(page: Page, path: string, change: () => Promise<unknown>): Promise<void> {
  const isRead = page.waitForResponse(
    (response) => response.request().method() === 'GET' && response.url().endsWith(path),
  );
  await change();
  await isRead;
  await settled(page);
}

const hashOf = (page: Page): Promise<string> => page.evaluate<string>('location.hash');

export function keptFormTests({ daemon, open, api, limitsOf, stir }: FormConsole): void {
  describe('unsaved input', () => {
    const edit = async ({ page, visit }: ConsolePage, id: string): Promise<void> => {
      await visit(`/accounts/${id}`);
      await page.click('.page-head >> text=Edit');
    };

    test('stays in the form when the session ends and the operator signs in again', async (t) => {
      const shown = await open(t);
      const { page, errors } = shown;
      const id = await daemon().addAccount('lapsed', 'secret');
      await edit(shown, id);
      await page.fill('dialog textarea', 'typed before the session ended');
      await page.getByLabel('Traffic quota (GB)').fill('12');
      await page.context().clearCookies();
      // Without the mouse: the page may have noticed the end already and cover the form with its sign-in dialog.
      await page.locator('dialog:not(.login) button[type=submit]').dispatchEvent('click');
      const signInDialog = page.locator('dialog.login');
      await signInDialog.waitFor();
      // Esc does not close the sign-in dialog.
      await page.keyboard.press('Escape');
      await page.keyboard.press('Escape');
      assert.equal(await signInDialog.locator('input[autocomplete=username]').inputValue(), ADMIN.username);
      await signInDialog.locator('input[autocomplete=current-password]').fill(ADMIN.password);
      await page.keyboard.press('Enter');
      await signInDialog.waitFor({ state: 'detached' });
      assert.equal(await page.inputValue('dialog textarea'), 'typed before the session ended');
      await page.click('dialog button[type=submit]');
      await page.waitForSelector('.facts >> text=typed before the session ended');
      assert.equal((await limitsOf(id))['quotaBytes'], 12e9);
      // Signing out discards all input.
      await page.evaluate(`location.hash = '#/settings/admin'`);
      await page.click('[aria-label="Sign out"]');
      await page.waitForSelector('main.login');
      assert.equal(await page.locator('.rail').count(), 0);
      assert.deepEqual(errors, []);
    });

    test('on Whitelist and Game rules causes a question before the page is left by a link, by going back, or by closing', async (t) => {
      const shown = await open(t);
      const { page, visit, errors } = shown;
      await visit('/accounts');
      await visit('/settings/whitelist');
      await asksOnUnload(page, false);
      await page.fill('textarea', '127.0.0.1, 10.0.0.0/8');
      await asksOnUnload(page, true);
      await page.click('.tabs >> text=Game rules');
      await page.waitForSelector(`${QUESTION} >> text=Discard what you typed?`);
      // Enter keeps editing, because it may be pressed by mistake.
      await page.keyboard.press('Enter');
      await page.waitForSelector(QUESTION, { state: 'detached' });
      assert.equal(await hashOf(page), '#/settings/whitelist');
      assert.equal(await page.inputValue('textarea'), '127.0.0.1, 10.0.0.0/8');
      await page.goBack();
      await page.waitForSelector(QUESTION);
      await answer(page, 'Keep editing');
      await eventually(async () => assert.equal(await hashOf(page), '#/settings/whitelist'));
      assert.equal(await page.inputValue('textarea'), '127.0.0.1, 10.0.0.0/8');
      await page.goBack();
      await page.waitForSelector(QUESTION);
      await answer(page, 'Discard');
      await page.waitForSelector('h1 >> text=Accounts');
      assert.equal(await hashOf(page), '#/accounts');
      await asksOnUnload(page, false);

      await visit('/settings/games');
      await page.click('text=Add a rule');
      await page.fill('section[aria-label="Rule 1"] input', 'arena');
      await page.click('.rail >> text=Sessions');
      await page.waitForSelector(QUESTION);
      await answer(page, 'Discard');
      await page.waitForSelector('h1 >> text=Sessions');
      assert.equal(await hashOf(page), '#/sessions');
      assert.deepEqual(errors, []);
    });

    test('on Whitelist and Retention stays while others save, and does not undo their changes', async (t) => {
      const { page, visit, errors } = await open(t);
      await visit('/settings/whitelist');
      await page.fill('textarea', '127.0.0.0/8');
      await readAgainAfter(page, '/settings/whitelist', () =>
        api('PUT', '/settings/whitelist', { whitelist: '127.0.0.1' }),
      );
      assert.equal(await page.inputValue('textarea'), '127.0.0.0/8');
      await page.click('form.card button[type=submit]');
      await page.waitForSelector('[role=alert] >> text=now 127.0.0.1');
      await page.click('form.card button[type=submit] >> text=Save anyway');
      await page.waitForSelector('.toast >> text=The whitelist was saved');
      assert.equal((await api('GET', '/settings/whitelist'))['whitelist'], '127.0.0.0/8');
      await api('PUT', '/settings/whitelist', { whitelist: '' });

      await visit('/settings/retention');
      const days = page.getByLabel('Heartbeats (days)');
      await days.fill('');
      assert.ok(await page.isDisabled('form.card button[type=submit]'));
      await days.fill('0');
      await page.waitForSelector('.field.wrong >> text=Must be a whole number from 1 to 3,650');
      await days.fill('21');
      const saved = await api('GET', '/settings/retention');
      await readAgainAfter(page, '/settings/retention', () =>
        api('PUT', '/settings/retention', { ...saved, auditDays: 77 }),
      );
      assert.equal(await days.inputValue(), '21');
      await page.click('form.card button[type=submit]');
      const expected = { ...saved, heartbeatDays: 21, auditDays: 77 };
      await eventually(async () => assert.deepEqual(await api('GET', '/settings/retention'), expected));
      assert.deepEqual(errors, []);
    });

    test('in a dialog stays after Esc, also twice, and an unchanged dialog closes without a question', async (t) => {
      const shown = await open(t, { width: 1366, height: 657 });
      const { page, visit, errors } = shown;
      await visit('/accounts?new=one');
      await page.keyboard.press('Escape');
      await page.waitForSelector('dialog', { state: 'detached' });
      await visit('/accounts?new=one');
      await page.fill('dialog input >> nth=0', 'unsaved');
      for (let i = 0; i < 2; i++) {
        await page.keyboard.press('Escape');
        await page.waitForSelector(QUESTION);
        await page.keyboard.press('Escape');
        await page.waitForSelector(QUESTION, { state: 'detached' });
      }
      // So fast that the question is not shown yet.
      for (let i = 0; i < 5; i++) await page.keyboard.press('Escape');
      await settled(page);
      if (await page.isVisible(QUESTION)) await answer(page, 'Keep editing');
      assert.equal(await page.inputValue('dialog input >> nth=0'), 'unsaved');
      // Going back would close the dialog too.
      await page.goBack();
      await page.waitForSelector(QUESTION);
      await answer(page, 'Keep editing');
      assert.equal(await page.inputValue('dialog input >> nth=0'), 'unsaved');
      await page.click('dialog >> text=Many');
      await page.waitForSelector('dialog .preview');
      for (const choice of await page.locator('dialog .segments').all())
        assert.ok(((await choice.boundingBox())?.height ?? 0) >= 24, 'a choice is too low');
      await page.click('dialog >> text=One');
      assert.equal(await page.inputValue('dialog input >> nth=0'), 'unsaved');

      await page.click('dialog button[type=submit]');
      const password = (await page.textContent('[data-password]')) ?? '';
      await page.keyboard.press('Escape');
      await page.waitForSelector(`${QUESTION} >> text=Have you saved it?`);
      await answer(page, 'Go back');
      assert.equal(await page.textContent('[data-password]'), password);
      await asksOnUnload(page, true);
      await page.evaluate(`location.hash = '#/sessions'`);
      await page.waitForSelector(`${QUESTION} >> text=Have you saved it?`);
      await answer(page, 'Go back');
      await page.click('dialog >> text=I have saved it');
      await page.waitForSelector('dialog', { state: 'detached' });
      await asksOnUnload(page, false);
      assert.deepEqual(errors, []);
    });

    test('is saved anyway without the fields that only another window has changed', async (t) => {
      const first = await open(t);
      const second = await open(t);
      const id = await daemon().addAccount('shared', 'secret', { Remarks: 'old' });
      await edit(first, id);
      await edit(second, id);
      await first.page.getByLabel('Maximum sessions').fill('9');
      await second.page.fill('dialog textarea', 'by the second');
      await second.page.getByLabel('Traffic quota (GB)').fill('3');
      await second.page.click('dialog button[type=submit]');
      await second.page.waitForSelector('.toast >> text=Saved');
      await first.page.click('dialog button[type=submit]');
      const conflict = first.page.locator('dialog [role=alert]');
      await conflict.locator('text=now by the second').waitFor();
      await conflict.locator('text=yours: 9').waitFor();
      await first.page.click('dialog footer >> text=Save anyway');
      await first.page.waitForSelector('dialog', { state: 'detached' });
      const limits = await limitsOf(id);
      assert.deepEqual([limits['maxSessions'], limits['quotaBytes']], [9, 3e9]);
      assert.equal((await api('GET', `/accounts/${id}`))['remarks'], 'by the second');
      assert.deepEqual([...first.errors, ...second.errors], []);
    });

    test('in a dialog stays the same when the account changes', async (t) => {
      const shown = await open(t);
      const { page, visit, errors } = shown;
      const id = await daemon().addAccount('toggled', 'secret');
      await visit(`/accounts/${id}`);
      const reads = await stir(t, shown, new RegExp(`/accounts/${id}$`));
      await page.click('.page-head >> text=More');
      await page.click('.page-head .menu >> text=Disable');
      await page.waitForSelector('dialog h2 >> text=Disable');
      await api('PATCH', `/accounts/${id}`, { isEnabled: false });
      await page.waitForSelector('.page-head button >> text=Enable');
      assert.equal(await page.textContent('dialog h2'), 'Disable');
      await eventually(() => assert.ok(reads() >= 1));
      assert.deepEqual(errors, []);
    });
  });
}
