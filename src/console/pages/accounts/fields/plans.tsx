// Plans and limits in words, the choice of a plan and of an owner (a seller, or the administrator, who alone changes it), and a
// seller's budget: what is used and left of it, and what a previewed change takes.
import type { Account, AccountLimits, BudgetPreview, Operator, Plan } from '../../../api-types.js';
import { useMay, useUser } from '../../../lib/api.js';
import type { Controlled } from '../../../lib/draft.js';
import { bytes, count, expiry, expiryShort } from '../../../lib/format.js';
import { t } from '../../../lib/i18n.js';
import { useLoad } from '../../../lib/load.js';
import { Card, Meter, State } from '../../../ui/basics.js';
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

type BoundName = keyof Operator['budget'];
const BOUND_NAMES: readonly BoundName[] = ['accounts', 'days', 'bytes'];

function budgetAmount(name: BoundName, amount: number): string {
  if (name === 'bytes') return bytes(amount);
  return name === 'days' ? t('unit.days', { n: Math.floor(amount * 100) / 100 }) : count(amount);
}

/** The signed-in seller's budget. Renders nothing for everybody else. */
export function OwnBudget() {
  const known = useUser()?.budget ?? null;
  const { data } = useLoad('getMe', known === null ? null : {}, { topics: ['accounts', 'settings'] });
  const budget = data?.budget ?? known;
  if (budget === null) return null;
  const { bounds, used } = budget;
  return (
    <Card title={t('budget.own')} look="budget" label={t('budget.own')}>
      <dl>
        {BOUND_NAMES.map((name) => {
          const bound = bounds[name];
          return (
            <div key={name}>
              <dt class="soft">{t(`budget.${name}`)}</dt>
              <dd class="row wrap number">
                {bound === null ? (
                  t('budget.unbounded', { used: budgetAmount(name, used[name]) })
                ) : (
                  <>
                    <strong>
                      {t('budget.left', { left: budgetAmount(name, Math.max(0, bound - used[name])) })}
                    </strong>{' '}
                    <span class="soft">
                      {t('budget.usedOf', {
                        used: budgetAmount(name, used[name]),
                        bound: budgetAmount(name, bound),
                      })}
                    </span>
                    <Meter value={used[name]} max={bound} label={t(`budget.${name}`)} />
                  </>
                )}
              </dd>
            </div>
          );
        })}
      </dl>
    </Card>
  );
}

export function BudgetWords({ budget }: { budget: BudgetPreview | null }) {
  const parts = budget?.parts.filter(({ left, needed }) => left !== null && needed !== 0) ?? [];
  if (!budget || parts.length === 0) return null;
  return (
    <div class="budget-words" role={budget.isShort ? 'alert' : undefined}>
      <State tone={budget.isShort ? 'bad' : 'good'}>
        {t(budget.isShort ? 'budget.short' : 'budget.enough')}
      </State>
      <ul>
        {parts.map(({ what, left, needed, isShort }) => (
          <li key={what} class={isShort ? 'bad-text' : 'soft'}>
            {needed === null
              ? t(`budget.endless.${what}`, { left: budgetAmount(what, left ?? 0) })
              : t('budget.needs', {
                  what: t(`budget.${what}`),
                  needed: budgetAmount(what, needed),
                  left: budgetAmount(what, left ?? 0),
                })}
          </li>
        ))}
      </ul>
    </div>
  );
}
