// The limits of an account as form fields. An empty field means no limit; zero is an error.
import type { AccountLimits, AccountLimitsChange } from '../../../api-types.js';
import { t } from '../../../lib/i18n.js';
import { numberText, readNumber } from '../../../lib/number-text.js';
import { may, useUser } from '../../../lib/rights.js';
import { Choices } from '../../../ui/choices.js';
import { Field, Input, Select } from '../../../ui/form.js';

const MEGA = 1_000_000;
const GIGA = 1_000_000_000;

type NumberLimit =
  | 'maxSessions'
  | 'maxClientAddresses'
  | 'bytesPerSecondUp'
  | 'bytesPerSecondDown'
  | 'quotaBytes';
export type LimitName = keyof AccountLimits;

interface NumberField {
  readonly scale: number;
  readonly unit: string;
}
const NUMBERS: Readonly<Record<NumberLimit, NumberField>> = {
  maxSessions: { scale: 1, unit: '' },
  maxClientAddresses: { scale: 1, unit: '' },
  bytesPerSecondDown: { scale: MEGA, unit: 'MB/s' },
  bytesPerSecondUp: { scale: MEGA, unit: 'MB/s' },
  quotaBytes: { scale: GIGA, unit: 'GB' },
};
export const LIMIT_NAMES = [
  ...(Object.keys(NUMBERS) as NumberLimit[]),
  'quotaPeriod',
  'egressClass',
] as const satisfies readonly LimitName[];

/** The texts of the fields: numbers as typed, in the unit of each field. An empty egress class means none. */
export type LimitTexts = Readonly<Record<NumberLimit | 'egressClass', string>> &
  Pick<AccountLimits, 'quotaPeriod'>;

export function limitTexts(limits: AccountLimits): LimitTexts {
  const numbers = Object.entries(NUMBERS).map(([name, { scale }]) => [
    name,
    numberText(limits[name as NumberLimit], scale),
  ]);
  return {
    ...(Object.fromEntries(numbers) as Record<NumberLimit, string>),
    quotaPeriod: limits.quotaPeriod,
    egressClass: limits.egressClass ?? '',
  };
}

export const NO_LIMIT_TEXTS: LimitTexts = limitTexts({
  maxSessions: null,
  maxClientAddresses: null,
  bytesPerSecondUp: null,
  bytesPerSecondDown: null,
  quotaBytes: null,
  quotaPeriod: 'month',
  egressClass: null,
});

/** Returns the limits that the texts describe; undefined when a text is invalid. */
export function readLimits(texts: LimitTexts): AccountLimits | undefined;
export function readLimits(texts: Partial<LimitTexts>): AccountLimitsChange | undefined;
export function readLimits(texts: Partial<LimitTexts>): AccountLimitsChange | undefined {
  const limits: Record<string, unknown> = {};
  for (const name of LIMIT_NAMES) {
    const text = texts[name];
    if (text === undefined) continue;
    const value = isNumber(name) ? readLimit(name, text) : name === 'egressClass' ? text || null : text;
    if (value === undefined) return undefined;
    limits[name] = value;
  }
  return limits as AccountLimitsChange;
}

const isNumber = (name: LimitName): name is NumberLimit => name in NUMBERS;

function readLimit(name: NumberLimit, text: string): number | null | undefined {
  const { scale } = NUMBERS[name];
  return readNumber(text, { scale, min: 1, max: Number.MAX_SAFE_INTEGER, whole: scale === 1 });
}

interface Props {
  readonly texts: LimitTexts;
  readonly onChange: (patch: Partial<LimitTexts>) => void;
}

/** The fields of all limits of an account. A plan has all of them except the egress class. */
export function LimitFields({
  texts,
  onChange,
  withoutEgress = false,
}: Props & { readonly withoutEgress?: boolean }) {
  const classes = useEgressClasses(texts.egressClass);
  return (
    <div class="limit-fields">
      {LIMIT_NAMES.map((name) =>
        name === 'egressClass' && (withoutEgress || classes.length === 0) ? null : (
          <Field path={name} key={name} label={labelOf(name)} error={wrongWith(name, texts[name])}>
            <LimitInput name={name} texts={texts} onChange={onChange} classes={classes} />
          </Field>
        ),
      )}
    </div>
  );
}

interface ChoiceProps extends Props {
  readonly chosen: ReadonlySet<LimitName>;
  readonly onChoose: (chosen: ReadonlySet<LimitName>) => void;
}

/** Limits that may stay unchanged: only a ticked limit has a field, and the form sends only ticked limits. */
export function LimitChoices({ texts, onChange, chosen, onChoose }: ChoiceProps) {
  const classes = useEgressClasses('');
  return (
    <div class="limit-fields">
      <Choices
        names={LIMIT_NAMES.filter((name) => name !== 'egressClass' || classes.length > 0)}
        labelOf={labelOf}
        chosen={chosen}
        onChoose={onChoose}
        fieldOf={(name) => (
          <Field path={name} label={labelOf(name)} hideLabel error={wrongWith(name, texts[name])}>
            <LimitInput name={name} texts={texts} onChange={onChange} classes={classes} />
          </Field>
        )}
      />
    </div>
  );
}

function LimitInput({
  name,
  texts,
  onChange,
  classes,
}: Props & { readonly name: LimitName; readonly classes: readonly string[] }) {
  if (name === 'quotaPeriod')
    return (
      <Select
        value={texts.quotaPeriod}
        onChange={(quotaPeriod) => onChange({ quotaPeriod })}
        options={(['day', 'week', 'month', 'never'] as const).map((one) => ({
          value: one,
          label: t(`limits.period.${one}`),
        }))}
      />
    );
  if (name === 'egressClass')
    return (
      <Select
        value={texts.egressClass}
        onChange={(egressClass) => onChange({ egressClass })}
        options={[
          { value: '', label: t('limits.egressClass.none') },
          ...classes.map((one) => ({ value: one, label: one })),
        ]}
      />
    );
  return (
    <Input
      value={texts[name]}
      onInput={(text) => onChange({ [name]: text })}
      inputMode={NUMBERS[name].scale === 1 ? 'numeric' : 'decimal'}
      placeholder={t('limits.none')}
    />
  );
}

/** Returns the egress classes that the user may choose: those of the configuration and the account's own class. */
function useEgressClasses(own: string): readonly string[] {
  const known = useUser()?.egressClasses ?? [];
  if (!may('egress:write')) return [];
  return own === '' || known.includes(own) ? known : [...known, own];
}

function labelOf(name: LimitName): string {
  const unit = isNumber(name) ? NUMBERS[name].unit : '';
  return unit === '' ? t(`limits.${name}`) : t('unit.note', { text: t(`limits.${name}`), note: unit });
}

function wrongWith(name: LimitName, text: string): string | undefined {
  if (!isNumber(name) || readLimit(name, text) !== undefined) return undefined;
  return t(NUMBERS[name].scale === 1 ? 'limits.wrongWhole' : 'limits.wrong');
}

/** Describes the limits that are set and those in `always`. The quota includes its period. */
export function limitWords(limits: AccountLimits, always: ReadonlySet<LimitName>): [LimitName, string][] {
  const words: [LimitName, string][] = [];
  for (const name of LIMIT_NAMES) {
    const value = limits[name];
    // The quota's text contains the period. The period has its own entry only when there is no quota.
    if (name === 'quotaPeriod' ? limits.quotaBytes !== null || !always.has(name) : false) continue;
    if (value === null && !always.has(name)) continue;
    words.push([name, limitWord(limits, name)]);
  }
  return words;
}

function limitWord(limits: AccountLimits, name: LimitName): string {
  if (name === 'egressClass') return limits.egressClass ?? t('limits.egressClass.none');
  if (name === 'quotaPeriod') return t(`limits.period.${limits.quotaPeriod}`);
  const value = limits[name];
  if (value === null) return t('limits.none');
  // Shows the exact number as the field does, without the rounding used elsewhere.
  const { scale, unit } = NUMBERS[name];
  const amount = unit === '' ? numberText(value) : `${numberText(value, scale)} ${unit}`;
  return name === 'quotaBytes' ? `${amount} ${t(`limits.period.${limits.quotaPeriod}`)}` : amount;
}
