// A seller's budget: what is used and left of it, and what a previewed change takes.
import type { BudgetPreview, Operator } from '../../../api-types.js';
import { useUser } from '../../../lib/api.js';
import { bytes, count } from '../../../lib/format.js';
import { t } from '../../../lib/i18n.js';
import { useLoad } from '../../../lib/load.js';
import { Card, Meter, State } from '../../../ui/basics.js';

type BoundName = keyof Operator['budget'];
const NAMES: readonly BoundName[] = ['accounts', 'days', 'bytes'];

function budgetAmount(name: BoundName, amount: number): string {
  if (name === 'bytes') return bytes(amount);
  return name === 'days' ? t('budget.inDays', { n: Math.floor(amount * 100) / 100 }) : count(amount);
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
        {NAMES.map((name) => {
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
