// The selected accounts of the list, and the bulk actions on them.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { AccountFilterBody, Credentials } from '../api-types.js';
import { t } from '../lib/i18n.js';
import { Button } from '../ui/basics.js';
import { BulkDialog } from './bulk-dialog.js';
import type { BulkActionType } from './bulk-preview.js';
import { ManyCredentialsDialog } from './credentials.js';
import { useSellers } from './owner-choice.js';
import { usePlans } from './plans.js';

interface BarProps {
  readonly ids: readonly string[];
  readonly filter: AccountFilterBody;
  readonly matched: number;
  /** The whole page is selected, and the list has more pages. */
  readonly pageFull: boolean;
  readonly allMatching: boolean;
  readonly onAllMatching: (all: boolean) => void;
  readonly onDone: () => void;
}

const ACTIONS: readonly BulkActionType[] = [
  'extend',
  'plan',
  'enable',
  'disable',
  'reset-password',
  'set-limits',
  'set-expiry',
  'set-access',
  'tag',
  'set-contacts',
  'hand-over',
  'delete',
];

/** Reads which actions it offers before the first selection, because a button that appears later would move the others. */
export function BulkBar({ ids, filter, matched, pageFull, allMatching, onAllMatching, onDone }: BarProps) {
  const [action, setAction] = useState<BulkActionType | null>(null);
  const [credentials, setCredentials] = useState<readonly Credentials[]>([]);
  const bar = useRef<HTMLDivElement>(null);
  const plans = usePlans();
  const sellers = useSellers();
  const isOffered = (type: BulkActionType): boolean =>
    (type !== 'plan' || plans.length > 0) && (type !== 'hand-over' || sellers.length > 0);
  const chosen = allMatching ? matched : ids.length;
  useEffect(() => {
    if (chosen === 0) setAction(null);
  }, [chosen]);
  useHeightForTable(bar, chosen > 0);
  if (chosen === 0) return null;
  return (
    <div ref={bar} class="bulk-bar" role="toolbar" aria-label={t('bulk.label')}>
      <strong class="number">{t('bulk.selected', { n: chosen })}</strong>
      {pageFull && !allMatching && (
        <button type="button" class="link" onClick={() => onAllMatching(true)}>
          {t('bulk.selectAll', { n: matched })}
        </button>
      )}
      <div class="bulk-actions">
        {ACTIONS.filter(isOffered).map((type) => (
          <Button key={type} kind={type === 'delete' ? 'danger' : 'plain'} onClick={() => setAction(type)}>
            {t(`bulk.${type}`)}
          </Button>
        ))}
      </div>
      {action && (
        <BulkDialog
          type={action}
          target={allMatching ? { filter } : { ids }}
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
    </div>
  );
}

/** Gives the bar's height to the style sheet, which keeps the head of the table below the bar. */
function useHeightForTable(bar: { readonly current: HTMLElement | null }, isShown: boolean): void {
  useLayoutEffect(() => {
    const element = bar.current;
    const list = element?.parentElement;
    if (!element || !list) return;
    const observer = new ResizeObserver(() =>
      list.style.setProperty('--bulk-bar-height', `${element.offsetHeight}px`),
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, [bar, isShown]);
}
