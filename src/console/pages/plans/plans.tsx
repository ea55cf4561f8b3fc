// Plans: the terms by which accounts are created, renewed and upgraded.
import { useState } from 'preact/hooks';
import type { Plan } from '../../api-types.js';
import { ApiError, call } from '../../lib/api.js';
import { useDraft } from '../../lib/draft.js';
import { numberText, readNumber } from '../../lib/format.js';
import { t } from '../../lib/i18n.js';
import { useLoad } from '../../lib/load.js';
import { Pieces } from '../../ui/basics.js';
import { AskButton, type DialogOf, FormDialog } from '../../ui/dialog.js';
import { Checkbox, Field, Input, InputField } from '../../ui/form.js';
import { type Column, column } from '../../ui/list/columns.js';
import { ShortList } from '../../ui/list/list.js';
import { Empty } from '../../ui/states.js';
import { NAMES } from '../accounts/fields/account-fields.js';
import { AccountFields } from '../accounts/fields/field-inputs.js';
import { readFields, textsOf } from '../accounts/fields/field-texts.js';
import { daysWords, planLimitList, planLimitWords } from '../accounts/fields/plans.js';

const MAX_DAYS = 3_650;
/** A plan sets all limits except the egress class. */
const LIMITS = NAMES.limits.filter((name) => name !== 'egressClass');

export function PlansPage() {
  const saved = useLoad('getPlans', {}, { topics: ['settings'] });
  const { data, etag, reload } = saved;
  const plans = data?.plans ?? [];
  const save = (next: readonly Plan[]) => call('setPlans', { body: { plans: next }, etag });
  return (
    <ShortList
      title={t('settings.plans')}
      of={saved}
      rowsOf={(data) => data.plans}
      text={t('plans.text')}
      add={t('plans.new')}
      empty={
        <Empty icon="accounts" title={t('plans.empty')}>
          {t('plans.empty.text')}
          <pre>pulsegate plan set month --days 30</pre>
        </Empty>
      }
      table={(edit) => ({
        label: t('settings.plans'),
        columns: columns(({ name }) => save(plans.filter((each) => each.name !== name)), reload),
        rowHeight: 52,
        phoneRowHeight: 102,
        id: (plan) => plan.name,
        open: edit,
      })}
      dialog={(dialog) => <PlanDialog {...dialog} plans={plans} save={save} onStale={reload} />}
    />
  );
}

const onPhone = (plan: Plan) => (
  <div class="two-lines">
    <span class="strong">{plan.name}</span>
    <span class="soft over-four-lines">
      {daysWords(plan)} · {planLimitWords(plan.limits)}
    </span>
  </div>
);

function columns(remove: (plan: Plan) => Promise<unknown>, reload: () => void): readonly Column<Plan>[] {
  return [
    column('name', 'tokens.name', { width: 240, phone: { width: undefined, cell: onPhone } }, (plan) => (
      <div>
        <span class="strong">{plan.name}</span>
      </div>
    )),
    column('days', 'plans.lasts', { width: 200 }, daysWords),
    column('limits', 'limits.title', { from: 640 }, ({ limits }) => (
      <div class="over-two-lines">
        <Pieces of={planLimitList(limits)} between=" · " />
      </div>
    )),
    column('remove', '', { width: 88, align: 'end', phone: {} }, (plan) => (
      <AskButton
        kind="link danger"
        text={t('operators.remove')}
        label={t('plans.remove')}
        act={() => remove(plan)}
        done={t('settings.saved')}
        after={reload}
        question={t('plans.remove.text', { name: plan.name })}
      />
    )),
  ];
}

function fieldsOf(plan: Plan | null) {
  if (!plan) return { name: '', days: '30', startsAtFirstLogin: false, ...textsOf({}) };
  const { name, days, startsAtFirstLogin, limits, exit } = plan;
  return { ...textsOf({ limits, exit }), name, days: numberText(days), startsAtFirstLogin };
}

interface PlanDialogProps extends DialogOf<Plan | null> {
  readonly plans: readonly Plan[];
  readonly save: (plans: readonly Plan[]) => Promise<unknown>;
  /** Another user saved meanwhile: reads that user's version. */
  readonly onStale: () => void;
}

function PlanDialog({ of: plan, plans, save, onStale, onClose, onDone }: PlanDialogProps) {
  const [opened] = useState(plan);
  const draft = useDraft(fieldsOf(opened));
  const { values, set, control } = draft;
  const days = readNumber(values.days, { min: 1, max: MAX_DAYS, whole: true });
  const isOpened = ({ name }: Plan) => name === opened?.name;
  const isTaken = plans.some((each) => !isOpened(each) && each.name === values.name.trim());
  const next = planOf(values, days);
  const ready = next !== null && !isTaken && (draft.isDirty || opened === null);
  const send = async () => {
    if (!next) return;
    // The plan may have been removed meanwhile.
    const isNew = !plans.some(isOpened);
    const all = isNew ? [...plans, next] : plans.map((each) => (isOpened(each) ? next : each));
    await save(all).catch((failure: unknown) => {
      if (failure instanceof ApiError && failure.code === 'changed-meanwhile') onStale();
      throw failure;
    });
    onDone();
  };
  return (
    <FormDialog
      title={opened === null ? t('plans.new') : t('plans.edit', { name: opened.name })}
      wide
      onClose={onClose}
      unsaved={draft.isDirty ? 'typed' : null}
      action={t('settings.save')}
      isReady={ready}
      send={send}
    >
      <div class="grid-2">
        <Field of="tokens.name" path="name" error={isTaken ? t('plans.taken') : undefined}>
          <Input {...control('name')} maxLength={64} autoFocus />
        </Field>
        <InputField
          of="plans.daysField"
          isWrong={days === undefined}
          {...control('days')}
          inputMode="numeric"
          placeholder={t('plans.forever')}
        />
      </div>
      <Checkbox checked={values.startsAtFirstLogin} onChange={(on) => set({ startsAtFirstLogin: on })}>
        {t('plans.startsAtFirstLogin')}
      </Checkbox>
      <h3>{t('limits.title')}</h3>
      <AccountFields names={[...LIMITS, 'exit']} texts={values} onChange={set} look="grid-2" />
    </FormDialog>
  );
}

/** Returns the plan that the fields describe; null while they are invalid. */
function planOf(fields: ReturnType<typeof fieldsOf>, days: number | null | undefined): Plan | null {
  const limits = readFields(fields, LIMITS)?.limits as Plan['limits'] | undefined;
  const name = fields.name.trim();
  if (days === undefined || !limits || name === '') return null;
  return { name, days, startsAtFirstLogin: fields.startsAtFirstLogin, limits, exit: fields.exit || null };
}
