// The console of operators on the real daemon: each sees what it may do, and no control of anything else.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { noBrowser, settled } from '../helpers/console-browser.js';
import { eventually } from '../helpers/eventually.js';
import { type Json, useFormConsole } from '../helpers/form-console.js';

const PASSWORD = 'a-good-password';

describe('the console of operators', { skip: noBrowser }, () => {
  const { daemon, open, api, play } = useFormConsole();

  async function addOperator(role: string, name: string, budget?: Json) {
    await api('POST', '/operators', { name, password: PASSWORD, role, budget });
    return { username: name, password: PASSWORD };
  }

  test('a viewer sees no control that changes anything, and no button or address leads to a refusal', async (t) => {
    const id = await daemon().addAccount('viewed', 'secret');
    await play(t, 'viewed', 50);
    await eventually(async () => {
      const { periodBytes } = (await api('GET', `/accounts/${id}`))['usage'] as { periodBytes: number };
      assert.ok(periodBytes > 0);
    });
    const pages = ['/accounts?search=viewed', `/accounts/${id}`, '/sessions'];
    const names = async ({ page, visit }: { page: Page; visit(hash: string): Promise<void> }) => {
      const found: string[] = [];
      for (const hash of pages) {
        await visit(hash);
        await page.waitForSelector('main tbody td >> text=/viewed|127.0.0.1/');
        found.push(...(await page.evaluate<string[]>(CONTROLS)));
      }
      return new Set(found);
    };
    const ofAdmin = await names(await open(t));
    const shown = await open(t, {}, await addOperator('viewer', 'watcher'));
    const { page, visit, errors } = shown;
    const refused: string[] = [];
    page.on('response', (response) => {
      if (response.status() === 403 || response.request().method() !== 'GET') refused.push(response.url());
    });
    const ofViewer = await names(shown);
    assert.deepEqual([...ofAdmin].filter((name) => !ofViewer.has(name)).sort(), [
      'Delete account',
      'Disable',
      'Edit',
      'End',
      'End all',
      'Extend',
      'Import',
      'New account',
      'Password and link',
      'Reset usage',
      'Select this page',
      'Select viewed',
      'Select viewed → 127.0.0.1',
    ]);
    for (const hash of pages) {
      await visit(hash);
      for (let nth = 0; nth < (await page.locator('main button').count()); nth += 1) {
        // A press by script also reaches buttons in closed menus.
        await page.evaluate(`document.querySelectorAll('main button')[${nth}].click()`);
        await settled(page);
        const dialog = page.locator('dialog[open]');
        if (await dialog.count()) {
          assert.equal(await dialog.locator('h2').textContent(), 'Export');
          await page.keyboard.press('Escape');
        }
        await visit(hash);
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
});

/** The name of each control of the page, run in the browser. */
const CONTROLS = `[...document.querySelectorAll('main :is(button, a.button, input[type=checkbox])')].map((one) =>
  one.textContent.trim() || one.getAttribute('aria-label') || one.type)`;
