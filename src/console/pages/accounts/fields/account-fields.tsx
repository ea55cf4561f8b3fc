// The fields of an account, each described once: its label, its text in a form, how that text is read, its input, and its words.
// What forms, previews and lists of changes show of a field comes from here.
import type { ComponentChildren } from 'preact';
import type { Account, AccountChange, AccountLimits } from '../../../api-types.js';
import { may, useUser } from '../../../lib/api.js';
import { type Controlled, toggled } from '../../../lib/draft.js';
import {
  expiry,
  localTime,
  numberText,
  readNumber,
  scheduleEntries,
  scheduleWords,
} from '../../../lib/format.js';
import { type TextKey, t } from '../../../lib/i18n.js';
import { href } from '../../../lib/router.js';
import { Pieces } from '../../../ui/basics.js';
import { ExpiryField, expiryText, NEVER, readExpiry } from '../../../ui/expiry-field.js';
import { Area, Checkbox, Field, Input, optionsOf, Select } from '../../../ui/form.js';
import { readTags, TagField, tagsText } from './tag-field.js';

type Own =
  | 'username'
  | 'remarks'
  | 'tags'
  | 'expiresAt'
  | 'isEnabled'
  | 'authorizedAddresses'
  | 'allowedClients'
  | 'schedule'
  | 'exit';
type Values = Pick<Account, Own> & Account['contacts'] & AccountLimits;
export type FieldName = keyof Values;
/** The fields as typed. */
type FieldTexts = Readonly<Record<FieldName, string>>;

interface InputProps extends Controlled<string> {
  /** Lines of a long text; left out: one line. */
  readonly rows?: number | undefined;
}

interface AccountField<Value> {
  readonly label: TextKey;
  /**
   * Where forms and facts show the field; left out: among the operator's notes. `contacts` and `limits` are parts of the account too,
   * `access` says from where and when it may log in, `apart` is a place for the field alone.
   */
  readonly group?: 'contacts' | 'limits' | 'access' | 'apart';
  /** The value as the form holds it. */
  text(value: Value): string;
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
const text = (label: TextKey, maxLength?: number, isLong = false) => ({
  label,
  text: (value: string | null) => value ?? '',
  read: (typed: string) => typed.trim() || null,
  Input: ({ rows, ...props }: InputProps) =>
    isLong && rows ? <Area {...props} rows={rows} /> : <Input {...props} maxLength={maxLength} />,
});

/** Addresses, one a line. A text may separate them as files of accounts do: by commas, semicolons or white space. */
const addresses = (label: TextKey, hint: TextKey, maxRows: number) => ({
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
const limit = (label: TextKey, scale = 1, unit = ''): AccountField<number | null> => ({
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
const guarded = (label: TextKey): AccountField<number | null> => ({
  ...limit(label),
  isEgress: true,
  read: (typed) => readNumber(typed, { min: 0, max: 10_000_000, whole: true }),
  none: 'limits.asConfigured',
  wrong: 'limits.wrongGuard',
  words: (value) => (value === 0 ? t('limits.off') : undefined),
  Input: (props) => <Input {...props} inputMode="numeric" placeholder={t('limits.asConfigured')} />,
});

/** One of the options. `''` stands for null. */
const choice = <Value extends string | null>(
  useOptions: (value: string) => readonly { readonly value: string; readonly label: string }[],
) => ({
  text: (value: Value) => value ?? '',
  read: (typed: string) => (typed || null) as Value,
  Input: ({ value, onInput }: InputProps) => (
    <Select value={value} onInput={onInput} options={useOptions(value)} />
  ),
});

const MEGA = 1_000_000;
const GIGA = 1_000_000_000;

const FIELDS: { readonly [Name in FieldName]: AccountField<Values[Name]> } = {
  username: {
    ...text('account.username'),
    group: 'apart',
    read: (typed) => (typed.trim() === '' ? undefined : typed),
  },
  remarks: {
    ...text('account.remarks', undefined, true),
    read: (typed) => (typed.trim() === '' ? null : typed),
  },
  tags: {
    label: 'tags.title',
    text: tagsText,
    read: readTags,
    isWhole: true,
    Input: ({ value, onInput }) => <TagField label={t('tags.title')} value={value} onInput={onInput} />,
    fact: (tags) =>
      tags.map((tag) => (
        <a key={tag} class="tag" href={href(['accounts'], { tag })}>
          {tag}
        </a>
      )),
  },
  authorizedAddresses: {
    ...addresses('account.authorizedAddresses', 'account.authorizedAddresses.hint', 2),
    group: 'apart',
  },
  allowedClients: {
    ...addresses('account.allowedClients', 'account.allowedClients.hint', 6),
    group: 'access',
    none: 'account.allowedClients.all',
  },
  schedule: {
    ...text('account.schedule', 255),
    hint: () => t('account.schedule.hint', { zone: useUser()?.timeZone ?? '' }),
    group: 'access',
    none: 'account.schedule.always',
    words: (schedule) => (schedule ? scheduleWords(schedule) : undefined),
    fact: (schedule) => <Pieces of={scheduleEntries(schedule ?? '')} between={t('schedule.entries')} />,
  },
  exit: {
    label: 'account.exit',
    hint: () => t('account.exit.hint'),
    none: 'account.exit.none',
    ...choice<string | null>((own) => [
      { value: '', label: t('account.exit.none') },
      ...useNamed('exits', own).map((value) => ({ value, label: value })),
    ]),
    words: (exit) => exit ?? t('account.exit.none'),
  },
  expiresAt: {
    label: 'account.expiresAt',
    group: 'apart',
    text: expiryText,
    read: readExpiry,
    isWhole: true,
    Input: ({ value, onInput }) => <ExpiryField value={value} onInput={onInput} />,
    words: (at) => (at === null ? expiry(at) : t('unit.note', { text: localTime(at), note: expiry(at) })),
  },
  isEnabled: {
    label: 'account.state',
    group: 'apart',
    text: String,
    read: (typed) => typed === 'true',
    isWhole: true,
    Input: ({ value, onInput }) => (
      <Checkbox checked={value === 'true'} onChange={(on) => onInput(String(on))}>
        {t('account.state.enabled')}
      </Checkbox>
    ),
    words: (isEnabled) => t(isEnabled ? 'account.state.enabled' : 'account.state.disabled'),
  },
  email: { ...text('contacts.email', 254), group: 'contacts' },
  telegram: { ...text('contacts.telegram', 64), group: 'contacts' },
  language: {
    label: 'contacts.language',
    group: 'contacts',
    ...choice<Values['language']>(() =>
      optionsOf(['', 'zh', 'en'], (of) => t(`contacts.language.${of || 'none'}`)),
    ),
    words: (language) => (language ? t(`contacts.language.${language}`) : undefined),
  },
  maxSessions: limit('limits.maxSessions'),
  maxClientAddresses: limit('limits.maxClientAddresses'),
  bytesPerSecondDown: limit('limits.bytesPerSecondDown', MEGA, 'MB/s'),
  bytesPerSecondUp: limit('limits.bytesPerSecondUp', MEGA, 'MB/s'),
  quotaBytes: limit('limits.quotaBytes', GIGA, 'GB'),
  quotaPeriod: {
    label: 'limits.quotaPeriod',
    group: 'limits',
    ...choice<Values['quotaPeriod']>(() =>
      optionsOf(['day', 'week', 'month', 'never'], (of) => t(`limits.period.${of}`)),
    ),
    words: (period) => t(`limits.period.${period}`),
  },
  egressClass: {
    label: 'limits.egressClass',
    group: 'limits',
    none: 'limits.egressClass.none',
    ...choice<string | null>((own) => [
      { value: '', label: t('limits.egressClass.none') },
      ...useNamed('egressClasses', own).map((value) => ({ value, label: value })),
    ]),
  },
  connectionsPerSecond: guarded('limits.connectionsPerSecond'),
  connectionsPerMinute: guarded('limits.connectionsPerMinute'),
  destinationsPerMinute: guarded('limits.destinationsPerMinute'),
  udpDestinationsPerSecond: guarded('limits.udpDestinationsPerSecond'),
  failedConnectionsPerMinute: guarded('limits.failedConnectionsPerMinute'),
  lookupsPerMinute: guarded('limits.lookupsPerMinute'),
  maxConnections: guarded('limits.maxConnections'),
};

/** The egress classes or exits that the user may choose: those that there are, or a seller's exits, and the account's own one. */
export function useNamed(what: 'egressClasses' | 'exits', own: string): readonly string[] {
  const user = useUser();
  const known = user?.[what] ?? [];
  const isOfSeller = what === 'exits' && user?.role === 'seller' && known.length > 0;
  if (!may('egress:write') && !isOfSeller) return [];
  return own === '' || known.includes(own) ? known : [...known, own];
}

const FIELD_NAMES = Object.keys(FIELDS) as FieldName[];
const groupOf = (name: FieldName) => FIELDS[name].group ?? 'notes';
/** The fields of each group. */
export const NAMES = {
  all: FIELD_NAMES,
  limits: FIELD_NAMES.filter((name): name is keyof AccountLimits => groupOf(name) === 'limits'),
  contacts: FIELD_NAMES.filter((name) => groupOf(name) === 'contacts'),
  access: FIELD_NAMES.filter((name) => groupOf(name) === 'access'),
  notes: FIELD_NAMES.filter((name) => groupOf(name) === 'notes'),
};
/** The part of the account that holds the field; undefined: the account itself. */
function partOf(name: FieldName): 'contacts' | 'limits' | undefined {
  const { group } = FIELDS[name];
  return group === 'contacts' || group === 'limits' ? group : undefined;
}

export const isAccountField = (name: string): name is FieldName => name in FIELDS;
export const accountField = (name: FieldName): AccountField<unknown> => FIELDS[name];

const NO_TEXTS: FieldTexts = {
  ...(Object.fromEntries(FIELD_NAMES.map((name) => [name, ''])) as FieldTexts),
  expiresAt: NEVER,
  isEnabled: 'true',
  quotaPeriod: 'month',
};

/** An account, or a change of one. */
type Fields = Omit<AccountChange, 'owner' | 'suspendedUntil'>;

/** Returns the value of a field; undefined: the change leaves it out. */
export function valueIn(of: Fields, name: FieldName): unknown {
  const part = partOf(name);
  return ((part ? of[part] : of) as Readonly<Record<string, unknown>> | undefined)?.[name];
}

/** Returns the texts of the fields that `of` has; those of a new account for the others. */
export function textsOf(of: Fields): FieldTexts {
  const has = FIELD_NAMES.filter((name) => valueIn(of, name) !== undefined);
  const texts = has.map((name) => [name, accountField(name).text(valueIn(of, name))]);
  return { ...NO_TEXTS, ...Object.fromEntries(texts) };
}

/** Returns the change that these texts describe; undefined when one of them is invalid. */
export function readFields(
  texts: Partial<FieldTexts>,
  names: Iterable<FieldName> = FIELD_NAMES,
): AccountChange | undefined {
  const change: Record<string, unknown> = {};
  for (const name of names) {
    const typed = texts[name];
    if (typed === undefined) continue;
    const value = accountField(name).read(typed);
    if (value === undefined) return undefined;
    const part = partOf(name);
    if (part) change[part] = { ...(change[part] as object), [name]: value };
    else change[name] = value;
  }
  return change;
}

interface FieldsProps<Name extends FieldName = FieldName> {
  readonly names: readonly Name[];
  readonly texts: Readonly<Record<Name, string>>;
  readonly onChange: (patch: Partial<FieldTexts>) => void;
}

interface AccountFieldsProps extends FieldsProps, Pick<InputProps, 'rows'> {
  /** CSS classes of a box around them; left out: no box. */
  readonly look?: string;
}

/** The inputs of these fields. */
export function AccountFields({ names, texts, onChange, rows, look }: AccountFieldsProps) {
  const inputs = useShown(names, texts).map((name) => (
    <FieldInput key={name} name={name} value={texts[name]} onChange={onChange} rows={rows} />
  ));
  return look ? <div class={look}>{inputs}</div> : inputs;
}

interface ChoicesProps extends FieldsProps {
  readonly chosen: ReadonlySet<FieldName>;
  readonly onChoose: (chosen: ReadonlySet<FieldName>) => void;
}

/** Fields that may stay unchanged: only a ticked one has an input. */
export function AccountFieldChoices({ names, texts, onChange, chosen, onChoose }: ChoicesProps) {
  return useShown(names, {}).map((name) => (
    <div key={name} class="stack close limit-field">
      <Checkbox checked={chosen.has(name)} onChange={(on) => onChoose(toggled(chosen, name, on))}>
        {labelOf(name)}
      </Checkbox>
      {chosen.has(name) && <FieldInput name={name} value={texts[name]} onChange={onChange} hideLabel />}
    </div>
  ));
}

/** Without egress classes or exits there is nothing to choose. */
function useShown(names: readonly FieldName[], texts: Partial<FieldTexts>): readonly FieldName[] {
  const classes = useNamed('egressClasses', texts.egressClass ?? '');
  const exits = useNamed('exits', texts.exit ?? '');
  return names.filter(
    (name) =>
      (name !== 'egressClass' || classes.length > 0) &&
      (name !== 'exit' || exits.length > 0) &&
      (!accountField(name).isEgress || may('egress:write')),
  );
}

interface FieldInputProps extends Pick<FieldsProps, 'onChange'> {
  readonly name: FieldName;
  readonly value: string;
  readonly rows?: number | undefined;
  readonly hideLabel?: boolean;
}

function FieldInput({ name, value, onChange, rows, hideLabel = false }: FieldInputProps) {
  const { read, Input: Control, isWhole, hint, wrong, group } = accountField(name);
  const input = <Control value={value} onInput={(typed) => onChange({ [name]: typed })} rows={rows} />;
  if (isWhole) return input;
  const error = wrong && read(value) === undefined ? t(wrong) : undefined;
  return (
    <Field
      path={group === 'contacts' ? `contacts.${name}` : name}
      label={labelOf(name)}
      hint={hint?.()}
      error={error}
      hideLabel={hideLabel}
    >
      {input}
    </Field>
  );
}

function labelOf(name: FieldName): string {
  const { label, unit } = FIELDS[name];
  return unit ? t('unit.note', { text: t(label), note: unit }) : t(label);
}
