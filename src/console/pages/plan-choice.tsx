// The plan of new accounts: a choice among those there are, with what each gives; nothing where there are none.
import { t } from '../lib/i18n.js';
import { Field, Select } from '../ui/form.js';
import { daysWords, planLimitWords, usePlans } from './plans.js';

export function PlanChoice({ value, onChange }: { value: string; onChange: (plan: string) => void }) {
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
        onChange={onChange}
        options={[
          { value: '', label: t('plans.none') },
          ...plans.map(({ name }) => ({ value: name, label: name })),
        ]}
      />
    </Field>
  );
}
