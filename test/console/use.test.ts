// What an operator does in the console, with the keyboard and the mouse, against an in-memory daemon.
import assert from 'node:assert/strict';
import { after, before, type TestContext, test } from 'node:test';
import type { Browser } from 'playwright-core';
import {
  BUILT_CONSOLE,
  type ConsoleOptions,
  type ConsolePage,
  launchBrowser,
  noBrowser,
  openConsole,
  settled,
  signIn,
} from '../helpers/console-browser.js';
import { type MockDaemon, startMockDaemon } from '../helpers/mock-api.js';

const skip = { skip: noBrowser };
let browser: Browser;
before(async () => {
  if (!noBrowser) browser = await launchBrowser();
});
after(() => browser?.close());

async function daemonWith(t: TestContext, accounts: number, port = 0): Promise<MockDaemon> {
  const daemon = await startMockDaemon({ accounts, console: BUILT_CONSOLE, port });
  t.after(() => daemon.close());
  return daemon;
}

async function signedIn(
  t: TestContext,
  accounts: number,
  options: Partial<ConsoleOptions> = {},
): Promise<ConsolePage> {
  const daemon = await daemonWith(t, accounts);
  const shown = await openConsole(t, browser, { url: daemon.url, ...options });
  await signIn(shown, 'admin', 'secret');
  return shown;
}

test(
  'a wrong password says so and stays on the page; the right one leads to the address asked for',
  skip,
  async (t) => {
    const daemon = await daemonWith(t, 20);
    const shown = await openConsole(t, browser, { url: daemon.url });
    const { page } = shown;
    await page.evaluate(`location.hash = '#/accounts?search=vip'`);
    await page.fill('input[autocomplete=username]', 'admin');
    await page.fill('input[autocomplete=current-password]', 'wrong');
    await page.keyboard.press('Enter');
    await page.waitForSelector('[role=alert] >> text=Wrong user name, password or code');
    await signIn(shown, 'admin', 'secret');
    await page.waitForSelector('h1 >> text=Accounts');
    assert.equal(await page.inputValue('[data-search]'), 'vip');
  },
);

test('the second factor: turned on with a code, asked for at the next sign-in', skip, async (t) => {
  const shown = await signedIn(t, 5);
  const { page, visit } = shown;
  await visit('/settings/admin');
  await page.click('text=Turn on');
  await page.waitForSelector('dialog .qr');
  await page.fill('dialog input', '123456');
  await page.keyboard.press('Enter');
  await page.waitForSelector('text=Turn off');
  await page.click('text=Sign out');
  await page.waitForSelector('.login');
  await page.fill('input[autocomplete=username]', 'admin');
  await page.fill('input[autocomplete=current-password]', 'secret');
  await page.keyboard.press('Enter');
  await page.fill('input[autocomplete=one-time-code]', '123456');
  await page.keyboard.press('Enter');
  await page.waitForSelector('.rail');
});

test(
  'the keyboard: / searches, arrows move, x selects, Enter opens, Esc clears, g and a letter goes',
  skip,
  async (t) => {
    const { page, visit } = await signedIn(t, 400);
    await visit('/accounts');
    await page.keyboard.press('/');
    await page.keyboard.type('vip');
    await page.waitForSelector('.counts >> text=/of 400/');
    assert.match(page.url(), /search=vip/);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await settled(page);
    assert.equal(await page.evaluate(`document.activeElement.dataset.row`), '1');
    await page.keyboard.press('x');
    await page.waitForSelector('.bulk-bar >> text=1 selected');
    await page.keyboard.press('Escape');
    await page.waitForSelector('.bulk-bar', { state: 'detached' });
    const name = (await page.textContent('tr[data-row="1"] a.strong')) ?? '';
    await page.keyboard.press('Enter');
    await page.waitForSelector(`h1 >> text=${name}`);
    await page.keyboard.press('g');
    await page.keyboard.press('s');
    await page.waitForSelector('h1 >> text=Sessions');
    await page.keyboard.press('?');
    await page.waitForSelector('dialog >> text=Keyboard');
  },
);

test('filters, sorting and search are in the address, and the address brings them back', skip, async (t) => {
  const { page, visit } = await signedIn(t, 400);
  await visit('/accounts');
  await page.click('.chip >> text=Expired');
  await page.click('th >> text=Heartbeats');
  await page.waitForSelector('th[aria-sort=ascending] >> text=Heartbeats');
  const address = page.url();
  assert.match(address, /expired=true/);
  assert.match(address, /sort=dataCount/);
  const counted = (await page.textContent('.counts')) ?? '';
  await page.reload();
  await page.waitForSelector('.chip[aria-pressed=true] >> text=Expired');
  await page.waitForSelector('th[aria-sort=ascending] >> text=Heartbeats');
  assert.equal((await page.textContent('.counts')) ?? '', counted);
  await page.goBack();
  await page.waitForSelector('th[aria-sort=ascending] >> text=User name');
});

test('an account is created; its link, QR code and password are shown once', skip, async (t) => {
  const { page, visit } = await signedIn(t, 30);
  await visit('/accounts?new=one');
  await page.fill('dialog input >> nth=0', 'newplayer');
  await page.keyboard.press('Enter');
  await page.waitForSelector('dialog .qr');
  const password = (await page.textContent('[data-password]')) ?? '';
  assert.ok(password.length >= 8);
  assert.match((await page.textContent('dialog')) ?? '', /socks5:\/\/newplayer:/);
  await page.click('dialog footer button');
  await visit('/accounts?search=newplayer');
  await page.waitForSelector('td >> text=newplayer');
  assert.ok(!(await page.content()).includes(password));
});

test('many accounts come from a pattern, with a preview that names those already taken', skip, async (t) => {
  const { page, visit } = await signedIn(t, 30);
  await visit('/accounts?new=many');
  await page.fill('dialog input >> nth=0', 'batch{01-12}');
  await page.click('dialog button >> text=Create 12');
  await page.waitForSelector('dialog >> text=12 accounts were created');
  await page.click('dialog footer >> text=I have kept it');
  await visit('/accounts?new=many');
  await page.fill('dialog input >> nth=0', 'batch{11-14}');
  await page.waitForSelector('dialog >> text=2 skipped: the user name is taken');
  await page.waitForSelector('dialog button >> text=Create 2');
});

test(
  'bulk work: extends with a preview, over every matching account, and says what was skipped',
  skip,
  async (t) => {
    const { page, visit } = await signedIn(t, 400);
    await visit('/accounts?limit=100');
    await page.check('thead input[type=checkbox]');
    await page.click('text=Select all 400');
    await page.click('.bulk-bar >> text=Extend');
    await page.waitForSelector('dialog .preview >> text=/accounts will change/');
    await page.waitForSelector('dialog >> text=/skipped: never expires/');
    await page.click('dialog button[type=submit]');
    await page.waitForSelector('.toast >> text=/Extend: \\d+ done, \\d+ skipped/');
  },
);

test('deleting asks for the name and says what goes with it', skip, async (t) => {
  const { page, visit, errors } = await signedIn(t, 30);
  await visit('/accounts');
  await page.click('tbody a.strong >> nth=0');
  await page.waitForSelector('.danger-zone');
  const name = (await page.textContent('h1')) ?? '';
  await page.click('.danger-zone button');
  await page.waitForSelector('dialog >> text=/heartbeat entr/');
  assert.ok(await page.isDisabled('dialog button[type=submit]'));
  await page.fill('dialog input', name);
  await page.click('dialog button[type=submit]');
  await page.waitForSelector('.toast >> text=Deleted');
  await visit(`/accounts?search=${name}`);
  await page.waitForSelector('text=No account matches');
  assert.deepEqual(errors, []);
});

test('a change that somebody else overtook is refused, and can be made on purpose', skip, async (t) => {
  const { page, visit } = await signedIn(t, 30);
  await visit('/accounts');
  await page.click('tbody a.strong >> nth=0');
  await page.click('.page-head >> text=Edit');
  await page.fill('dialog textarea', 'mine');
  await page.evaluate(`fetch('/api/v1/accounts/' + location.hash.split('/')[2], {
    method: 'PATCH', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ remarks: 'theirs' }),
  })`);
  await page.click('dialog button[type=submit]');
  await page.waitForSelector('dialog >> text=Somebody else changed it meanwhile');
  // The page behind reads the account anew; then the button means it.
  await page.waitForSelector('.facts >> text=theirs');
  await page.click('dialog >> text=Save anyway');
  await page.waitForSelector('.facts >> text=mine');
});

test('the whitelist explains itself and does not lock one out without being told to', skip, async (t) => {
  const { page, visit } = await signedIn(t, 5);
  await visit('/settings/whitelist');
  await page.fill('textarea', '10.0.0.0/8, nonsense');
  await page.waitForSelector('text=cannot be read');
  assert.ok(await page.isDisabled('form.card button[type=submit]'));
  await page.fill('textarea', '10.0.0.0/8');
  await page.waitForSelector('.state.bad >> text=Refused');
  await page.click('form.card button[type=submit]');
  await page.waitForSelector('dialog >> text=This would lock you out');
  await page.keyboard.press('Escape');
  await page.fill('textarea', '127.0.0.1');
  await page.waitForSelector('form.card .state.good');
  await page.click('form.card button[type=submit]');
  await page.waitForSelector('.toast >> text=The whitelist was saved');
});

test('a thousand rows scroll without a stall, and only those in sight are in the page', skip, async (t) => {
  const { page, visit } = await signedIn(t, 2_000);
  await visit('/accounts?limit=1000');
  await page.waitForSelector('table[aria-rowcount="1001"]');
  const { drawn, slowest } = await page.evaluate<{ drawn: number; slowest: number }>(`new Promise((done) => {
    const main = document.querySelector('main');
    const frames = [];
    let last = performance.now();
    const step = (n) => {
      const now = performance.now();
      frames.push(now - last);
      last = now;
      main.scrollTop += 400;
      if (n > 0) requestAnimationFrame(() => step(n - 1));
      else done({ drawn: document.querySelectorAll('tbody tr').length, slowest: frames.sort((a, b) => a - b)[Math.floor(frames.length * 0.95)] });
    };
    step(80);
  })`);
  assert.ok(drawn < 100, `${drawn} rows are in the page`);
  assert.ok(slowest < 400, `a frame took ${slowest} ms`);
  const lastRow = page.locator('tr[data-row="999"]');
  await page.evaluate(`document.querySelector('main').scrollTop = 1e6`);
  await lastRow.waitFor();
});

test('a daemon without accounts shows how to begin', skip, async (t) => {
  const { page, visit } = await signedIn(t, 0);
  await page.waitForSelector('text=Three steps to begin');
  await visit('/accounts');
  await page.waitForSelector('text=No accounts yet');
});

test('when the daemon goes away a banner says so, and when it is back the page is too', skip, async (t) => {
  const first = await startMockDaemon({ accounts: 10, console: BUILT_CONSOLE });
  const shown = await openConsole(t, browser, { url: first.url });
  await signIn(shown, 'admin', 'secret');
  await shown.visit('/accounts');
  await first.close();
  await shown.page.waitForSelector('.banner >> text=No connection to the daemon');
  const second = await startMockDaemon({
    accounts: 10,
    console: BUILT_CONSOLE,
    port: Number(new URL(first.url).port),
  });
  t.after(() => second.close());
  await shown.page.waitForSelector('.banner', { state: 'detached' });
});

test('a failed request says what happened and what to do, and can be repeated', skip, async (t) => {
  const shown = await signedIn(t, 10);
  const { page } = shown;
  await page.route('**/api/v1/accounts?*', (route) =>
    route.fulfill({ status: 403, contentType: 'application/json', body: '"IP不在白名单中"' }),
  );
  await page.evaluate(`location.hash = '#/accounts'`);
  await page.waitForSelector('[role=alert] >> text=Not allowed');
  await page.unroute('**/api/v1/accounts?*');
  await page.click('[role=alert] >> text=Try again');
  await page.waitForSelector('table.table');
});

test('when the session ended elsewhere, the sign-in page comes and leads back', skip, async (t) => {
  const shown = await signedIn(t, 10);
  await shown.visit('/sessions');
  await shown.page.context().clearCookies();
  await shown.page.waitForSelector('.login');
  await signIn(shown, 'admin', 'secret');
  await shown.page.waitForSelector('h1 >> text=Sessions');
});
