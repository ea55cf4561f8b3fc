// Descriptions of plans, and the list of plans.
import type { Account, Plan } from '../../../api-types.js';
import { expiry, expiryShort } from '../../../lib/format.js';
import { t } from '../../../lib/i18n.js';
import { useLoad } from '../../../lib/load.js';
import { limitWords } from './limits.js';

export function usePlans(): readonly Plan[] {
  return useLoad('getPlans', {}, { topics: ['settings'] }).data?.plans ?? [];
}

/** `30 days, from the first login`. */
export function daysWords({ days, startsAtFirstLogin }: Plan): string {
  if (days === null) return t('plans.forever');
  return t(startsAtFirstLogin ? 'plans.daysFromLogin' : 'plans.days', { n: days });
}

/** The limits in one line. */
export const planLimitWords = (limits: Plan['limits']): string => planLimitList(limits).join(' · ');

/** Each limit in words. */
export function planLimitList(limits: Plan['limits']): readonly string[] {
  const words = limitWords({ ...limits, egressClass: null }, new Set());
  if (words.length === 0) return [t('plans.noLimits')];
  return words.map(([name, word]) => t('audit.field', { field: t(`limits.${name}`), value: word }));
}

/** Describes when an account expires, or that it waits for its first login. */
export function expiryOf(
  { expiresAt, daysFromFirstLogin }: Pick<Account, 'expiresAt' | 'daysFromFirstLogin'>,
  short = false,
) {
  if (daysFromFirstLogin !== null)
    return t(short ? 'expiry.short.fromLogin' : 'expiry.fromLogin', { n: daysFromFirstLogin });
  return short ? expiryShort(expiresAt) : expiry(expiresAt);
}
