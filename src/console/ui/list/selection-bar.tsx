// The bar of actions on the selected rows. It floats at the foot of the page, so that nothing moves when a row is selected.
import type { ComponentChildren } from 'preact';
import { t } from '../../lib/i18n.js';
import { Button } from '../basics.js';
import { Icon } from '../icons.js';
import { Menu, MenuItem } from '../menu.js';

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

export interface MoreAction {
  readonly text: string;
  readonly danger: boolean;
  readonly act: () => void;
}

/** @param label left out: the button shows a word */
export function MoreActions({ actions, label }: { actions: readonly MoreAction[]; label?: string }) {
  return (
    <Menu
      look="menu-filter"
      summaryLook={label ? 'button quiet icon-only' : 'button'}
      summary={label ? <Icon name="more" /> : t('list.more')}
      {...(label ? { label } : {})}
    >
      <div class="menu">
        {actions.map(({ text, danger, act }) => (
          <MenuItem key={text} kind={danger ? 'link danger' : 'link'} onClick={act}>
            {text}
          </MenuItem>
        ))}
      </div>
    </Menu>
  );
}
