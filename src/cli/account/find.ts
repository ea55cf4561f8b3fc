// The account that a command names, and the tags by which commands choose accounts.
import { InvalidArgumentError } from 'commander';
import { isValidTag, TAG_RULE } from '../../core/accounts/fields/contacts.js';
import { guidOf } from '../../core/ids.js';
import { type Api, worded } from '../shared/api.js';
import { notFound } from '../shared/command.js';

export const ACCOUNT = { '<account>': 'user name or id' } as const;

/** Looks up the user name first, because a user name may look like an id. */
export async function findAccount({ call }: Pick<Api, 'call'>, nameOrId: string) {
  const missing = notFound('account', nameOrId);
  const { items } = await worded(call('GET /accounts', { query: { username: nameOrId } }), {
    'query.username': missing,
  });
  if (items[0]) return items[0];
  // Anything else could be another path of the API.
  if (guidOf(nameOrId) === null) throw missing;
  return worded(call('GET /accounts/{id}', { params: { id: nameOrId } }), { 'no-account': missing });
}

/** A repeatable option: `--tag vip --tag shop-2`. */
export function collectTag(tag: string, before: readonly string[] = []): readonly string[] {
  if (!isValidTag(tag)) throw new InvalidArgumentError(`${TAG_RULE.replace(/^a/, 'A')}.`);
  return [...before, tag];
}
