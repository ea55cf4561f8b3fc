// A real browser for tests of the console: the system's Chromium, controlled by playwright-core.
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Browser, chromium, type Page } from 'playwright-core';
import { eventually } from './eventually.js';
import type { Scope } from './suite.js';

/** The folder of the built console, a result of `npm run build`. */
export const BUILT_CONSOLE = fileURLToPath(new URL('../../console', import.meta.url));

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** Returns the path of the system's Chromium: `CHROMIUM`, or the first of the usual names in PATH; undefined when there is none. */
export function findChromium(): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const candidates = [
    process.env['CHROMIUM'] ?? '',
    ...folders.flatMap((folder) => NAMES.map((name) => join(folder, name))),
  ];
  return candidates.find((path) => path !== '' && existsSync(path));
}

/** Why the browser tests cannot run on this machine; false when they can. For the `skip` option of a test. */
export const noBrowser: string | false =
  findChromium() === undefined
    ? 'no Chromium on this machine'
    : !existsSync(join(BUILT_CONSOLE, 'index.html'))
      ? 'the console is not built (npm run build)'
      : false;

/**
 * Starts the browser. `args`: additional command line options. `proxy`: the value of `--proxy-server`, also used for loopback
 * addresses. DevTools answer the proxy's login prompt.
 */
export async function launchBrowser(
  proxy?: {
    readonly server: string;
    readonly username: string;
    readonly password: string;
  },
  args: readonly string[] = [],
): Promise<Browser> {
  return chromium.launch({
    executablePath: findChromium() ?? '',
    ...(proxy === undefined ? {} : { proxy }),
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      ...args,
    ],
  });
}

export interface ConsoleOptions {
  readonly url: string;
  readonly language?: 'zh-CN' | 'en';
  readonly theme?: 'light' | 'dark';
  readonly width?: number;
  readonly height?: number;
  /** The cookie of an open session. */
  readonly cookie?: { readonly name: string; readonly value: string };
  /** IANA name; left out: the time zone of this process. */
  readonly timezone?: string;
}

export interface ConsolePage {
  readonly page: Page;
  /** Script errors and violations of the content security policy so far. */
  readonly errors: string[];
  /** Opens an address in the console and waits until nothing is loading. */
  visit(hash: string): Promise<void>;
  /** Undoes a test's changes of the window and leaves it on a static image; returns false when that fails. */
  tidy(): Promise<boolean>;
  /** Loads the console in a clean window. Language, theme and time zone must be those of the window. */
  startAgain(options: ConsoleOptions): Promise<void>;
}

/** Opens a new window with its own cookies. The end of the test closes it. */
export async function openConsole(t: Scope, browser: Browser, options: ConsoleOptions): Promise<ConsolePage> {
  const context = await browser.newContext({
    viewport: viewportOf(options),
    ...(options.timezone === undefined ? {} : { timezoneId: options.timezone }),
  });
  t.after(() => context.close());
  if (options.cookie) await context.addCookies([{ ...options.cookie, url: options.url }]);
  // Scripts for the page are texts, because their names exist in the browser and not in Node.
  const preset = JSON.stringify({
    'pulsegate.theme': options.theme ?? 'light',
    'pulsegate.language': options.language ?? 'en',
  });
  await context.addInitScript(`if (location.protocol.startsWith('http')) {
    for (const [key, value] of Object.entries(${preset})) if (!localStorage.getItem(key)) localStorage.setItem(key, value);
  }`);
  const page = await context.newPage();
  // A page load takes tens of seconds where many test files share a processor.
  page.setDefaultTimeout(120_000);
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('console', (message) => {
    // The browser also logs refused and failed requests. The pages show those themselves.
    if (message.type() === 'error' && !message.text().includes('Failed to load resource'))
      errors.push(message.text());
  });
  let isTidying = false;
  page.on('dialog', (dialog) => {
    // The page asks before it leaves a form that the test has changed.
    if (isTidying) return void dialog.accept();
    errors.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.goto(`${options.url}/`);
  return {
    page,
    errors,
    async visit(hash) {
      await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
      await settled(page);
      await page.waitForSelector('main:has(.page-head, .empty):not(:has(.skeleton))');
    },
    async tidy() {
      isTidying = true;
      try {
        for (const other of context.pages()) if (other !== page) await other.close();
        await page.unrouteAll({ behavior: 'ignoreErrors' });
        await context.setOffline(false);
        await context.clearCookies();
        await page.evaluate('localStorage.clear(); sessionStorage.clear()');
        // An address of the same origin, so that the browser keeps its process.
        await page.goto(`${options.url}/icon.svg`);
        return true;
      } catch {
        await context.close();
        return false;
      } finally {
        isTidying = false;
      }
    },
    async startAgain(next) {
      errors.length = 0;
      await page.setViewportSize(viewportOf(next));
      await page.mouse.move(0, 0);
      if (next.cookie) await context.addCookies([{ ...next.cookie, url: next.url }]);
      await page.goto(`${next.url}/`);
    },
  };
}

function viewportOf({ width = 1440, height }: ConsoleOptions): { width: number; height: number } {
  return { width, height: height ?? (width < 600 ? 844 : 900) };
}

/** Waits, after a change of the address, until the browser has rendered the result. */
export async function settled(page: Page): Promise<void> {
  await page.evaluate(`new Promise((done) => {
    const frames = (left) => (left === 0 ? done() : requestAnimationFrame(() => frames(left - 1)));
    frames(4);
  })`);
}

/**
 * Resolves once the expression is true in the page. `page.waitForFunction` evaluates it again in the page itself, where the
 * Content-Security-Policy refuses that.
 */
export const holds = (page: Page, expression: string): Promise<boolean> =>
  eventually(() => page.evaluate<boolean>(expression));

/** Signs in and waits for the first page. */
export async function signIn({ page }: ConsolePage, username: string, password: string): Promise<void> {
  await page.fill('input[autocomplete=username]', username);
  await page.fill('input[autocomplete=current-password]', password);
  await page.keyboard.press('Enter');
  await page.waitForSelector('.rail');
}

/** Chooses an action on the selected rows: in the bar, or below "More". */
export async function chooseBulkAction(page: Page, text: string): Promise<void> {
  await page.waitForSelector('.bulk-bar');
  const inBar = page.locator(`.bulk-actions > .button:text-is("${text}")`);
  if ((await inBar.count()) > 0) return inBar.click();
  await page.click('.bulk-actions summary');
  await page.click(`.bulk-actions .menu >> text="${text}"`);
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Returns axe's serious and critical findings on the page in its present state, one per line. */
export async function axeFindings(page: Page): Promise<string[]> {
  // The debugger evaluates the script, because the page's policy does not apply to it.
  if (!(await page.evaluate<boolean>('Boolean(window.axe)'))) await page.evaluate(AXE);
  const { violations } = await page.evaluate<{ violations: readonly Violation[] }>(
    `axe.run({ resultTypes: ['violations'], rules: { 'target-size': { enabled: true } } })`,
  );
  return violations
    .filter((one) => one.impact === 'serious' || one.impact === 'critical')
    .flatMap((one) =>
      one.nodes.slice(0, 3).map((node) => `${one.id}: ${node.html} — ${node.failureSummary}`),
    );
}

interface Violation {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

/** Returns whether the page is wider than its window, so that a part is cut off. */
export async function isCutOff(page: Page): Promise<boolean> {
  return page.evaluate<boolean>(`(() => {
    const main = document.querySelector('main');
    return document.documentElement.scrollWidth > innerWidth || main.scrollWidth > main.clientWidth + 1;
  })()`);
}
