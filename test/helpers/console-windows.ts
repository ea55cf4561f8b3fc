// Browser windows that the tests of a file reuse. A new window takes as long as ten page visits in an open one.
import type { Browser } from 'playwright-core';
import { type ConsoleOptions, type ConsolePage, openConsole } from './console-browser.js';
import type { Scope } from './suite.js';

export interface ConsoleWindows {
  /**
   * Returns a window on the first page, signed in with the cookie of `options`. It contains no state of the previous test except
   * the scripts of `addInitScript`. The end of the test returns the window.
   */
  open(t: Scope, options: ConsoleOptions): Promise<ConsolePage>;
}

/** @param scope its end closes the windows */
export function consoleWindows(scope: Scope, browser: Browser): ConsoleWindows {
  const idle = new Map<string, ConsolePage[]>();
  return {
    async open(t, options) {
      // These options are fixed when a window opens. The other options can change.
      const kind = [options.language, options.theme, options.timezone].join();
      const waiting = idle.get(kind) ?? [];
      idle.set(kind, waiting);
      const found = waiting.pop();
      if (found) await found.startAgain(options);
      const shown = found ?? (await openConsole(scope, browser, options));
      t.after(async () => {
        // A window that a test broke or blocked is not reused.
        if (await shown.tidy()) waiting.push(shown);
      });
      await shown.page.waitForSelector('.rail');
      return shown;
    },
  };
}
