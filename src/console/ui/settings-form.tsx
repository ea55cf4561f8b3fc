// The form of settings, which saves and undoes; and when another user changed the same object: their changes, this form's changes,
// and what "save anyway" writes.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { type Action, useAction } from '../lib/action.js';
import { ApiError, type Right, type Version } from '../lib/api.js';
import type { Draft } from '../lib/draft.js';
import { t } from '../lib/i18n.js';
import { Button, Facts, PermittedButton } from './basics.js';
import { submitting } from './form.js';
import { Icon } from './icons.js';
import { FormErrors } from './states.js';

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
        <strong>{t('error.changed-meanwhile')}</strong>
        <Facts
          of={fields.map(({ label, theirs, mine }) => [
            label,
            [
              theirs !== null && <div>{t('conflict.theirs', { value: theirs })}</div>,
              mine !== null && <div>{t('conflict.mine', { value: mine })}</div>,
            ],
          ])}
        />
        <div class="soft">{t('conflict.next')}</div>
      </div>
    </div>
  );
}

interface Saving<T> extends Action {
  /** What another user saved meanwhile; null: nothing. Saving again overwrites it. */
  readonly theirs: Version<T> | null;
}

/**
 * Saves an object that another user may change meanwhile.
 * @param read reads the version of the other user
 */
export function useSaving<T>(read: () => Promise<Version<T>>): Saving<T> {
  const [theirs, setTheirs] = useState<Version<T> | null>(null);
  const { busy, error, run, clear } = useAction();
  return {
    busy,
    // The conflict says more than its error.
    error: theirs ? null : error,
    theirs,
    run: (act) =>
      run(async () => {
        try {
          await act();
          setTheirs(null);
        } catch (failure) {
          const isOvertaken = failure instanceof ApiError && failure.code === 'changed-meanwhile';
          // Shows the error when the other version cannot be read.
          setTheirs(null);
          if (isOvertaken) setTheirs(await read());
          throw failure;
        }
      }),
    clear() {
      setTheirs(null);
      clear();
    },
  };
}

interface SettingsFormProps<T> {
  readonly draft: Pick<Draft<T>, 'isDirty' | 'reset'>;
  /** The state of `save`, for a page that shows more of it than its failure. */
  readonly work?: Action;
  readonly right: Right;
  readonly isValid: boolean;
  readonly save: () => Promise<unknown>;
  /** What another user changed meanwhile; left out or null: nothing. */
  readonly conflict?: readonly Overtaken[] | null;
  readonly look?: string;
  readonly children: ComponentChildren;
}

export function SettingsForm<T>(props: SettingsFormProps<T>) {
  const { draft, work, right, isValid, save, conflict = null, look = 'card stack narrow', children } = props;
  const own = useAction();
  const { busy, error, run, clear } = work ?? own;
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
