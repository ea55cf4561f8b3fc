// The budget of a seller on the command line: options, and columns of the list.
import type { Budget } from '../core/accounts/plans/budget.js';
import type { Answer } from './shared/api.js';
import { NONE } from './shared/limit-options.js';
import { formatBytes } from './shared/table.js';

export const BUDGET_HELP = {
  accounts: 'budget of a seller: accounts to create; none removes the limit',
  days: 'budget of a seller: days to give to accounts, in total; none removes the limit',
  traffic: 'budget of a seller: traffic to grant by quotas (500GiB); none removes the limit',
};

export interface BudgetOptions {
  accounts?: number | typeof NONE;
  days?: number | typeof NONE;
  traffic?: number | typeof NONE;
}

/** Returns the bounds that the options set. */
export function toBudget({ accounts, days, traffic }: BudgetOptions): Partial<Budget> {
  const given = Object.entries({ accounts, days, bytes: traffic }).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map(([name, value]) => [name, value === NONE ? null : value]));
}

type Operator = Answer<'GET /operators'>['items'][number];

/** Used amount and bound of a part; empty for other roles. */
const column =
  (part: keyof Budget, bound: (n: number) => string, amount = bound) =>
  ({ role, budget: { [part]: most }, used }: Operator): string => {
    if (role !== 'seller') return '';
    return most === null ? amount(used[part]) : `${amount(used[part])} of ${bound(most)}`;
  };

export const BUDGET_COLUMNS = {
  ACCOUNTS: column('accounts', String),
  DAYS: column('days', String, (days) => days.toFixed(1)),
  TRAFFIC: column('bytes', formatBytes),
};
