// The selected accounts of the list, and the bulk actions on them.
import { useEffect, useState } from 'preact/hooks';
import type { AccountFilterBody, Credentials } from '../../../api-types.js';
import { useMay } from '../../../lib/api.js';
import { t } from '../../../lib/i18n.js';
import { Button } from '../../../ui/basics.js';
import { lazyDialog } from '../../../ui/lazy.js';
import { MoreActions, SelectionBar } from '../../../ui/list/selection-bar.js';
import { useNamed } from '../fields/field-kinds.js';
import { usePlans, useSellers } from '../fields/plans.js';
import type { BulkActionType } from './bulk-preview.js';

const BulkDialog = lazyDialog(async () => (await import('./bulk-dialog.js')).BulkDialog);
const ManyCredentialsDialog = lazyDialog(async () => (await import('../handover.js')).ManyCredentialsDialog);

interface BarProps {
  readonly ids: readonly string[];
  readonly filter: AccountFilterBody;
  readonly matched: number;
  /** The whole page is selected, and the list has more pages. */
  readonly pageFull: boolean;
  readonly allMatching: boolean;
  readonly onAllMatching: (all: boolean) => void;
  readonly onClear: () => void;
  readonly onDone: () => void;
}

/** The first four that are offered stand in the bar, the others below "More". */
const ACTIONS: readonly BulkActionType[] = [
  'extend',
  'plan',
  'disable',
  'enable',
  'suspend',
  'resume',
  'end-sessions',
  'reset-usage',
  'set-expiry',
  'reset-password',
  'set-limits',
  'set-exit',
  'tag',
  'set-contacts',
  'set-access',
  'hand-over',
  'delete',
];
const IN_BAR = 4;

/** Reads which actions it offers before the first selection, because a button that appears later would move the others. */
export function BulkBar(props: BarProps) {
  const { ids, filter, matched, pageFull, allMatching, onAllMatching, onClear, onDone } = props;
  const [action, setAction] = useState<BulkActionType | null>(null);
  const [credentials, setCredentials] = useState<readonly Credentials[]>([]);
  /** An action that chooses among these is offered where there are any. */
  const choices: Partial<Record<BulkActionType, readonly unknown[]>> = {
    plan: usePlans(),
    'hand-over': useSellers(),
    'set-exit': useNamed('exits', ''),
  };
  const canEnd = useMay('endSessions');
  const offered = ACTIONS.filter(
    (type) => choices[type]?.length !== 0 && (type !== 'end-sessions' || canEnd),
  );
  const chosen = allMatching ? matched : ids.length;
  useEffect(() => {
    if (chosen === 0) setAction(null);
    else BulkDialog.load().catch(() => {});
  }, [chosen]);
  if (chosen === 0) return null;
  return (
    <SelectionBar text={t('bulk.selected', { n: chosen })} onClear={onClear}>
      {pageFull && !allMatching && (
        <Button kind="link" onClick={() => onAllMatching(true)}>
          {t('bulk.selectAll', { n: matched })}
        </Button>
      )}
      <div class="row wrap tight bulk-actions">
        {offered.slice(0, IN_BAR).map((type) => (
          <Button key={type} onClick={() => setAction(type)}>
            {t(`bulk.${type}`)}
          </Button>
        ))}
        <MoreActions
          actions={offered.slice(IN_BAR).map((type) => ({
            text: t(`bulk.${type}`),
            danger: type === 'delete',
            act: () => setAction(type),
          }))}
        />
      </div>
      {action && (
        <BulkDialog
          type={action}
          of={allMatching ? { filter } : { ids }}
          onClose={() => setAction(null)}
          onDone={(result) => {
            setAction(null);
            // The bar disappears together with the selection, so the passwords are shown first.
            if (result.credentials.length > 0) setCredentials(result.credentials);
            else onDone();
          }}
        />
      )}
      {credentials.length > 0 && (
        <ManyCredentialsDialog
          list={credentials}
          title={t('credentials.reset', { n: credentials.length })}
          onClose={() => {
            setCredentials([]);
            onDone();
          }}
        />
      )}
    </SelectionBar>
  );
}
