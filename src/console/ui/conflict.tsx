// A form that somebody else overtook: what they changed, what this form would change, and what "save anyway" writes.
import { t } from '../lib/i18n.js';
import { Icon } from './icons.js';

export interface Overtaken {
  readonly label: string;
  /** As it is now; null: they left it alone. */
  readonly theirs: string | null;
  /** As this form would set it; null: this form leaves it alone. */
  readonly mine: string | null;
}

export function Conflict({ fields }: { fields: readonly Overtaken[] }) {
  return (
    <div class="failure" role="alert">
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
