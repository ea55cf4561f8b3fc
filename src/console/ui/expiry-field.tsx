// The field for when an account expires, and what its text means.
import { useId, useRef } from 'preact/hooks';
import { t } from '../lib/i18n.js';
import { Wrong } from './form.js';

/** An expiry as it stands in its field: `datetime-local`'s text in the viewer's zone, `never`, or '' while it is none. */
export type ExpiryText = string;
export const NEVER: ExpiryText = 'never';

export function expiryText(iso: string | null): ExpiryText {
  if (iso === null) return NEVER;
  const at = new Date(iso);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

export const expiryInDays = (days: number): ExpiryText =>
  expiryText(new Date(Date.now() + days * 86_400_000).toISOString());

/** ISO 8601 in UTC, null for never; undefined when the field has no whole date. */
export function readExpiry(text: ExpiryText): string | null | undefined {
  if (text === NEVER) return null;
  const at = new Date(text);
  return text === '' || Number.isNaN(at.getTime()) ? undefined : at.toISOString();
}

const QUICK_DAYS = [7, 30, 90, 365];

/** When an account expires: a time, never, or so many days from now. */
export function ExpiryField({
  value,
  onChange,
  optional = false,
}: {
  value: ExpiryText;
  onChange: (value: ExpiryText) => void;
  /** Nothing chosen is no mistake yet. */
  optional?: boolean;
}) {
  const id = useId();
  const ref = useRef<HTMLInputElement>(null);
  const choose = (next: ExpiryText) => {
    // Parts of a date that was never whole would stay in sight.
    if (ref.current) ref.current.value = '';
    onChange(next);
  };
  const isWrong = readExpiry(value) === undefined && !optional;
  // A date of which parts are missing has no value: it must not pass for the one before, nor for "never".
  const read = (input: HTMLInputElement) => {
    if (input.value !== '') onChange(input.value);
    else if (value !== NEVER || input.validity.badInput) onChange('');
  };
  return (
    <div class="field">
      <label for={id}>{t('account.expiresAt')}</label>
      <input
        id={id}
        ref={ref}
        type="datetime-local"
        max="9999-12-31T23:59"
        aria-invalid={isWrong || undefined}
        value={value === NEVER ? '' : value}
        onInput={(event) => read(event.currentTarget)}
        onKeyUp={(event) => read(event.currentTarget)}
      />
      {isWrong && <Wrong>{t('expiry.incomplete')}</Wrong>}
      <div class="row wrap">
        <button type="button" class="chip" aria-pressed={value === NEVER} onClick={() => choose(NEVER)}>
          {t('expiry.never')}
        </button>
        {QUICK_DAYS.map((days) => (
          <button key={days} type="button" class="chip" onClick={() => choose(expiryInDays(days))}>
            {t('expiry.daysFromNow', { n: days })}
          </button>
        ))}
      </div>
    </div>
  );
}
