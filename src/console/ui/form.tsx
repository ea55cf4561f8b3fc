// Form fields: a label, an input, and a hint or an error. A field holds the text as typed; the code that sends it parses it.
import { type ComponentChildren, createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Controlled } from '../lib/draft.js';
import { type TextKey, t, textOf } from '../lib/i18n.js';

/** What the daemon refused of the form around a field, by the path in the request: `contacts.email`. */
export const RefusedFields = createContext<ReadonlyMap<string, string>>(new Map());
const IsWrong = createContext(false);

/** By path or label of a setting: its key in the configuration, '' where it has none, and the value that it has without one. */
export const SettingWords = createContext<
  ReadonlyMap<string, { readonly key: string; readonly standard: string }>
>(new Map());

interface WordProps {
  /** The path and the label of a setting. */
  readonly of: readonly (string | undefined)[];
  readonly options?: SelectProps<string>['options'] | undefined;
}

export function Word({ of, options = [] }: WordProps) {
  const words = useContext(SettingWords);
  const { key, standard } = of.map((name) => words.get(name ?? '')).find(Boolean) ?? {};
  if (standard === undefined) return null;
  const value = options.find((option) => option.value === standard)?.label ?? standard;
  return (
    <small class="word">
      {key && <code>{key}</code>} {t('settings.standard', { value })}
    </small>
  );
}

interface FieldProps {
  /** The key of the label; with `.hint` that of the hint, with `.wrong` that of the error. */
  readonly of?: TextKey;
  /** A label that is not the text of a key. */
  readonly label?: string;
  readonly hint?: ComponentChildren;
  /** The label is only for screen readers: the field's surroundings already show the same words. */
  readonly hideLabel?: boolean;
  /** What is wrong with the typed text; replaces the hint. */
  readonly error?: string | undefined;
  /** Shows the error of the key. */
  readonly isWrong?: boolean;
  /** The end of the field's path in the request. The field shows what the daemon refuses of it. */
  readonly path?: string;
  readonly options?: WordProps['options'];
  readonly children: ComponentChildren;
}

export function Field({ of, isWrong, path, options, hideLabel, children, ...own }: FieldProps) {
  const { label = of && t(of), hint = textOf(`${of}.hint`) } = own;
  const refused = [...useContext(RefusedFields)].find(([at]) => at === path || at.endsWith(`.${path}`));
  const error = own.error ?? (isWrong ? t(`${of}.wrong` as TextKey) : refused?.[1]);
  return (
    <label class={error === undefined ? 'field' : 'field wrong'}>
      <span class={hideLabel ? 'sr-only' : ''}>{label}</span>
      <IsWrong.Provider value={error !== undefined}>{children}</IsWrong.Provider>
      {error === undefined ? hint && <small class="soft">{hint}</small> : <Wrong>{error}</Wrong>}
      <Word of={[path, label]} options={options} />
    </label>
  );
}

/** The error of a field. A screen reader announces it when it appears. */
export function Wrong({ children }: { children: ComponentChildren }) {
  return (
    <small class="bad-text" role="alert">
      {children}
    </small>
  );
}

/** What a form does when it is sent, in place of loading another page. */
export const submitting = (act: () => unknown) => (event: Event) => {
  event.preventDefault();
  act();
};

interface InputProps extends Controlled<string> {
  readonly type?: 'text' | 'password' | 'search';
  readonly placeholder?: string;
  readonly autoFocus?: boolean;
  readonly autocomplete?: string;
  readonly inputMode?: 'numeric' | 'decimal' | 'text';
  readonly maxLength?: number | undefined;
  readonly required?: boolean;
}

export function Input({ path: _, onInput, type = 'text', autoFocus, maxLength, ...rest }: InputProps) {
  return (
    <input
      autocomplete="off"
      {...rest}
      aria-invalid={useContext(IsWrong) || undefined}
      // Sets the attribute instead of the property: a removed property would remain as 0, and the input would accept no key.
      maxlength={maxLength}
      // Preact has a separate type for each kind of input; these three kinds have the same attributes.
      type={type as 'text'}
      spellcheck={false}
      // `autofocus` works in a dialog, which focuses when it opens. The `ref` focuses an input that appears later.
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

interface AreaProps extends Controlled<string> {
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
      aria-invalid={useContext(IsWrong) || undefined}
      onInput={(event) => onInput(event.currentTarget.value)}
    />
  );
}

interface SelectProps<T extends string> extends Controlled<T> {
  readonly options: readonly { readonly value: T; readonly label: string }[];
  readonly label?: string | undefined;
}

export function Select<T extends string>({ value, options, onInput, label }: SelectProps<T>) {
  return (
    <select value={value} aria-label={label} onChange={(event) => onInput(event.currentTarget.value as T)}>
      {options.map((option) => (
        <option key={option.value} value={option.value}>
          {option.label}
        </option>
      ))}
    </select>
  );
}

type InField<Props> = Props & Omit<FieldProps, 'children'>;

const inField =
  <Props extends object>(Control: (props: Props) => ComponentChildren) =>
  ({ of, label, hint, hideLabel, error, isWrong, path, ...control }: InField<Props>) => (
    // Of the props of the control, the field reads `options`.
    <Field {...({ of, label, hint, hideLabel, error, isWrong, path } as FieldProps)} {...Object(control)}>
      <Control {...(control as unknown as Props)} />
    </Field>
  );
export const InputField = inField(Input);
export const AreaField = inField(Area);
export const SelectField = inField(Select);

export const optionsOf = <const T extends string>(values: readonly T[], text: (value: T) => string) =>
  values.map((value) => ({ value, label: text(value) }));

export function Segments<T extends string>({ value, options, onInput, label }: SelectProps<T>) {
  return (
    <fieldset class="segments" aria-label={label}>
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          aria-pressed={option.value === value}
          onClick={() => onInput(option.value)}
        >
          {option.label}
        </button>
      ))}
    </fieldset>
  );
}

/** A label around the buttons would press the first of them. */
export function SegmentsField<T extends string>({ of, hint, path, ...segments }: InField<SelectProps<T>>) {
  const { label = of && t(of) } = segments;
  return (
    <div class="field">
      <span>{label}</span>
      <Segments {...segments} label={label} />
      {hint && <small class="soft">{hint}</small>}
      <Word of={[path, label]} options={segments.options} />
    </div>
  );
}

export interface CheckboxProps {
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
  readonly children: ComponentChildren;
}

export function Checkbox({ checked, onChange, children }: CheckboxProps) {
  return (
    <label class="checkbox">
      <input type="checkbox" checked={checked} onChange={(event) => onChange(event.currentTarget.checked)} />
      <span>{children}</span>
    </label>
  );
}
