// The field for an account's expiry, and the meaning of its text.
import { useId, useRef } from 'preact/hooks';
import { t } from '../lib/i18n.js';
import { Wrong } from './form.js';

/** An expiry as the field holds it: the text of `datetime-local` in the viewer's time zone, `never`, or '' without a date. */
export type ExpiryText = string;
export const NEVER: ExpiryText = 'never';

export function expiryText(iso: string | null): ExpiryText {
  if (iso === null) return NEVER;
  const at = new Date(iso);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

export const expiryInDays = (days: number): ExpiryText =>
  expiryText(new Date(Date.now() + days * 86_400_000).toISOString());

/** Returns the moment in UTC (ISO 8601), null for never; undefined when the date is incomplete. */
export function readExpiry(text: ExpiryText): string | null | undefined {
  if (text === NEVER) return null;
  const at = new Date(text);
  return text === '' || Number.isNaN(at.getTime()) ? undefined : at.toISOString();
}

const QUICK_DAYS = [7, 30, 90, 365];

interface ExpiryFieldProps {
  readonly value: ExpiryText;
  readonly onInput: (value: ExpiryText) => void;
  readonly optional?: boolean;
}

/** Sets when an account expires: at a time, never, or a number of days from now. */
export function ExpiryField({ value, onInput, optional = false }: ExpiryFieldProps) {
  const id = useId();
  const ref = useRef<HTMLInputElement>(null);
  const choose = (next: ExpiryText) => {
    // Otherwise the parts of an incomplete date would stay visible.
    if (ref.current) ref.current.value = '';
    onInput(next);
  };
  const isWrong = readExpiry(value) === undefined && !optional;
  // An incomplete date has no value. The field must not keep the former date or "never" for it.
  const read = (input: HTMLInputElement) => {
    if (input.value !== '') onInput(input.value);
    else if (value !== NEVER || input.validity.badInput) onInput('');
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
