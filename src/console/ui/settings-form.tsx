// The frame of a form of settings: its fields, the failure or conflict of saving, and the buttons that save and undo.
import type { ComponentChildren } from 'preact';
import type { Draft } from '../lib/draft.js';
import { t } from '../lib/i18n.js';
import type { Right } from '../lib/rights.js';
import { Button } from './basics.js';
import { Conflict, type Overtaken } from './conflict.js';
import type { Action } from './dialog.js';
import { submitting } from './form.js';
import { PermittedButton } from './permitted.js';
import { FormErrors } from './states.js';

interface SettingsFormProps<T> {
  readonly draft: Pick<Draft<T>, 'isDirty' | 'reset'>;
  readonly work: Action;
  /** The operation that saves. */
  readonly right: Right;
  readonly isValid: boolean;
  readonly save: () => Promise<unknown>;
  /** What another user changed meanwhile; left out or null: nothing. */
  readonly conflict?: readonly Overtaken[] | null;
  readonly look?: string;
  readonly children: ComponentChildren;
}

export function SettingsForm<T>({
  draft,
  work: { busy, error, run, clear },
  right,
  isValid,
  save,
  conflict = null,
  look = 'card stack narrow',
  children,
}: SettingsFormProps<T>) {
  const undo = () => {
    draft.reset();
    clear();
  };
  return (
    <form
      class={look}
      onSubmit={submitting(() => {
        if (draft.isDirty && isValid && !busy) void run(save);
      })}
    >
      <FormErrors error={error}>{children}</FormErrors>
      {conflict && <Conflict fields={conflict} />}
      <div class="row">
        <PermittedButton
          to={right}
          type="submit"
          kind="primary"
          disabled={!draft.isDirty || !isValid || busy}
        >
          {t(conflict ? 'account.saveAnyway' : 'settings.save')}
        </PermittedButton>
        {draft.isDirty && <Button onClick={undo}>{t('settings.undo')}</Button>}
      </div>
    </form>
  );
}
