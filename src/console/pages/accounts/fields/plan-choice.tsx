// Chooses the plan of accounts among the existing plans, with their terms. Renders nothing when there is no plan.
import { t } from '../../../lib/i18n.js';
import { Field, Select } from '../../../ui/form.js';
import { daysWords, planLimitWords, usePlans } from './plans.js';

interface PlanChoiceProps {
  readonly value: string;
  readonly onInput: (plan: string) => void;
  /** What no plan means. */
  readonly none?: string;
}

export function PlanChoice({ value, onInput, none = t('plans.none') }: PlanChoiceProps) {
  const plans = usePlans();
  if (plans.length === 0) return null;
  const plan = plans.find(({ name }) => name === value);
  return (
    <Field
      label={t('plans.choose')}
      hint={plan ? `${daysWords(plan)} · ${planLimitWords(plan.limits)}` : undefined}
    >
      <Select
        value={value}
        onInput={onInput}
        options={[{ value: '', label: none }, ...plans.map(({ name }) => ({ value: name, label: name }))]}
      />
    </Field>
  );
}
