// Shown when another user changed the same object: their changes, this form's changes, and what "save anyway" writes.
import { useEffect, useRef } from 'preact/hooks';
import { t } from '../lib/i18n.js';
import { Icon } from './icons.js';

export interface Overtaken {
  readonly label: string;
  /** The value now; null: the other user did not change the field. */
  readonly theirs: string | null;
  /** The value that this form would set; null: this form does not change the field. */
  readonly mine: string | null;
}

export function Conflict({ fields }: { fields: readonly Overtaken[] }) {
  const box = useRef<HTMLDivElement>(null);
  // The button says "save anyway" from now on, so the reader must see what that means.
  useEffect(() => box.current?.scrollIntoView({ block: 'nearest' }), []);
  return (
    <div ref={box} class="failure" role="alert">
      <Icon name="warn" />
      <div class="stack">
        <strong>{t('error.changedMeanwhile')}</strong>
        <dl class="facts">
          {fields.map(({ label, theirs, mine }) => (
            <div key={label} class="contents">
              <dt>{label}</dt>
              <dd>
                {theirs !== null && <div>{t('conflict.theirs', { value: theirs })}</div>}
                {mine !== null && <div>{t('conflict.mine', { value: mine })}</div>}
              </dd>
            </div>
          ))}
        </dl>
        <div class="soft">{t('conflict.next')}</div>
      </div>
    </div>
  );
}
