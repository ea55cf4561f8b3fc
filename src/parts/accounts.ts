// What accounts have used: counted from the start on, and held against their quotas once a second.
import type { Core } from './core.js';
import type { Part } from './lifecycle.js';

/** How often quotas and times of day are checked, in ms. */
const ENFORCE_INTERVAL_MS = 1_000;

export function createAccountsPart({ core: { usage } }: { readonly core: Pick<Core, 'usage'> }): Part {
  let timer: NodeJS.Timeout | undefined;
  return {
    name: 'quotas',
    async start() {
      await usage.load();
      timer = setInterval(usage.enforce, ENFORCE_INTERVAL_MS);
    },
    stop: () => clearInterval(timer),
  };
}
