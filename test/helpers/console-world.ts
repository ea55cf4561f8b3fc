// A daemon in the state after some weeks of use, and one browser, for all tests of a file: accounts, charts, live players, logins
// and runs. Some names and messages try to be markup.
import type { Browser } from 'playwright-core';
import { openStore } from '../../src/store/store.js';
import { signIn as openSession } from './console.js';
import { type ConsoleOptions, type ConsolePage, launchBrowser } from './console-browser.js';
import { consoleWindows } from './console-windows.js';
import { ADMIN, startTestDaemon, type TestDaemon } from './daemon.js';
import { databaseOf } from './database.js';
import { basic } from './http.js';
import { connectThrough } from './socks-client.js';
import type { Scope } from './suite.js';
import { echo, startTarget } from './targets.js';

/** Text that players and senders of messages choose. The console must show it unchanged and never run it. */
export const CALL = 'top.harmed=1';
export const PAYLOADS = [
  `<script>${CALL}</script>`,
  `<img src=x onerror=${CALL}>`,
  `<svg onload=${CALL}>`,
  `"><script>${CALL}</script>`,
  `'><img src=x onerror=${CALL}>`,
  `</title><script>${CALL}</script>`,
  `</textarea><script>${CALL}</script>`,
  `--><script>${CALL}</script>`,
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
  `%3Cscript%3E${CALL}%3C/script%3E`,
  `<ScRiPt>${CALL}</sCrIpT>`,
  `<scr<script>ipt>${CALL}`,
  `"onmouseover="${CALL}"x="`,
  '{"__html":"<b>bold</b>"}',
  '__proto__',
  'constructor',
  '\u202egnp.exe',
];

export const PASSWORD = 'player-secret';

export interface World {
  readonly daemon: TestDaemon;
  readonly browser: Browser;
  /** The cookie of the session that the windows are signed in with. */
  readonly cookie: NonNullable<ConsoleOptions['cookie']>;
  /** A run of the agent `parrot`, which repeats its message. */
  readonly runId: string;
  /** An account with live sessions, limits and remarks. */
  readonly accountId: string;
  readonly targetPort: number;
  /** Returns a window that is signed in and has no state of earlier tests. */
  open(t: Scope, options?: Partial<ConsoleOptions>): Promise<ConsolePage>;
}

const CONFIG = {
  // On a busy machine a file takes longer than the five minutes after which a session asks for the password again.
  admin: { session: { confirmFor: '12h' } },
  // The players send nothing more, and stay until the last test of the file.
  socks: { idleTimeout: '12h' },
  heartbeats: { interval: '1s', games: [{ gameId: 'GAME=([^;]+);' }] },
  agents: {
    parrot: {
      type: 'command',
      command: [
        process.execPath,
        '-e',
        'process.stdin.on("data", (d) => console.log(JSON.parse(d).message))',
      ],
    },
  },
};

export interface WorldOptions {
  /** Number of accounts besides those whose names look like markup. */
  readonly accounts?: number;
  readonly players?: number;
}

export async function startWorld(
  t: Scope,
  { accounts = 1_200, players = 6 }: WorldOptions = {},
): Promise<World> {
  const [browser, daemon] = await Promise.all([launchBrowser(), startTestDaemon(t, { config: CONFIG })]);
  t.after(() => browser.close());
  await Promise.all([importAccounts(daemon, accounts), addCharts(daemon)]);
  const target = await startTarget(t, echo);
  const names = [...Array.from({ length: players }, (_, i) => name(i)), ...PAYLOADS.slice(0, 4)];
  await Promise.all(
    names.map(async (username, i) => {
      const port = daemon.socks.port;
      const client = await connectThrough({ port, username, password: PASSWORD }, '127.0.0.1', target.port);
      t.after(() => client.destroy());
      client.send(i < players ? `GAME=arena${i % 3};` : `GAME=${username};`);
    }),
  );
  const sent = await Promise.all(
    PAYLOADS.slice(0, 4).map((message) => daemon.api('POST', '/api/v1/agents/parrot/messages', { message })),
  );
  const runId = String((sent[0]?.json as { runId?: string } | undefined)?.runId);
  // Nobody listens there.
  const types = ['account.created', 'account.changed', 'session.opened', 'operator.new-address'];
  await daemon.api('POST', '/api/v1/event-receivers', { url: 'http://127.0.0.1:9/events', types });
  const { AID } = await daemon.account(name(0));
  await daemon.api('PATCH', `/api/v1/accounts/${AID}`, {
    limits: { quotaBytes: 5_000_000_000, maxSessions: 4 },
  });
  const [cookieName = '', value = ''] = (await openSession(daemon, ADMIN)).cookie.split('=');
  const cookie = { name: cookieName, value };
  const windows = consoleWindows(t, browser);
  return {
    daemon,
    browser,
    cookie,
    runId,
    accountId: String(AID),
    targetPort: target.port,
    open: (test, options = {}) => windows.open(test, { url: daemon.adminUrl, cookie, ...options }),
  };
}

/** `player0007`: the names of the accounts. */
export const name = (i: number): string => `player${String(i).padStart(4, '0')}`;

async function importAccounts(daemon: TestDaemon, count: number): Promise<void> {
  const day = (n: number) => new Date(Date.now() + n * 86_400_000).toISOString();
  const accounts = [
    ...Array.from({ length: count }, (_, i) => ({
      username: name(i),
      password: PASSWORD,
      remarks:
        i % 7 === 3 ? `客户 ${i}，微信 wx_${i}，按月续费，每月五日前付款` : `customer ${i}, pays monthly`,
      expiresAt: i < 20 ? day(300) : i % 5 === 0 ? null : day((i % 60) - 10),
      isEnabled: i % 11 !== 10,
    })),
    ...PAYLOADS.map((text) => ({ username: text, password: PASSWORD, remarks: text })),
  ];
  const answer = await fetch(
    `${daemon.adminUrl}/api/v1/accounts/import?format=json&existing=skip&dryRun=false`,
    {
      method: 'POST',
      headers: { authorization: basic(ADMIN.username, ADMIN.password), 'content-type': 'application/json' },
      body: JSON.stringify(accounts),
    },
  );
  const report = (await answer.json()) as { added?: number };
  if (report.added !== accounts.length) throw new Error(`accounts: ${JSON.stringify(report).slice(0, 500)}`);
}

/** Writes one hour of chart minutes, except the last two minutes, which the daemon writes itself. */
async function addCharts(daemon: TestDaemon): Promise<void> {
  const store = await openStore(await databaseOf(daemon.dataDir));
  const minute = Math.floor(Date.now() / 60_000) * 60_000;
  for (let n = 2; n < 60; n += 1) {
    const wave = 1 + Math.sin(n / 9);
    const at = minute - n * 60_000;
    await store.samples.add(
      {
        minute: at,
        hour: Math.floor(at / 3_600_000) * 3_600_000,
        day: Math.floor(at / 86_400_000) * 86_400_000,
        month: 0,
      },
      {
        sessions: Math.round(40 * wave),
        playersOnline: Math.round(25 * wave),
        bytesUp: Math.round(9e6 * wave),
        bytesDown: Math.round(1.2e8 * wave),
        logins: Math.round(12 * wave),
        failures: n % 6,
        heartbeats: Math.round(300 * wave),
        runs: n % 3,
      },
      1,
    );
  }
  await store.close();
}
