// The account that a command names, and the tags by which commands choose accounts.
import { InvalidArgumentError } from 'commander';
import { isValidTag, TAG_RULE } from '../../core/accounts/fields/contacts.js';
import { guidOf } from '../../core/ids.js';
import type { Api } from '../shared/api.js';
import { notFound } from '../shared/command.js';
import { type Described, madeOf, param, repeated } from '../shared/params.js';

/** Looks up the user name first, because a user name may look like an id. */
export async function findAccount({ call }: Pick<Api, 'call'>, nameOrId: string) {
  const missing = notFound('account', nameOrId);
  const named = { query: { username: nameOrId } };
  const { items } = await call('GET /accounts', named, { 'query.username': missing });
  if (items[0]) return items[0];
  // Anything else could be another path of the API.
  if (guidOf(nameOrId) === null) throw missing;
  return call('GET /accounts/{id}', { params: { id: nameOrId } }, { 'no-account': missing });
}

/** For commands that find the account by themselves, because wrong usage is said first. */
export const ACCOUNT_NAME = { nameOrId: '<account>  user name or id' } as const;
export const ACCOUNT = { account: param('<account>  user name or id').finds(findAccount) };
/** All are looked up first: with a mistyped name, nothing is changed. */
export const ACCOUNTS = { accounts: param('<account...>  user names or ids').finds(findAccount) };

export const tagsOption = (described: Described) =>
  repeated(described, (tag) => {
    if (!isValidTag(tag)) throw new InvalidArgumentError(`${TAG_RULE.replace(/^a/, 'A')}.`);
    return [tag];
  });
/** The tags by which commands choose accounts, as /api/v1 reads them. */
export const TAGS = {
  tag: madeOf(
    { tags: tagsOption('--tag <tag>  filter by tag (repeatable: accounts with all of them)') },
    ({ tags }) => tags?.join(','),
  ),
};
