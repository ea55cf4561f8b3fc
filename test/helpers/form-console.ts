// One daemon and one browser for all tests of a file about forms, with common steps.
import assert from 'node:assert/strict';
import { before, type TestContext } from 'node:test';
import type { Response } from 'playwright-core';
import { signIn as openSession } from './console.js';
import { type ConsoleOptions, type ConsolePage, launchBrowser } from './console-browser.js';
import { type ConsoleWindows, consoleWindows } from './console-windows.js';
import { ADMIN, startTestDaemon, type TestDaemon } from './daemon.js';
import { connectThrough } from './socks-client.js';
import { suiteScope } from './suite.js';
import { echo, startTarget, type Target, tellAddress } from './targets.js';

export type Json = Record<string, unknown>;

export interface FormConsole {
  readonly daemon: () => TestDaemon;
  /** Returns a browser window that is signed in and has no state of earlier tests. */
  open(t: TestContext, options?: Partial<ConsoleOptions>, as?: typeof ADMIN): Promise<ConsolePage>;
  /** Sends a request to /api/v1 that must succeed, and returns the answer. */
  api(method: string, path: string, body?: unknown): Promise<Json>;
  limitsOf(id: string): Promise<Json>;
  /** Saves notice settings, as another tab does. */
  saveNotices(change: Json): Promise<void>;
  /** Connects a player who sends bytes every `everyMs` until the test ends. */
  play(t: TestContext, username: string, everyMs: number): Promise<void>;
  /**
   * Changes another account repeatedly until the test ends, so that pages read all data again. The returned function counts the
   * page's requests whose URL matches `path`.
   */
  stir(t: TestContext, shown: ConsolePage, path: RegExp): Promise<() => number>;
}

/** Call it in the body of a `describe`. */
export function useFormConsole(): FormConsole {
  const scope = suiteScope();
  let windows: ConsoleWindows;
  let daemon: TestDaemon;
  let target: Target;
  let stirred = 0;
  before(async () => {
    const { port } = await startTarget(scope, tellAddress);
    const egress = {
      classes: { friends: { private: 'allow' } },
      exitTest: `http://127.0.0.1:${port}/`,
    };
    const admin = { playerPage: { enabled: true } };
    const [browser, started] = await Promise.all([
      launchBrowser(),
      startTestDaemon(scope, {
        config: { egress, timeZone: 'Asia/Shanghai', admin, events: { maxTries: 1 } },
      }),
    ]);
    scope.after(() => browser.close());
    windows = consoleWindows(scope, browser);
    daemon = started;
    target = await startTarget(scope, echo);
  });

  const api: FormConsole['api'] = async (method, path, body) => {
    const answer = await daemon.api(method, `/api/v1${path}`, body);
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.json as Json;
  };
  return {
    daemon: () => daemon,
    api,
    limitsOf: async (id) => (await api('GET', `/accounts/${id}`))['limits'] as Json,
    async saveNotices({ email: changed = {}, ...change }) {
      const { builtIn: _, email, telegram, wecom, ...saved } = await api('GET', '/settings/notices');
      const plain = (part: unknown) =>
        Object.fromEntries(Object.entries(part as Json).filter(([name]) => !name.startsWith('has')));
      const channels = { telegram: plain(telegram), wecom: plain(wecom) };
      const mail = { ...plain(email), ...(changed as Json) };
      await api('PUT', '/settings/notices', { ...saved, ...change, ...channels, email: mail });
    },
    async open(t, options = {}, as = ADMIN) {
      // A test may sign out, so each window gets a new session.
      const [name = '', value = ''] = (await openSession(daemon, as)).cookie.split('=');
      return windows.open(t, { url: daemon.adminUrl, cookie: { name, value }, ...options });
    },
    async play(t, username, everyMs) {
      const account = { port: daemon.socks.port, username, password: 'secret' };
      const player = await connectThrough(account, '127.0.0.1', target.port);
      player.send('x'.repeat(1000));
      const timer = setInterval(() => player.send('moves'), everyMs);
      t.after(() => {
        clearInterval(timer);
        player.destroy();
      });
    },
    async stir(t, { page }, path) {
      stirred += 1;
      const id = await daemon.addAccount(`stirred-${stirred}`, 'secret');
      let reads = 0;
      const count = (response: Response): void => {
        if (response.request().method() === 'GET' && path.test(response.url())) reads += 1;
      };
      page.on('response', count);
      let round = 0;
      const timer = setInterval(() => {
        round += 1;
        daemon.api('PATCH', `/api/v1/accounts/${id}`, { remarks: `round ${round}` }).catch(() => {});
      }, 100);
      t.after(() => {
        clearInterval(timer);
        page.off('response', count);
      });
      return () => reads;
    },
  };
}
