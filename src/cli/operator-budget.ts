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

/** Describes used amount and bound of each of the three parts; empty texts for other roles. */
export function budgetWords({
  role,
  budget,
  used,
}: Answer<'GET /operators'>['items'][number]): readonly string[] {
  if (role !== 'seller') return ['', '', ''];
  const of = (amount: string, bound: string | null): string =>
    bound === null ? amount : `${amount} of ${bound}`;
  return [
    of(String(used.accounts), budget.accounts === null ? null : String(budget.accounts)),
    of(used.days.toFixed(1), budget.days === null ? null : String(budget.days)),
    of(formatBytes(used.bytes), budget.bytes === null ? null : formatBytes(budget.bytes)),
  ];
}
