// What describes a field of an account, and the kinds of fields: texts, addresses, limits and choices.
import type { ComponentChildren } from 'preact';
import { may, useUser } from '../../../lib/api.js';
import type { Controlled } from '../../../lib/draft.js';
import { numberText, readNumber } from '../../../lib/format.js';
import { type TextKey, t } from '../../../lib/i18n.js';
import { Area, Input, Select } from '../../../ui/form.js';

export interface InputProps extends Controlled<string> {
  /** Lines of a long text; left out: one line. */
  readonly rows?: number | undefined;
}

export interface AccountField<Value> {
  readonly label: TextKey;
  /**
   * Where forms and facts show the field; left out: among the operator's notes. `contacts` and `limits` are parts of the account too,
   * `access` says from where and when it may log in, `apart` is a place for the field alone.
   */
  readonly group?: 'contacts' | 'limits' | 'access' | 'apart';
  /** The value as the form holds it. */
  text(value: Value): string;
  /** The text for a new account; left out: an empty one. */
  readonly initial?: string;
  /** Returns undefined for an invalid text. */
  read(text: string): Value | undefined;
  readonly Input: (props: InputProps) => ComponentChildren;
  /** Only who may change egress rules changes it. */
  readonly isEgress?: true;
  /** The input shows the label and the error itself. */
  readonly isWhole?: boolean;
  readonly unit?: string;
  readonly hint?: () => string;
  /** Says what is wrong with a text that cannot be read. */
  readonly wrong?: TextKey;
  /** Says what an empty value means. */
  readonly none?: TextKey;
  /** The value in words; left out or undefined: those of any value of its type. */
  words?(value: Value): string | undefined;
  /** A value that is not empty, on the page of its account; left out: its words. */
  fact?(value: Value): ComponentChildren;
}

/** A text; an empty one is null. */
export const text = (label: TextKey, maxLength?: number, isLong = false) => ({
  label,
  text: (value: string | null) => value ?? '',
  read: (typed: string) => typed.trim() || null,
  Input: ({ rows, ...props }: InputProps) =>
    isLong && rows ? <Area {...props} rows={rows} /> : <Input {...props} maxLength={maxLength} />,
});

/** Addresses, one a line. A text may separate them as files of accounts do: by commas, semicolons or white space. */
export const addresses = (label: TextKey, hint: TextKey, maxRows: number) => ({
  label,
  text: (list: readonly string[]) => list.join('\n'),
  read: (typed: string) => typed.split(/[\s,;，；、]+/).filter((entry) => entry !== ''),
  hint: () => t(hint),
  Input: ({ value, onInput }: InputProps) => {
    const rows = Math.min(maxRows, Math.max(2, value.split('\n').length));
    return <Area mono value={value} onInput={onInput} rows={rows} />;
  },
});

/** A number above zero; an empty text is no limit. @param scale how many of the stored unit are one of the form's */
export const limit = (label: TextKey, scale = 1, unit = ''): AccountField<number | null> => ({
  label,
  group: 'limits',
  unit,
  text: (value) => numberText(value, scale),
  read: (typed) => readNumber(typed, { scale, min: 1, max: Number.MAX_SAFE_INTEGER, whole: scale === 1 }),
  none: 'limits.none',
  wrong: scale === 1 ? 'limits.wrongWhole' : 'limits.wrong',
  Input: (props) => (
    <Input {...props} inputMode={scale === 1 ? 'numeric' : 'decimal'} placeholder={t('limits.none')} />
  ),
});

/** A limit of the guard: an empty text is what the class or the configuration says, 0 any number. */
export const guarded = (label: TextKey): AccountField<number | null> => ({
  ...limit(label),
  isEgress: true,
  read: (typed) => readNumber(typed, { min: 0, max: 10_000_000, whole: true }),
  none: 'limits.asConfigured',
  wrong: 'limits.wrongGuard',
  words: (value) => (value === 0 ? t('limits.off') : undefined),
  Input: (props) => <Input {...props} inputMode="numeric" placeholder={t('limits.asConfigured')} />,
});

/** One of the options. `''` stands for null. */
export const choice = <Value extends string | null>(
  useOptions: (value: string) => readonly { readonly value: string; readonly label: string }[],
) => ({
  text: (value: Value) => value ?? '',
  read: (typed: string) => (typed || null) as Value,
  Input: ({ value, onInput }: InputProps) => (
    <Select value={value} onInput={onInput} options={useOptions(value)} />
  ),
});

/** One of the egress classes or exits, by its name. */
export const named = (what: 'egressClasses' | 'exits', label: TextKey, none: TextKey) => ({
  label,
  none,
  ...choice<string | null>((own) => [
    { value: '', label: t(none) },
    ...useNamed(what, own).map((value) => ({ value, label: value })),
  ]),
});

/** The egress classes or exits that the user may choose: those that there are, or a seller's exits, and the account's own one. */
export function useNamed(what: 'egressClasses' | 'exits', own: string): readonly string[] {
  const user = useUser();
  const known = user?.[what] ?? [];
  const isOfSeller = what === 'exits' && user?.role === 'seller' && known.length > 0;
  if (!may('egress:write') && !isOfSeller) return [];
  return own === '' || known.includes(own) ? known : [...known, own];
}
