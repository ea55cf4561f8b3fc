// Browser windows for the tests of a file, used again: a new one costs as much as ten pages visited in one that is there.
import type { Browser } from 'playwright-core';
import { type ConsoleOptions, type ConsolePage, openConsole } from './console-browser.js';
import type { Scope } from './suite.js';

export interface ConsoleWindows {
  /**
   * A window on the first page, signed in with the cookie of `options`: nothing of the test before is left in it but the
   * scripts that `addInitScript` has given it. Handed back when the test ends.
   */
  open(t: Scope, options: ConsoleOptions): Promise<ConsolePage>;
}

/** @param scope whose end closes the windows */
export function consoleWindows(scope: Scope, browser: Browser): ConsoleWindows {
  const idle = new Map<string, ConsolePage[]>();
  return {
    async open(t, options) {
      // What a window is made with; the rest can be changed.
      const kind = [options.language, options.theme, options.timezone].join();
      const waiting = idle.get(kind) ?? [];
      idle.set(kind, waiting);
      const found = waiting.pop();
      if (found) await found.startAgain(options);
      const shown = found ?? (await openConsole(scope, browser, options));
      t.after(async () => {
        // A window that a test has broken or left hanging is not handed on.
        if (await shown.tidy()) waiting.push(shown);
      });
      await shown.page.waitForSelector('.rail');
      return shown;
    },
  };
}
