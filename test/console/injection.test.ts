// Whatever others write (names, remarks, GameIDs, destinations, messages, replies) is text on every page.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { BUILT_CONSOLE, launchBrowser, noBrowser, openConsole, signIn } from '../helpers/console-browser.js';
import { type MockDaemon, startMockDaemon } from '../helpers/mock-api.js';

const CALL = 'top.harmed=1';
const PAYLOADS = [
  `<script>${CALL}</script>`,
  `<img src=x onerror=${CALL}>`,
  `<svg onload=${CALL}>`,
  `<svg><script>${CALL}</script></svg>`,
  `"><script>${CALL}</script>`,
  `'><img src=x onerror=${CALL}>`,
  `</title><script>${CALL}</script>`,
  `</textarea><script>${CALL}</script>`,
  `</style><script>${CALL}</script>`,
  `--><script>${CALL}</script>`,
  `]]><script>${CALL}</script>`,
  `<iframe src="javascript:${CALL}">`,
  `<iframe srcdoc="<script>${CALL}</script>">`,
  `<a href="javascript:${CALL}">x</a>`,
  `javascript:${CALL}`,
  `data:text/html,<script>${CALL}</script>`,
  `<body onload=${CALL}>`,
  `<details open ontoggle=${CALL}>`,
  `<input autofocus onfocus=${CALL}>`,
  `<video><source onerror=${CALL}></video>`,
  `<math><mi xlink:href="javascript:${CALL}">`,
  `<object data="javascript:${CALL}">`,
  `<embed src="javascript:${CALL}">`,
  `<form action="javascript:${CALL}"><button>x`,
  `<meta http-equiv=refresh content="0;url=javascript:${CALL}">`,
  `<base href="//evil.example/">`,
  `<link rel=stylesheet href="//evil.example/x.css">`,
  `<style>*{display:none}</style>`,
  '{{constructor.constructor("top.harmed=1")()}}',
  '${top.harmed=1}',
  `&lt;script&gt;${CALL}&lt;/script&gt;`,
  `\u003cscript\u003e${CALL}`,
  `%3Cscript%3E${CALL}%3C/script%3E`,
  `<ScRiPt>${CALL}</sCrIpT>`,
  `<scr<script>ipt>${CALL}`,
  `"onmouseover="${CALL}"x="`,
  '{"__html":"<b>bold</b>"}',
  '__proto__',
  'constructor',
  '\u202egnp.exe',
];

let browser: Browser;
let daemon: MockDaemon;
before(async () => {
  if (noBrowser) return;
  daemon = await startMockDaemon({ accounts: PAYLOADS.length, console: BUILT_CONSOLE, texts: PAYLOADS });
  browser = await launchBrowser();
});
after(async () => {
  await browser?.close();
  await daemon?.close();
});

test(`${PAYLOADS.length} payloads in every text that others write: none runs, each is shown as it is`, {
  skip: noBrowser,
}, async (t) => {
  assert.ok(PAYLOADS.length >= 30);
  const shown = await openConsole(t, browser, { url: daemon.url, width: 1920 });
  await signIn(shown, 'admin', 'secret');
  const { page, visit, errors } = shown;
  const runs = await page.evaluate<string[]>(
    `fetch('/api/v1/runs?limit=40').then((r) => r.json()).then((p) => p.items.map((one) => one.id))`,
  );
  const accounts = await page.evaluate<string[]>(
    `fetch('/api/v1/accounts?limit=100').then((r) => r.json()).then((p) => p.items.map((one) => one.id))`,
  );
  const pages = [
    '/',
    '/accounts?limit=1000',
    '/sessions',
    '/sessions/logins',
    '/heartbeats',
    '/heartbeats?by=account',
    '/heartbeats?game=%3Cimg%20src%3Dx%20onerror%3Dtop.harmed%3D1%3E',
    '/agents',
    '/agents/sessions',
    '/agents/sessions/%3Cscript%3Etop.harmed%3D1%3C%2Fscript%3E',
    '/settings/audit',
    '/accounts?search=%3Cscript%3Etop.harmed%3D1%3C%2Fscript%3E',
    '/accounts?game=%22%3E%3Cscript%3Etop.harmed%3D1%3C%2Fscript%3E',
    '/accounts/%3Cscript%3Etop.harmed%3D1%3C%2Fscript%3E',
    ...accounts.map((id) => `/accounts/${id}`),
    ...runs.slice(0, PAYLOADS.length).map((id) => `/agents/runs/${id}`),
  ];
  for (const hash of pages) {
    await visit(hash);
    const found = await page.evaluate<string[]>(`[
      ...(window.harmed ? ['a script ran'] : []),
      ...[...document.querySelectorAll('#app script, #app iframe, #app object, #app embed, #app base, #app meta, #app style, #app link, #app video, #app math')].map((e) => e.outerHTML),
      ...[...document.querySelectorAll('#app *')].flatMap((e) => [...e.attributes].filter((a) => /^on/i.test(a.name) || /^\\s*javascript:/i.test(a.value) && a.name === 'href').map((a) => a.name + '=' + a.value)),
    ]`);
    assert.deepEqual(found, [], hash);
  }
  // High enough that every row is in the page.
  await page.setViewportSize({ width: 1920, height: 2_400 });
  await visit('/accounts?limit=1000');
  const names = new Set(await page.locator('td[data-column=username]').allTextContents());
  for (const payload of PAYLOADS) assert.ok(names.has(payload), `not shown as text: ${payload}`);
  assert.deepEqual(errors, []);
});
