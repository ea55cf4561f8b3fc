// Unsaved input is kept, or the console asks first: when the session ends, on leaving the page, on Esc, and beside another tab.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { type ConsolePage, settled } from '../helpers/console-browser.js';
import { ADMIN } from '../helpers/daemon.js';
import { eventually } from '../helpers/eventually.js';
import type { FormConsole } from '../helpers/form-console.js';

const QUESTION = 'dialog[role=alertdialog]';

/** Whether closing the window would ask. */
const asksOnUnload = (page: Page): Promise<boolean> =>
  page.evaluate<boolean>(`(() => {
    const event = new Event('beforeunload', { cancelable: true });
    dispatchEvent(event);
    return event.defaultPrevented;
  })()`);

async function answer(page: Page, button: string): Promise<void> {
  await page.click(`${QUESTION} footer >> text=${button}`);
  await page.waitForSelector(QUESTION, { state: 'detached' });
}

const asks = (page: Page, whether: boolean): Promise<void> =>
  eventually(async () => assert.equal(await asksOnUnload(page), whether));

const hashOf = (page: Page): Promise<string> => page.evaluate<string>('location.hash');

export function keptFormTests({ daemon, open, api, limitsOf, stir }: FormConsole): void {
  describe('unsaved input', () => {
    const edit = async ({ page, visit }: ConsolePage, id: string): Promise<void> => {
      await visit(`/accounts/${id}`);
      await page.click('.page-head >> text=Edit');
    };

    test('survives the end of the session: after signing in again, the form is unchanged', async (t) => {
      const shown = await open(t);
      const { page, errors } = shown;
      const id = await daemon().addAccount('lapsed', 'secret');
      await edit(shown, id);
      await page.fill('dialog textarea', 'typed before the session ended');
      await page.getByLabel('Traffic quota (GB)').fill('12');
      await page.context().clearCookies();
      // Not by the mouse: the page may have noticed the end by itself, and its dialog lies above then.
      await page.locator('dialog:not(.login) button[type=submit]').dispatchEvent('click');
      const again = page.locator('dialog.login');
      await again.waitFor();
      // Esc does not get rid of it.
      await page.keyboard.press('Escape');
      await page.keyboard.press('Escape');
      assert.equal(await again.locator('input[autocomplete=username]').inputValue(), ADMIN.username);
      await again.locator('input[autocomplete=current-password]').fill(ADMIN.password);
      await page.keyboard.press('Enter');
      await again.waitFor({ state: 'detached' });
      assert.equal(await page.inputValue('dialog textarea'), 'typed before the session ended');
      await page.click('dialog button[type=submit]');
      await page.waitForSelector('.facts >> text=typed before the session ended');
      assert.equal((await limitsOf(id))['quotaBytes'], 12e9);
      // Signing out on purpose keeps nothing.
      await page.evaluate(`location.hash = '#/settings/admin'`);
      await page.click('text=Sign out');
      await page.waitForSelector('main.login');
      assert.equal(await page.locator('.rail').count(), 0);
      assert.deepEqual(errors, []);
    });

    test('causes a question when Whitelist or Game rules are left: by a link, by going back, by closing', async (t) => {
      const shown = await open(t);
      const { page, visit, errors } = shown;
      await visit('/accounts');
      await visit('/settings/whitelist');
      await asks(page, false);
      await page.fill('textarea', '127.0.0.1, 10.0.0.0/8');
      await asks(page, true);
      await page.click('.tabs >> text=Game rules');
      await page.waitForSelector(`${QUESTION} >> text=Discard what you typed?`);
      // Enter keeps: it is what a stray key would do.
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
      await asks(page, false);

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

    test('stays on Whitelist and Retention while others save, and does not undo their changes', async (t) => {
      const { page, visit, errors } = await open(t);
      await visit('/settings/whitelist');
      await page.fill('textarea', '127.0.0.0/8');
      await api('PUT', '/settings/whitelist', { whitelist: '127.0.0.1' });
      await page.waitForTimeout(600);
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
      await api('PUT', '/settings/retention', { ...saved, auditDays: 77 });
      await page.waitForTimeout(600);
      assert.equal(await days.inputValue(), '21');
      await page.click('form.card button[type=submit]');
      const expected = { ...saved, heartbeatDays: 21, auditDays: 77 };
      await eventually(async () => assert.deepEqual(await api('GET', '/settings/retention'), expected));
      assert.deepEqual(errors, []);
    });

    test('in a dialog survives Esc, also twice; an unchanged dialog closes without a question', async (t) => {
      const shown = await open(t, { width: 1366, height: 657 });
      const { page, visit, errors } = shown;
      await visit('/accounts?new=one');
      await page.keyboard.press('Escape');
      await page.waitForSelector('dialog', { state: 'detached' });
      await visit('/accounts?new=one');
      await page.fill('dialog input >> nth=0', 'half-typed');
      for (let i = 0; i < 2; i++) {
        await page.keyboard.press('Escape');
        await page.waitForSelector(QUESTION);
        await page.keyboard.press('Escape');
        await page.waitForSelector(QUESTION, { state: 'detached' });
      }
      // So fast that the question is not there yet.
      for (let i = 0; i < 5; i++) await page.keyboard.press('Escape');
      await settled(page);
      if (await page.isVisible(QUESTION)) await answer(page, 'Keep editing');
      assert.equal(await page.inputValue('dialog input >> nth=0'), 'half-typed');
      // Back would close the dialog too.
      await page.goBack();
      await page.waitForSelector(QUESTION);
      await answer(page, 'Keep editing');
      assert.equal(await page.inputValue('dialog input >> nth=0'), 'half-typed');
      await page.click('dialog >> text=Many');
      await page.waitForSelector('dialog .preview');
      for (const choice of await page.locator('dialog .segments').all())
        assert.ok(((await choice.boundingBox())?.height ?? 0) >= 24, 'a choice is squeezed');
      await page.click('dialog >> text=One');
      assert.equal(await page.inputValue('dialog input >> nth=0'), 'half-typed');

      await page.click('dialog button[type=submit]');
      const password = (await page.textContent('[data-password]')) ?? '';
      await page.keyboard.press('Escape');
      await page.waitForSelector(`${QUESTION} >> text=Have you saved it?`);
      await answer(page, 'Go back');
      assert.equal(await page.textContent('[data-password]'), password);
      await asks(page, true);
      await page.evaluate(`location.hash = '#/sessions'`);
      await page.waitForSelector(`${QUESTION} >> text=Have you saved it?`);
      await answer(page, 'Go back');
      await page.click('dialog >> text=I have saved it');
      await page.waitForSelector('dialog', { state: 'detached' });
      await asks(page, false);
      assert.deepEqual(errors, []);
    });

    test('"save anyway" sends only the fields that were changed', async (t) => {
      const mine = await open(t);
      const theirs = await open(t);
      const id = await daemon().addAccount('shared', 'secret', { Remarks: 'old' });
      await edit(mine, id);
      await edit(theirs, id);
      await mine.page.getByLabel('Maximum sessions').fill('9');
      await theirs.page.fill('dialog textarea', 'theirs');
      await theirs.page.getByLabel('Traffic quota (GB)').fill('3');
      await theirs.page.click('dialog button[type=submit]');
      await theirs.page.waitForSelector('.toast >> text=Saved');
      await mine.page.click('dialog button[type=submit]');
      const conflict = mine.page.locator('dialog [role=alert]');
      await conflict.locator('text=now theirs').waitFor();
      await conflict.locator('text=yours: 9').waitFor();
      await mine.page.click('dialog footer >> text=Save anyway');
      await mine.page.waitForSelector('dialog', { state: 'detached' });
      const limits = await limitsOf(id);
      assert.deepEqual([limits['maxSessions'], limits['quotaBytes']], [9, 3e9]);
      assert.equal((await api('GET', `/accounts/${id}`))['remarks'], 'theirs');
      assert.deepEqual([...mine.errors, ...theirs.errors], []);
    });

    test('a dialog stays the same when the account changes meanwhile', async (t) => {
      const shown = await open(t);
      const { page, visit, errors } = shown;
      const id = await daemon().addAccount('toggled', 'secret');
      await visit(`/accounts/${id}`);
      const reads = await stir(t, shown, new RegExp(`/accounts/${id}$`));
      await page.click('.page-head >> text=Disable');
      await page.waitForSelector('dialog h2 >> text=Disable');
      await api('PATCH', `/accounts/${id}`, { isEnabled: false });
      await page.waitForSelector('.page-head >> text=Enable');
      assert.equal(await page.textContent('dialog h2'), 'Disable');
      await eventually(() => assert.ok(reads() >= 1));
      assert.deepEqual(errors, []);
    });
  });
}
