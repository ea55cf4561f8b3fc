// Converts the filter of a request into a test of accounts.
import {
  type AccountFilter,
  type AccountView,
  accountMatcher,
} from '../../../core/accounts/account-query.js';
import type { Services } from '../../services.js';
import { accountFacts } from './shared.js';

type FilterIn = Omit<AccountFilter, 'expiresFrom' | 'expiresBefore'> & {
  readonly expiresFrom?: string | undefined;
  readonly expiresBefore?: string | undefined;
};

/** Returns the test that an account must pass. */
export function matcherFor(
  deps: Pick<Services, 'sessions' | 'usage'>,
  { expiresFrom, expiresBefore, ...filter }: FilterIn,
  now: number,
): (view: AccountView) => boolean {
  const msOf = (text: string | undefined) => (text === undefined ? undefined : Date.parse(text));
  const times = { expiresFrom: msOf(expiresFrom), expiresBefore: msOf(expiresBefore) };
  return accountMatcher({ ...filter, ...times }, accountFacts(deps), now);
}
