// Operators besides the administrator: their roles, budgets and second factors.
import { useState } from 'preact/hooks';
import type { Operator } from '../../../api-types.js';
import { call } from '../../../lib/api.js';
import { t } from '../../../lib/i18n.js';
import { useLoad } from '../../../lib/load.js';
import { href } from '../../../lib/router.js';
import { State } from '../../../ui/basics.js';
import { Confirm } from '../../../ui/dialog.js';
import { ShortList } from '../../../ui/list.js';
import { Empty } from '../../../ui/states.js';
import type { Column } from '../../../ui/table.js';
import { notify } from '../../../ui/toast.js';
import { amount, OperatorDialog } from './operator-dialog.js';

/** What is open over the page. */
interface Open {
  readonly what: 'new' | 'edit' | 'factor' | 'remove';
  readonly operator: Operator | null;
}

export function OperatorSettings() {
  const operators = useLoad('listOperators', {}, { topics: ['settings', 'accounts'] });
  const [open, setOpen] = useState<Open | null>(null);
  const { reload } = operators;
  const close = () => setOpen(null);
  const saved = () => {
    close();
    notify(t('operators.saved'));
    reload();
  };
  return (
    <>
      <ShortList
        of={operators}
        rowsOf={({ items }) => items}
        skeleton={4}
        text={t('operators.text')}
        add={t('operators.new')}
        onAdd={() => setOpen({ what: 'new', operator: null })}
        empty={
          <Empty icon="accounts" title={t('operators.empty')}>
            {t('operators.empty.text')}
          </Empty>
        }
        table={{
          label: t('operators.title'),
          columns: columns((what, operator) => setOpen({ what, operator })),
          phoneRowHeight: 76,
          id: (one) => one.id,
        }}
      />
      {(open?.what === 'new' || open?.what === 'edit') && (
        <OperatorDialog operator={open.operator} onClose={close} onSaved={saved} />
      )}
      {open?.what === 'factor' && open.operator && (
        <ResetFactor operator={open.operator} onClose={close} onDone={reload} />
      )}
      {open?.what === 'remove' && open.operator && (
        <Remove operator={open.operator} onClose={close} onDone={reload} />
      )}
    </>
  );
}

interface ConfirmProps {
  readonly operator: Operator;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

function ResetFactor({ operator: { id, name }, onClose, onDone }: ConfirmProps) {
  return (
    <Confirm
      title={t('operators.factor.reset')}
      action={t('operators.factor.reset')}
      danger
      onClose={onClose}
      act={async () => {
        await call('resetOperatorTotp', { params: { id } });
        notify(t('operators.factor.resetDone'));
        onDone();
      }}
    >
      <p>{t('operators.factor.reset.text', { name })}</p>
    </Confirm>
  );
}

function Remove({ operator: { id, name }, onClose, onDone }: ConfirmProps) {
  return (
    <Confirm
      title={t('operators.remove.title', { name })}
      action={t('operators.remove')}
      danger
      onClose={onClose}
      act={async () => {
        await call('deleteOperator', { params: { id } });
        notify(t('operators.removed'));
        onDone();
      }}
    >
      <p>{t('operators.remove.text')}</p>
    </Confirm>
  );
}

/** `12 / 50`; a bound that there is not is ∞. The number of accounts leads to them. */
function Budget({ of: { id, role, budget, used }, name }: { of: Operator; name: keyof Operator['budget'] }) {
  if (role !== 'seller') return <span class="faint">—</span>;
  const bound = budget[name];
  const text = `${amount(name, used[name])} / ${bound === null ? '∞' : amount(name, bound)}`;
  return name === 'accounts' ? <a href={href(['accounts'], { owner: id })}>{text}</a> : <span>{text}</span>;
}

const BUDGETS = ['accounts', 'days', 'bytes'] as const;

function columns(
  open: (what: 'edit' | 'factor' | 'remove', operator: Operator) => void,
): readonly Column<Operator>[] {
  const budget = (name: keyof Operator['budget'], from: number): Column<Operator> => ({
    key: name,
    head: t(`audit.budget.${name}`),
    width: '136px',
    from,
    cell: (one) => <Budget of={one} name={name} />,
  });
  const edit = (one: Operator) => (
    <button type="button" class="link name" onClick={() => open('edit', one)}>
      {one.name}
    </button>
  );
  return [
    {
      key: 'name',
      head: t('operators.name'),
      cell: (one) => <div>{edit(one)}</div>,
      phone: {
        cell: (one) => (
          <div class="two-lines">
            {edit(one)}
            {one.role === 'seller' &&
              BUDGETS.map((name) => (
                <span key={name} class="soft number">
                  {t('bulk.field', { field: t(`budget.${name}`) })}
                  <Budget of={one} name={name} />
                </span>
              ))}
          </div>
        ),
      },
    },
    {
      key: 'role',
      head: t('operators.role'),
      width: '104px',
      cell: (one) =>
        one.isEnabled ? roleText(one.role) : <State tone="none">{t('operators.disabled')}</State>,
      phone: { width: '72px' },
    },
    budget('accounts', 800),
    budget('days', 1000),
    budget('bytes', 1200),
    {
      key: 'factor',
      head: t('operators.factor'),
      width: '120px',
      from: 560,
      cell: (one) =>
        one.totpEnabled ? (
          <button
            type="button"
            class="link"
            title={t('operators.factor.reset')}
            aria-label={t('operators.factor.reset')}
            onClick={() => open('factor', one)}
          >
            {t('operators.factor.on')}
          </button>
        ) : (
          <span class="soft">{t('operators.factor.off')}</span>
        ),
      phone: { from: 560 },
    },
    {
      key: 'remove',
      head: '',
      width: '80px',
      align: 'end',
      cell: (one) => (
        <button type="button" class="link danger" onClick={() => open('remove', one)}>
          {t('operators.remove')}
        </button>
      ),
      phone: {},
    },
  ];
}

const roleText = (role: Operator['role']): string => t(`operators.role.${role}`);
