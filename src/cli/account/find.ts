// Finds the account that a command names.
import type { Account } from '../../core/accounts/account.js';
import { guidOf } from '../../core/ids.js';
import type { Core } from '../../parts/core.js';
import { type Api, worded } from '../shared/api.js';
import { found, notFound } from '../shared/command.js';

/** Looks up the user name first, because a user name may look like an id. */
export async function findAccount({ call }: Api, nameOrId: string) {
  // The search ignores upper and lower case and finds parts of names, so it finds other accounts too.
  for (let cursor: string | undefined; ; ) {
    const page = await call('GET /accounts', { query: { search: nameOrId, limit: 1_000, cursor } });
    const named = page.items.find(({ username }) => username === nameOrId);
    if (named) return named;
    if (page.nextCursor === null) break;
    cursor = page.nextCursor;
  }
  const missing = notFound('account', nameOrId);
  // Anything else could be another path of the API.
  if (guidOf(nameOrId) === null) throw missing;
  return worded(call('GET /accounts/{id}', { params: { id: nameOrId } }), { 'no-account': missing });
}

/** Like `findAccount`, for commands that have opened the database. */
export function findStored({ accounts }: Core, nameOrId: string): Account {
  const stored = accounts.getByUsername(nameOrId) ?? accounts.get(nameOrId.toLowerCase());
  return found(stored, 'account', nameOrId).account;
}
