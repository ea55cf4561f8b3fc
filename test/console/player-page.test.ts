// The player page and the PAC file in a browser, which uses the PAC file from its start. All tests share it and one daemon.
// Only by name: npm run test:console
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { makeCertificate } from '../helpers/certificate.js';
import { axeFindings, holds, isCutOff, launchBrowser, noBrowser } from '../helpers/console-browser.js';
import { startTestDaemon, type TestDaemon } from '../helpers/daemon.js';
import { eventually } from '../helpers/eventually.js';
import { startNameServer } from '../helpers/name-server.js';
import { connectThrough } from '../helpers/socks-client.js';
import { suiteScope } from '../helpers/suite.js';

const skip = { skip: noBrowser };
/** A PNG of one pixel. */
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const scope = suiteScope();
let daemon: TestDaemon;
let browser: Browser;
let web: Server;
let webPort = 0;
let id = '';
let playerUrl = '';
let page: Page;
const errors: string[] = [];

before(async () => {
  if (noBrowser) return;
  // The name server of the proxy resolves only one of the two names, and the browser only the other.
  const names = await startNameServer(scope, (name, family) =>
    name === 'through.game.test' && family === 4 ? ['127.0.0.1'] : undefined,
  );
  const { certFile, keyFile } = makeCertificate(scope);
  const folder = await mkdtemp(join(tmpdir(), 'pulsegate-picture-'));
  scope.after(() => rm(folder, { recursive: true }));
  const picture = join(folder, 'logo.PNG');
  await writeFile(picture, Buffer.from(PIXEL, 'base64'));
  daemon = await startTestDaemon(scope, {
    config: {
      dns: { servers: [names.address] },
      socks: { listeners: [{ host: '0.0.0.0', port: 0, tls: { cert: certFile, key: keyFile } }] },
      admin: {
        playerPage: {
          ...{ enabled: true, pac: true, mayChange: ['password', 'authorizedAddresses'] },
          ...{ title: 'Arena Net', color: '#0f766e', picture },
        },
      },
    },
  });
  web = createServer((request, response) => response.end(`served ${request.headers.host}`));
  web.listen(0, '127.0.0.1');
  await once(web, 'listening');
  scope.after(() => web.close());
  webPort = (web.address() as AddressInfo).port;

  id = await daemon.addAccount('player01', 'secret', { ExpiresAt: '2100-01-01T00:00:00' });
  const limits = { quotaBytes: 50_000_000_000, quotaPeriod: 'month', maxClientAddresses: 3 };
  await daemon.api('PATCH', `/api/v1/accounts/${id}`, { limits });
  const rules = { rules: [{ match: '*.game.test', via: 'proxy' }], otherwise: 'direct' };
  await daemon.api('PUT', '/api/v1/settings/pac', rules);
  const made = await daemon.api('POST', `/api/v1/accounts/${id}/subscription`);
  playerUrl = (made.json as { url: string }).url;
  browser = await launchBrowser(undefined, [
    `--proxy-pac-url=${playerUrl}?format=pac`,
    '--ignore-certificate-errors',
    '--host-resolver-rules=MAP direct.test 127.0.0.1, MAP through.game.test ~NOTFOUND',
  ]);
  scope.after(() => browser.close());
  const context = await browser.newContext({
    locale: 'en-US',
    viewport: { width: 390, height: 844 },
    // Without this option, axe would read colours in the middle of a 100 ms transition.
    reducedMotion: 'reduce',
  });
  page = await context.newPage();
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().includes('Failed to load resource'))
      errors.push(message.text());
  });
});

test('a browser with the PAC file logs in at the listener with a certificate', skip, async () => {
  const context = await browser.newContext();
  const own = await context.newPage();
  const devTools = await context.newCDPSession(own);
  const asked: string[] = [];
  devTools.on('Fetch.requestPaused', ({ requestId }) => {
    devTools.send('Fetch.continueRequest', { requestId }).catch(() => {});
  });
  devTools.on('Fetch.authRequired', ({ requestId, authChallenge }) => {
    asked.push(`${authChallenge.source} ${new URL(authChallenge.origin).protocol}`);
    const login = { response: 'ProvideCredentials', username: 'player01', password: 'secret' } as const;
    devTools.send('Fetch.continueWithAuth', { requestId, authChallengeResponse: login }).catch(() => {});
  });
  await devTools.send('Fetch.enable', { handleAuthRequests: true });
  const through = await own.goto(`http://through.game.test:${webPort}/`);
  assert.equal(await through?.text(), `served through.game.test:${webPort}`);
  assert.deepEqual([...new Set(asked)], ['Proxy https:']);
  await context.close();
});

test('a browser with the PAC file uses the proxy for a listed host only', skip, async () => {
  await daemon.api('PATCH', `/api/v1/accounts/${id}`, { authorizedAddresses: ['127.0.0.1'] });
  const through = await page.goto(`http://through.game.test:${webPort}/`);
  assert.equal(await through?.text(), `served through.game.test:${webPort}`);
  const direct = await page.goto(`http://direct.test:${webPort}/`);
  assert.equal(await direct?.text(), `served direct.test:${webPort}`);
});

test(
  'the player page shows remaining time and traffic, disconnects a device and sets a new password',
  skip,
  async () => {
    const session = await connectThrough(
      { port: daemon.socks.port, username: 'player01', password: 'secret' },
      '127.0.0.1',
      webPort,
    );
    await page.goto(playerUrl);
    await page.waitForSelector('text=Time left');
    const text = (await page.textContent('main')) ?? '';
    for (const part of ['player01', 'Traffic left', '50.0 GB', '127.0.0.1', 'this network'])
      assert.ok(text.includes(part), part);
    assert.deepEqual(await axeFindings(page), []);
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390);

    await page.click('button:has-text("Sign out")');
    await page.click('.player-question .danger');
    await session.closed();
    await page.waitForSelector('text=No device is connected now.');

    await page.click('button:has-text("Make a new password")');
    await page.click('.player-question .danger');
    await page.waitForSelector('[data-password]');
    const password = (await page.textContent('[data-password]')) ?? '';
    assert.match((await page.textContent('[data-format=link]')) ?? '', new RegExp(`player01:${password}@`));
    await page.selectOption('.client-formats select', 'clash');
    assert.match((await page.textContent('[data-format=clash]')) ?? '', /"type":"socks5"/);
    const reconnected = await connectThrough(
      { port: daemon.socks.port, username: 'player01', password },
      '127.0.0.1',
      webPort,
    );
    reconnected.destroy();
    await page.click('button:has-text("I have saved it")');
    assert.deepEqual(errors, []);
  },
);

test('the page has the name, the colour and the picture of the operator', skip, async () => {
  await page.goto(playerUrl);
  await page.waitForSelector('header >> text=Arena Net');
  assert.equal(await page.title(), 'Arena Net');
  await holds(page, `document.querySelector('header img').naturalWidth === 1`);
  const edge = `getComputedStyle(document.querySelector('main'), '::before').backgroundColor`;
  assert.equal(await page.evaluate(edge), 'rgb(15, 118, 110)');
});

test(
  'the page shows the traffic of each day, and the address that the server sees with the delay',
  skip,
  async () => {
    await page.goto(playerUrl);
    await page.click('button:text-is("Test")');
    await page.waitForSelector('text=/The server sees 127\\.0\\.0\\.1\\. Delay [1-9]\\d* ms\\./');
    const player = { port: daemon.socks.port, username: 'linked', password: 'secret' };
    const linked = await daemon.addAccount('linked', 'secret');
    const made = await daemon.api('POST', `/api/v1/accounts/${linked}/subscription`);
    const client = await connectThrough(player, '127.0.0.1', webPort);
    client.send(`GET /${'x'.repeat(2_000)} HTTP/1.1\r\nHost: web\r\nConnection: close\r\n\r\n`);
    await client.closed();
    await eventually(async () => {
      await page.goto((made.json as { url: string }).url);
      await page.waitForSelector('section:has(h2:text("Traffic by day")) dd >> text=/^2\\.\\d+ kB$/', {
        timeout: 1_000,
      });
    });
    assert.equal(await page.locator('section:has(h2:text("Traffic by day")) dt').count(), 7);
    await page.goto(playerUrl);
    assert.deepEqual(errors, []);
  },
);

test('a long state of the account stays in the window of a phone', skip, async () => {
  const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
  const closed = `${days[(new Date().getUTCDay() + 3) % 7]} 00:00-01:00`;
  const set = async (schedule: string | null, shown: string) => {
    const answer = await daemon.api('PATCH', `/api/v1/accounts/${id}`, { schedule });
    assert.equal(answer.status, 200, answer.text);
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
    await page.waitForSelector(shown);
  };
  await set(closed, '.state >> text=/Outside the allowed hours until/');
  assert.equal(await isCutOff(page), false);
  await set(null, 'main:not(:has(.state.bad))');
});

test('the player page fits a phone and a desktop, in both languages and both themes', skip, async () => {
  await page.click('button:has-text("中文")');
  await page.waitForSelector('text=剩余流量');
  assert.equal(await page.getAttribute('html', 'lang'), 'zh-CN');
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme });
    await page.waitForSelector(`html[data-theme=${colorScheme}]`);
    for (const width of [320, 1280]) {
      await page.setViewportSize({ width, height: 844 });
      assert.equal(await page.evaluate('document.documentElement.scrollWidth'), width);
      assert.deepEqual(await axeFindings(page), [], `${colorScheme} ${width}`);
    }
  }
  const schedule = 'mon-fri 08:00-12:00,14:00-23:00; sat,sun 00:00-24:00';
  await daemon.api('PATCH', `/api/v1/accounts/${id}`, { schedule });
  await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
  await page.waitForSelector('dd >> text=周一至周五 08:00–12:00、14:00–23:00；周六、周日 全天（UTC）');
  const shown = (await page.textContent('main')) ?? '';
  assert.doesNotMatch(shown, /player\.\w+|undefined|NaN/, 'every text has a translation');
  assert.deepEqual(errors, []);
});

test('a page with a revoked URL says so, and shows no data', skip, async () => {
  await daemon.api('DELETE', `/api/v1/accounts/${id}/subscription`);
  await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
  await page.waitForSelector('text=这个地址已失效');
  assert.equal(await page.locator('.card').count(), 0);
});
