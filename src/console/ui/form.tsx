// Fields: a label, an input, a hint or what is wrong. A field holds text, as it was typed; whoever sends it reads it.
import type { ComponentChildren } from 'preact';
import { useId, useRef } from 'preact/hooks';
import { t } from '../lib/i18n.js';

export function Field({
  label,
  hint,
  error,
  hideLabel = false,
  children,
}: {
  label: string;
  hint?: ComponentChildren;
  /** The label is only read out: the same words stand beside the field already. */
  hideLabel?: boolean;
  /** What is wrong with what was typed; stands in place of the hint. */
  error?: string | undefined;
  children: ComponentChildren;
}) {
  return (
    <label class={error === undefined ? 'field' : 'field wrong'}>
      <span class={hideLabel ? 'sr-only' : ''}>{label}</span>
      {children}
      {error === undefined ? hint && <small class="soft">{hint}</small> : <Wrong>{error}</Wrong>}
    </label>
  );
}

/** What is wrong with a field; read out when it appears. */
export function Wrong({ children }: { children: ComponentChildren }) {
  return (
    <small class="bad-text" role="alert">
      {children}
    </small>
  );
}

interface InputProps {
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly type?: 'text' | 'password' | 'search';
  readonly placeholder?: string;
  readonly autoFocus?: boolean;
  readonly autocomplete?: string;
  readonly inputMode?: 'numeric' | 'decimal' | 'text';
  readonly maxLength?: number | undefined;
  readonly required?: boolean;
  readonly wrong?: boolean;
}

export function Input({
  value,
  onInput,
  type = 'text',
  autoFocus = false,
  autocomplete = 'off',
  maxLength,
  wrong = false,
  ...rest
}: InputProps) {
  return (
    <input
      {...rest}
      aria-invalid={wrong || undefined}
      // The attribute, not the property: a property that is taken away would stay behind as 0, and no key would be taken.
      maxlength={maxLength}
      // Preact types each kind of input apart; these three are alike.
      type={type as 'text'}
      value={value}
      autocomplete={autocomplete}
      spellcheck={false}
      // For a dialog, which focuses when it opens; and the ref for what is shown later.
      autofocus={autoFocus}
      ref={(element) => {
        if (element && autoFocus && !element.dataset['focused']) {
          element.dataset['focused'] = 'yes';
          element.focus();
        }
      }}
      onInput={(event) => onInput(event.currentTarget.value)}
    />
  );
}

interface AreaProps {
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly rows?: number;
  readonly placeholder?: string;
  readonly mono?: boolean;
}

export function Area({ value, onInput, rows = 4, placeholder, mono = false }: AreaProps) {
  return (
    <textarea
      class={mono ? 'mono' : ''}
      rows={rows}
      value={value}
      placeholder={placeholder}
      spellcheck={false}
      onInput={(event) => onInput(event.currentTarget.value)}
    />
  );
}

interface SelectProps<T extends string> {
  readonly value: T;
  readonly options: readonly { readonly value: T; readonly label: string }[];
  readonly onChange: (value: T) => void;
  readonly label?: string;
}

export function Select<T extends string>({ value, options, onChange, label }: SelectProps<T>) {
  return (
    <select value={value} aria-label={label} onChange={(event) => onChange(event.currentTarget.value as T)}>
      {options.map((option) => (
        <option key={option.value} value={option.value}>
          {option.label}
        </option>
      ))}
    </select>
  );
}

/** A choice of a few, all in sight. */
export function Segments<T extends string>({ value, options, onChange, label }: SelectProps<T>) {
  return (
    <fieldset class="segments" aria-label={label}>
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          aria-pressed={option.value === value}
          onClick={() => onChange(option.value)}
        >
          {option.label}
        </button>
      ))}
    </fieldset>
  );
}

export function Checkbox({
  checked,
  onChange,
  children,
}: {
  checked: boolean;
  onChange: (checked: boolean) => void;
  children: ComponentChildren;
}) {
  return (
    <label class="checkbox">
      <input type="checkbox" checked={checked} onChange={(event) => onChange(event.currentTarget.checked)} />
      <span>{children}</span>
    </label>
  );
}

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

interface NumberOptions {
  /** The stored number is the typed one times this. */
  readonly scale?: number;
  /** Of what is stored. */
  readonly min: number;
  readonly max: number;
  /** Only whole numbers of what is typed. */
  readonly whole?: boolean;
}

/** The stored number a text stands for; null for an empty one, undefined for a text that is no number within the limits. */
export function readNumber(
  text: string,
  { scale = 1, min, max, whole = false }: NumberOptions,
): number | null | undefined {
  const given = text.normalize('NFKC').trim();
  if (given === '') return null;
  if (!(whole ? /^[+-]?\d+$/ : /^[+-]?(\d+\.?\d*|\.\d+)$/).test(given)) return undefined;
  const number = Math.round(Number(given) * scale);
  return Number.isSafeInteger(number) && number >= min && number <= max ? number : undefined;
}

/** The text of a stored number: exactly, so that reading it gives the number again. */
export function numberText(value: number | null, scale = 1): string {
  if (value === null) return '';
  return scale === 1 ? String(value) : (value / scale).toFixed(9).replace(/\.?0+$/, '');
}
