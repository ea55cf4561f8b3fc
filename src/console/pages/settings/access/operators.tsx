// Operators besides the administrator: their roles, budgets and second factors.
import type { Operator } from '../../../api-types.js';
import { call } from '../../../lib/api.js';
import { t } from '../../../lib/i18n.js';
import { useLoad } from '../../../lib/load.js';
import { href } from '../../../lib/router.js';
import { None, State } from '../../../ui/basics.js';
import { AskButton } from '../../../ui/dialog.js';
import { type Column, column, Lines } from '../../../ui/list/columns.js';
import { ShortList } from '../../../ui/list/list.js';
import { Empty } from '../../../ui/states.js';
import { amount, OperatorDialog } from './operator-dialog.js';

export function OperatorSettings() {
  const operators = useLoad('listOperators', {}, { topics: ['settings', 'accounts'] });
  return (
    <ShortList
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
      dialog={({ row, ...dialog }) => <OperatorDialog operator={row} {...dialog} />}
    />
  );
}

/** `12 / 50`; a bound that there is not is ∞. The number of accounts leads to them. */
function Budget({ of: { id, role, budget, used }, name }: { of: Operator; name: keyof Operator['budget'] }) {
  if (role !== 'seller') return <None />;
  const bound = budget[name];
  const text = `${amount(name, used[name])} / ${bound === null ? '∞' : amount(name, bound)}`;
  return name === 'accounts' ? <a href={href(['accounts'], { owner: id })}>{text}</a> : <span>{text}</span>;
}

const BUDGETS = ['accounts', 'days', 'bytes'] as const;

function columns(edit: (operator: Operator) => void, reload: () => void): readonly Column<Operator>[] {
  const budget = (name: keyof Operator['budget'], from: number): Column<Operator> =>
    column(name, `audit.budget.${name}`, { width: 136, from }, (one) => <Budget of={one} name={name} />);
  const name = (one: Operator) => (
    <button type="button" class="link name" onClick={() => edit(one)}>
      {one.name}
    </button>
  );
  const onPhone = (one: Operator) => {
    const shown = one.role === 'seller' ? BUDGETS : [];
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
        danger
        act={() => call('deleteOperator', { params: { id: one.id } })}
        done={t('operators.removed')}
        after={reload}
        question={t('operators.remove.text')}
      />
    )),
  ];
}

const roleText = (role: Operator['role']): string => t(`operators.role.${role}`);
