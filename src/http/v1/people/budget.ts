// The budget of a seller, as /api/v1 shows it.
import { z } from 'zod';
import type { Operator } from '../../../core/auth/operator.js';
import { DAY_MS } from '../../../core/clock.js';
import { Bytes, Count } from '../../api/schemas.js';

const Bound = z.int().min(0).nullable();

/** null: no bound. */
export const Budget = z
  .object({
    /** Number of created accounts. */
    accounts: Bound,
    /** Sum of the days given to all accounts. */
    days: Bound,
    /** Sum of the quotas granted, for every period until an account expires; used traffic is spent. */
    bytes: Bound,
  })
  .meta({ id: 'Budget' });

/** The used part of the budget. Reducing or deleting an account refunds nothing. */
export const BudgetUsed = z
  .object({ accounts: Count, days: z.number().min(0), bytes: Bytes })
  .meta({ id: 'BudgetUsed' });

/** Presents a used budget, with days rounded to a hundredth. */
export const presentUsed = ({ accounts, ms, bytes }: Operator['used']) => ({
  accounts,
  days: Math.round((ms / DAY_MS) * 100) / 100,
  bytes,
});
