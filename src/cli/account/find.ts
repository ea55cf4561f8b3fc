// Finds the account that a command names.
import { type Api, Refused } from '../shared/api.js';
import { CommandError } from '../shared/command.js';

/** Looks up the user name first, because a user name may look like an id. */
export async function findAccount({ call }: Api, nameOrId: string) {
  // The search ignores upper and lower case and finds parts of names, so it finds other accounts too.
  for (let cursor: string | undefined; ; ) {
    const page = await call('GET /accounts', { query: { search: nameOrId, limit: 1_000, cursor } });
    const found = page.items.find(({ username }) => username === nameOrId);
    if (found) return found;
    if (page.nextCursor === null) break;
    cursor = page.nextCursor;
  }
  return call('GET /accounts/{id}', { params: { id: nameOrId } }).catch((error: unknown) => {
    if (!(error instanceof Refused)) throw error;
    throw new CommandError(`No such account: ${JSON.stringify(nameOrId)}. See: pulsegate account list`);
  });
}
