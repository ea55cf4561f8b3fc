// What accounts have used: read at the start, and counted from there on.
import type { Core } from './core.js';
import type { Part } from './lifecycle.js';

export function createAccountsPart({ core: { usage } }: { readonly core: Pick<Core, 'usage'> }): Part {
  return { name: 'quotas', start: () => usage.load(), stop() {} };
}
