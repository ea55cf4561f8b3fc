// Loads the usage of accounts from the database at the start.
import type { Core } from './core.js';
import type { Part } from './lifecycle.js';

export function createAccountsPart({ core: { usage } }: { readonly core: Pick<Core, 'usage'> }): Part {
  return { name: 'quotas', start: () => usage.load(), stop() {} };
}
