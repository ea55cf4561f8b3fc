// Plans and limits in words, and the choice of a plan and of an owner: a seller, or the administrator, who alone changes it.
import type { Account, AccountLimits, Operator, Plan } from '../../../api-types.js';
import { useMay } from '../../../lib/api.js';
import type { Controlled } from '../../../lib/draft.js';
import { expiry, expiryShort } from '../../../lib/format.js';
import { t } from '../../../lib/i18n.js';
import { useLoad } from '../../../lib/load.js';
import { SegmentsField, SelectField } from '../../../ui/form.js';
import { accountField, NAMES } from './account-fields.js';

export function usePlans(): readonly Plan[] {
  return useLoad('getPlans', {}, { topics: ['settings'] }).data?.plans ?? [];
}

/** `30 days, from the first login`. */
export function daysWords({ days, startsAtFirstLogin }: Plan): string {
  if (days === null) return t('plans.forever');
  return t(startsAtFirstLogin ? 'expiry.fromLogin' : 'unit.days', { n: days });
}

export const planLimitWords = (limits: Plan['limits']): string => planLimitList(limits).join(' · ');

export function planLimitList(limits: Plan['limits']): readonly string[] {
  // Answers have every limit; only requests may leave some out.
  const words = limitWords({ ...limits, egressClass: null } as AccountLimits, new Set());
  if (words.length === 0) return [t('plans.noLimits')];
  return words.map(([name, word]) => t('audit.field', { field: t(`limits.${name}`), value: word }));
}

/** Describes the limits that are set and those in `always`. The quota includes its period. */
export function limitWords(
  limits: AccountLimits,
  always: ReadonlySet<keyof AccountLimits>,
): [keyof AccountLimits, string][] {
  // The period has its own entry only when there is no quota.
  const shown = NAMES.limits.filter((name) =>
    name === 'quotaPeriod'
      ? limits.quotaBytes === null && always.has(name)
      : limits[name] !== null || always.has(name),
  );
  return shown.map((name) => [name, limitWord(limits, name)]);
}

/** Shows the exact number as the form does, without the rounding used elsewhere. */
function limitWord(limits: AccountLimits, name: keyof AccountLimits): string {
  const period = t(`limits.period.${limits.quotaPeriod}`);
  if (name === 'quotaPeriod') return period;
  const { text, unit, words, none = 'limits.none' } = accountField(name);
  if (limits[name] === null) return t(none);
  const amount = words?.(limits[name]) ?? `${text(limits[name])}${unit ? ` ${unit}` : ''}`;
  return name === 'quotaBytes' ? `${amount} ${period}` : amount;
}

export function expiryOf(
  { expiresAt, daysFromFirstLogin }: Pick<Account, 'expiresAt' | 'daysFromFirstLogin'>,
  short = false,
) {
  if (daysFromFirstLogin !== null)
    return t(short ? 'expiry.short.fromLogin' : 'expiry.fromLogin', { n: daysFromFirstLogin });
  return short ? expiryShort(expiresAt) : expiry(expiresAt);
}

const MOST_IN_SIGHT = 4;

export function PlanChoice({ none = t('plans.none'), ...chosen }: Controlled<string> & { none?: string }) {
  const plans = usePlans();
  if (plans.length === 0) return null;
  const plan = plans.find(({ name }) => name === chosen.value);
  // A few are all in sight, one click away.
  const Choice = plans.length <= MOST_IN_SIGHT ? SegmentsField : SelectField;
  return (
    <Choice
      label={t('plans.choose')}
      {...(plan ? { hint: `${daysWords(plan)} · ${planLimitWords(plan.limits)}` } : {})}
      {...chosen}
      options={[{ value: '', label: none }, ...plans.map(({ name }) => ({ value: name, label: name }))]}
    />
  );
}

/** Returns the sellers that can own accounts; none for a user who may not change the owner. */
export function useSellers(): readonly Operator[] {
  const { data } = useLoad('listOperators', useMay('listOperators') ? {} : null, { topics: ['settings'] });
  return data?.items.filter(({ role }) => role === 'seller') ?? [];
}

/** @param owner id of a seller; '' is the administrator */
export function OwnerChoice(owner: Controlled<string>) {
  const sellers = useSellers().map(({ id, name }) => ({ value: id, label: name }));
  const administrator = { value: '', label: t('operators.administrator') };
  return <SelectField label={t('operators.owner')} {...owner} options={[administrator, ...sellers]} />;
}
