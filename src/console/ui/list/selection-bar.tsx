// The bar of actions on the selected rows. It floats at the foot of the page, so that nothing moves when a row is selected.
import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import { t } from '../../lib/i18n.js';
import { Button } from '../basics.js';
import { useMenu } from '../menu.js';

interface SelectionBarProps {
  readonly text: string;
  readonly onClear: () => void;
  readonly children: ComponentChildren;
}

/** @param text how many rows are selected */
export function SelectionBar({ text, onClear, children }: SelectionBarProps) {
  return (
    <div class="bulk-foot">
      <div class="bulk-bar" role="toolbar" aria-label={t('bulk.label')}>
        <strong class="number">{text}</strong>
        {children}
        <Button icon="close" kind="quiet" onClick={onClear} label={t('bulk.clear')} />
      </div>
    </div>
  );
}

/** The actions that do not fit into the bar. */
export function MoreActions({
  actions,
}: {
  readonly actions: readonly { readonly text: string; readonly danger: boolean; act(): void }[];
}) {
  const box = useRef<HTMLDetailsElement>(null);
  useMenu(box);
  return (
    <details class="menu-filter" ref={box}>
      <summary class="button">{t('list.more')}</summary>
      <div class="menu">
        {actions.map(({ text, danger, act }) => (
          <button
            key={text}
            type="button"
            class={danger ? 'link danger' : 'link'}
            onClick={() => {
              if (box.current) box.current.open = false;
              act();
            }}
          >
            {text}
          </button>
        ))}
      </div>
    </details>
  );
}
