// What an operator does with one account, from its row and from its page: the actions that it has now, and the dialogs that they open.
import { useState } from 'preact/hooks';
import type { Account, Plan } from '../../api-types.js';
import { may } from '../../lib/api.js';
import { isTextKey, type TextKey, t } from '../../lib/i18n.js';
import { Button } from '../../ui/basics.js';
import type { IconName } from '../../ui/icons.js';
import { lazyDialog } from '../../ui/lazy.js';
import { type MoreAction, MoreActions } from '../../ui/list/selection-bar.js';
import type { BulkActionType } from './bulk/bulk-preview.js';
import { usePlans } from './fields/plans.js';
import type { HandedOver } from './handover.js';

const BulkDialog = lazyDialog(async () => (await import('./bulk/bulk-dialog.js')).BulkDialog);
const EditDialog = lazyDialog(async () => (await import('./edit.js')).EditDialog);
const PasswordDialog = lazyDialog(async () => (await import('./edit.js')).PasswordDialog);
const HandoverDialog = lazyDialog(async () => (await import('./handover.js')).HandoverDialog);

export type ActionName = BulkActionType | 'renew' | 'send' | 'password' | 'edit';

export const isSuspendedByGuard = ({ suspendReason }: Account): boolean =>
  isTextKey(`login.outcome.${suspendReason}`);

/** How an account is renewed: by its plan, or else by days; null: it has no end. */
function renewalOf({ plan, expiresAt, daysFromFirstLogin }: Account, plans: readonly Plan[]) {
  if (plans.some(({ name }) => name === plan)) return 'plan';
  return expiresAt === null && daysFromFirstLogin === null ? null : 'extend';
}

interface Offered {
  readonly name: ActionName;
  readonly text: TextKey;
  /** In a row, a button of its own. */
  readonly icon?: IconName | undefined;
}

/** The actions that an account has now and the user may do, the most frequent first. */
export function actionsOn(account: Account, plans: readonly Plan[]): readonly Offered[] {
  const { isEnabled } = account;
  const isSuspended = account.suspendedUntil !== null;
  const mayResume = !isSuspendedByGuard(account) || may('egress:write');
  const canChange = may('changeAccounts');
  const all: readonly (readonly [ActionName, TextKey, boolean, IconName?])[] = [
    ['renew', 'plans.renew', canChange && renewalOf(account, plans) !== null, 'refresh'],
    ['send', 'handover.send', canChange, 'send'],
    ['suspend', 'bulk.suspend', canChange && isEnabled && !isSuspended, 'pause'],
    ['resume', 'bulk.resume', canChange && isSuspended && mayResume, 'play'],
    ['enable', 'bulk.enable', canChange && !isEnabled, 'play'],
    ['end-sessions', 'bulk.end-sessions', canChange && may('endSessions') && account.usage.sessions > 0],
    ['extend', 'bulk.extend', canChange],
    ['plan', 'bulk.plan', canChange && plans.length > 0],
    ['disable', 'bulk.disable', canChange && isEnabled],
    ['password', 'account.passwordAndLink', may('resetPassword')],
    ['edit', 'account.edit', may('changeAccount')],
  ];
  return all.flatMap(([name, text, isOffered, icon]) => (isOffered ? { name, text, icon } : []));
}

export interface RowActionsProps {
  readonly account: Account;
  readonly plans: readonly Plan[];
  readonly act: (action: ActionName) => void;
}

export function RowActions({ account, plans, act }: RowActionsProps) {
  const offered = actionsOn(account, plans);
  return (
    <div class="row-actions">
      {offered.map(
        ({ name, text, icon }) =>
          icon && <Button key={name} icon={icon} kind="quiet" label={t(text)} onClick={() => act(name)} />,
      )}
      <MoreActions label={t('list.actionsOn', { name: account.username })} actions={inMenu(offered, act)} />
    </div>
  );
}

export const inMenu = (offered: readonly Offered[], act: RowActionsProps['act']): MoreAction[] =>
  offered.map(({ name, text }) => ({ text: t(text), danger: false, act: () => act(name) }));

/** An action on an account that is under way. */
export interface Acting {
  readonly account: Account;
  readonly action: ActionName;
}

interface ActionDialogProps extends Acting {
  readonly onClose: () => void;
  readonly onChanged: () => void;
}

export function ActionDialog({ account, action, onClose, onChanged }: ActionDialogProps) {
  const plans = usePlans();
  const [handedOver, setHandedOver] = useState<HandedOver | null>(null);
  const { username, id } = account;
  const onDone = () => {
    onClose();
    onChanged();
  };
  if (handedOver || action === 'send') {
    const title = t(handedOver ? 'credentials.of' : 'handover.title', { name: username });
    return <HandoverDialog {...(handedOver ?? { account })} title={title} onClose={onClose} />;
  }
  if (action === 'edit') return <EditDialog of={account} onClose={onClose} onDone={onDone} />;
  if (action === 'password') {
    const onShown = (shown: HandedOver) => {
      setHandedOver(shown);
      onChanged();
    };
    return <PasswordDialog of={account} onClose={onClose} onDone={onShown} />;
  }
  const type = action === 'renew' ? (renewalOf(account, plans) ?? 'extend') : action;
  return <BulkDialog key={type} type={type} of={{ ids: [id] }} onClose={onClose} onDone={onDone} />;
}
