// Operators besides the administrator: their roles, budgets and second factors, and the dialog for each. It sends only changed fields.
import { useState } from 'preact/hooks';
import type { Operator } from '../../api-types.js';
import { call } from '../../lib/api.js';
import { useDraft } from '../../lib/draft.js';
import { bytes, count, numberText, readNumber } from '../../lib/format.js';
import { t } from '../../lib/i18n.js';
import { useLoad } from '../../lib/load.js';
import { href } from '../../lib/router.js';
import { Button, None, State } from '../../ui/basics.js';
import { AskButton, type DialogOf, FormDialog } from '../../ui/dialog.js';
import { Checkbox, InputField, optionsOf, SegmentsField } from '../../ui/form.js';
import { type Column, column, Lines } from '../../ui/list/columns.js';
import { ShortList } from '../../ui/list/list.js';
import { Empty } from '../../ui/states.js';
import { RevokeTokens } from '../settings/access/admin.js';

export function OperatorsPage() {
  const operators = useLoad('listOperators', {}, { topics: ['settings', 'accounts'] });
  return (
    <ShortList
      title={t('operators.title')}
      of={operators}
      rowsOf={({ items }) => items}
      text={t('operators.text')}
      add={t('operators.new')}
      empty={<Empty icon="accounts" title={t('operators.empty')} text={t('operators.empty.text')} />}
      table={(edit) => ({
        label: t('operators.title'),
        columns: columns(edit, operators.reload),
        phoneRowHeight: 76,
        id: (one) => one.id,
      })}
      dialog={(dialog) => <OperatorDialog {...dialog} />}
    />
  );
}

/** `12 / 50`; a bound that there is not is ∞. The number of accounts leads to them. */
function Budget({ of: { id, role, budget, used }, name }: { of: Operator; name: BoundName }) {
  if (role !== 'seller') return <None />;
  const bound = budget[name];
  const text = `${amount(name, used[name])} / ${bound === null ? '∞' : amount(name, bound)}`;
  return name === 'accounts' ? <a href={href(['accounts'], { owner: id })}>{text}</a> : <span>{text}</span>;
}

function columns(edit: (operator: Operator) => void, reload: () => void): readonly Column<Operator>[] {
  const budget = (name: BoundName, from: number): Column<Operator> =>
    column(name, `audit.budget.${name}`, { width: 136, from }, (one) => <Budget of={one} name={name} />);
  const name = (one: Operator) => (
    <Button kind="link" look="name" onClick={() => edit(one)}>
      {one.name}
    </Button>
  );
  const onPhone = (one: Operator) => {
    const shown = one.role === 'seller' ? BOUND_NAMES : [];
    const lines = shown.map((name) => [
      t('bulk.field', { field: t(`budget.${name}`) }),
      <Budget key={name} of={one} name={name} />,
    ]);
    return <Lines of={[name(one), ...lines]} />;
  };
  return [
    column('name', 'tokens.name', { phone: { cell: onPhone } }, (one) => <div>{name(one)}</div>),
    column('role', 'operators.role', { width: 104, phone: { width: 72 } }, (one) =>
      one.isEnabled ? roleText(one.role) : <State tone="none">{t('account.state.disabled')}</State>,
    ),
    budget('accounts', 800),
    budget('days', 1000),
    budget('bytes', 1200),
    column('factor', 'totp.title', { width: 120, from: 560, phone: { from: 560 } }, (one) =>
      one.totpEnabled ? (
        <AskButton
          kind="link"
          text={t('totp.on')}
          label={t('operators.factor.reset')}
          danger
          act={() => call('resetOperatorTotp', { params: { id: one.id } })}
          done={t('operators.factor.resetDone')}
          after={reload}
          question={t('operators.factor.reset.text', { name: one.name })}
        />
      ) : (
        <span class="soft">{t('totp.off')}</span>
      ),
    ),
    column('remove', '', { width: 80, align: 'end', phone: {} }, (one) => (
      <AskButton
        kind="link danger"
        text={t('operators.remove')}
        title={t('operators.remove.title', { name: one.name })}
        act={() => call('deleteOperator', { params: { id: one.id } })}
        done={t('operators.removed')}
        after={reload}
        question={t('operators.remove.text')}
      />
    )),
  ];
}

const roleText = (role: Operator['role']): string => t(`operators.role.${role}`);

/** Roles other than the administrator's, from the fewest rights on. */
const OPERATOR_ROLES = ['viewer', 'seller', 'operator'] as const;
type OperatorRole = (typeof OPERATOR_ROLES)[number];

/** The parts of a budget: how many of the stored unit are one of the form's. */
const BOUNDS = { accounts: 1, days: 1, bytes: 1_000_000_000 } as const;
type BoundName = keyof typeof BOUNDS;
const BOUND_NAMES = Object.keys(BOUNDS) as BoundName[];

function fieldsOf(operator: Operator | null) {
  const { name = '', role = 'seller', isEnabled = true, budget } = operator ?? {};
  const bounds = BOUND_NAMES.map((bound) => [bound, numberText(budget?.[bound] ?? null, BOUNDS[bound])]);
  const texts = Object.fromEntries(bounds) as Record<BoundName, string>;
  return { name, password: '', revokeTokens: true, role: role as OperatorRole, isEnabled, ...texts };
}

const readBound = (name: BoundName, text: string): number | null | undefined =>
  readNumber(text, { scale: BOUNDS[name], min: 0, max: Number.MAX_SAFE_INTEGER });

/** @param of null: a new one */
function OperatorDialog({ of: operator, onClose, onDone }: DialogOf<Operator | null>) {
  const [saved] = useState(() => fieldsOf(operator));
  const { values: fields, changes: changed, set, control } = useDraft(saved);
  const isSeller = fields.role === 'seller';
  const budgetOf = (names: readonly BoundName[]) =>
    Object.fromEntries(names.map((name) => [name, readBound(name, fields[name])])) as Operator['budget'];
  const isBudgetRead = !isSeller || BOUND_NAMES.every((name) => readBound(name, fields[name]) !== undefined);
  const changedBounds = isSeller ? BOUND_NAMES.filter((name) => changed[name] !== undefined) : [];
  const { revokeTokens: _, accounts: __, days: ___, bytes: ____, ...own } = changed;
  const changes = {
    ...own,
    ...(own.password === undefined ? {} : { revokeTokens: fields.revokeTokens }),
    ...(changedBounds.length === 0 ? {} : { budget: budgetOf(changedBounds) }),
  };
  const isReady =
    isBudgetRead &&
    fields.name.trim() !== '' &&
    (operator ? Object.keys(changes).length > 0 : fields.password !== '');
  const save = async () => {
    if (operator) await call('changeOperator', { params: { id: operator.id }, body: changes });
    else {
      const { name, password, role } = fields;
      const budget = isSeller ? { budget: budgetOf(BOUND_NAMES) } : {};
      await call('createOperator', { body: { name, password, role, ...budget } });
    }
    onDone();
  };
  return (
    <FormDialog
      title={operator ? t('account.editTitle', { name: operator.name }) : t('operators.new')}
      onClose={onClose}
      unsaved={Object.keys(changes).length > 0 ? 'typed' : null}
      action={t(operator ? 'settings.save' : 'create.submit')}
      isReady={isReady}
      send={save}
    >
      <InputField of="tokens.name" {...control('name')} autoFocus={!operator} />
      <InputField
        label={t(operator ? 'admin.next' : 'account.password')}
        hint={operator ? t('operators.newPassword.hint') : undefined}
        type="password"
        autocomplete="new-password"
        {...control('password')}
      />
      {operator && fields.password !== '' && (
        <RevokeTokens checked={fields.revokeTokens} onChange={(revokeTokens) => set({ revokeTokens })}>
          {t('operators.revokeTokens')}
        </RevokeTokens>
      )}
      <SegmentsField
        of="operators.role"
        hint={t(`operators.role.${fields.role}.text`)}
        {...control('role')}
        options={optionsOf(OPERATOR_ROLES, roleText)}
      />
      {operator && (
        <Checkbox checked={fields.isEnabled} onChange={(isEnabled) => set({ isEnabled })}>
          {t('operators.enabled')}
        </Checkbox>
      )}
      {isSeller && (
        <fieldset class="field">
          <legend>{t('operators.budget')}</legend>
          <p class="soft">{t('operators.budget.text')}</p>
          <div class="grid-2">
            {BOUND_NAMES.map((name) => (
              <InputField
                key={name}
                of={`operators.budget.${name}`}
                hint={
                  operator
                    ? t('operators.budget.used', { used: amount(name, operator.used[name]) })
                    : undefined
                }
                error={readBound(name, fields[name]) === undefined ? t('operators.budget.wrong') : undefined}
                {...control(name)}
                path={`budget.${name}`}
                inputMode="numeric"
                placeholder="∞"
              />
            ))}
          </div>
        </fieldset>
      )}
    </FormDialog>
  );
}

const amount = (name: BoundName, value: number): string => (name === 'bytes' ? bytes(value) : count(value));
