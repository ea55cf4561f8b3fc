// What a previewed change needs of the caller's budget, before it is made.
import { z } from 'zod';
import { type Cost, needsOf, shortOf } from '../../../core/accounts/plans/budget.js';
import type { Operators } from '../../../core/auth/operators.js';
import { component } from '../../api/schemas.js';
import type { Caller } from '../../caller.js';

/** null: no bound is left, or something without a bound is needed. */
const Amount = z.number().min(0).nullable();

export const BudgetPreview = component('BudgetPreview', {
  parts: z.array(
    z.object({
      what: z.enum(['accounts', 'days', 'bytes']),
      left: Amount,
      needed: Amount,
      isShort: z.boolean(),
    }),
  ),
  /** Whether the change would be refused because too little is left. */
  isShort: z.boolean(),
});

/** Reads the database: accounts at this and other daemons use the budget. Returns null for a caller who has no budget. */
export async function budgetPreview(
  { operators }: { readonly operators: Pick<Operators, 'get' | 'reload'> },
  { operator }: Caller,
  costOfChange: () => Cost | Promise<Cost>,
): Promise<z.infer<typeof BudgetPreview> | null> {
  if (operator?.role !== 'seller') return null;
  await operators.reload();
  const seller = operators.get(operator.id);
  if (!seller) return null;
  const { budget, used } = seller;
  const cost = await costOfChange();
  const short = new Set(shortOf(budget, used, cost).map(({ what }) => what));
  return {
    parts: needsOf(budget, used, cost).map(({ what, left, needed }) => ({
      what,
      left: finite(left),
      needed: finite(needed),
      isShort: short.has(what),
    })),
    isShort: short.size > 0,
  };
}

const finite = (amount: number): number | null => (Number.isFinite(amount) ? amount : null);
