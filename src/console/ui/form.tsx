// Fields: a label, an input, a hint.
import type { ComponentChildren } from 'preact';
import { t } from '../lib/i18n.js';

export function Field({
  label,
  hint,
  children,
}: {
  label: string;
  hint?: ComponentChildren;
  children: ComponentChildren;
}) {
  return (
    <label class="field">
      <span>{label}</span>
      {children}
      {hint && <small class="soft">{hint}</small>}
    </label>
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
  readonly maxLength?: number;
  readonly required?: boolean;
}

export function Input({
  value,
  onInput,
  type = 'text',
  autoFocus = false,
  autocomplete = 'off',
  ...rest
}: InputProps) {
  return (
    <input
      {...rest}
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

/** `datetime-local` speaks the viewer's zone without saying so; these two turn it into ISO 8601 UTC and back. */
export function toLocalInput(iso: string | null): string {
  if (iso === null) return '';
  const at = new Date(iso);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
export function fromLocalInput(text: string): string | null {
  return text === '' ? null : new Date(text).toISOString();
}

const QUICK_DAYS = [7, 30, 90, 365];

/** When an account expires: a time, never, or so many days from now. */
export function ExpiryField({
  value,
  onChange,
}: {
  value: string | null;
  onChange: (value: string | null) => void;
}) {
  return (
    <div class="field">
      <label for="expiry-input">{t('account.expiresAt')}</label>
      <input
        id="expiry-input"
        type="datetime-local"
        value={toLocalInput(value)}
        onInput={(event) => onChange(fromLocalInput(event.currentTarget.value))}
      />
      <div class="row wrap">
        <button type="button" class="chip" aria-pressed={value === null} onClick={() => onChange(null)}>
          {t('expiry.never')}
        </button>
        {QUICK_DAYS.map((days) => (
          <button
            key={days}
            type="button"
            class="chip"
            onClick={() => onChange(new Date(Date.now() + days * 86_400_000).toISOString())}
          >
            {t('expiry.daysFromNow', { n: days })}
          </button>
        ))}
      </div>
    </div>
  );
}
