// The limits of an account as fields. Empty means no limit.
import type { AccountLimits, AccountLimitsChange } from '../api-types.js';
import { t } from '../lib/i18n.js';
import { Checkbox, Field, Select } from '../ui/form.js';

interface Props {
  readonly value: AccountLimitsChange;
  readonly onChange: (value: AccountLimitsChange) => void;
  /** Each limit can be left as it is: a box beside it says whether it is written. */
  readonly keepable?: boolean;
}

const MEGA = 1_000_000;
const GIGA = 1_000_000_000;

type NumberLimit =
  | 'maxSessions'
  | 'maxClientAddresses'
  | 'bytesPerSecondUp'
  | 'bytesPerSecondDown'
  | 'quotaBytes';
const NUMBERS: readonly { name: NumberLimit; scale: number; unit: string }[] = [
  { name: 'maxSessions', scale: 1, unit: '' },
  { name: 'maxClientAddresses', scale: 1, unit: '' },
  { name: 'bytesPerSecondDown', scale: MEGA, unit: 'MB/s' },
  { name: 'bytesPerSecondUp', scale: MEGA, unit: 'MB/s' },
  { name: 'quotaBytes', scale: GIGA, unit: 'GB' },
];

export function LimitFields({ value, onChange, keepable = false }: Props) {
  const without = (name: keyof AccountLimits) => {
    const { [name]: _, ...rest } = value;
    return rest;
  };
  return (
    <div class="limit-fields">
      {NUMBERS.map(({ name, scale, unit }) => {
        const present = name in value;
        const amount = value[name];
        return (
          <div key={name} class="limit-field">
            {keepable && (
              <Checkbox
                checked={present}
                onChange={(on) => onChange(on ? { ...value, [name]: null } : without(name))}
              >
                {t(`limits.${name}`)}
                {unit && ` (${unit})`}
              </Checkbox>
            )}
            {(!keepable || present) && (
              <NumberField
                label={keepable ? '' : `${t(`limits.${name}`)}${unit ? ` (${unit})` : ''}`}
                value={amount ?? null}
                scale={scale}
                onChange={(next) => onChange({ ...value, [name]: next })}
              />
            )}
          </div>
        );
      })}
      {(!keepable || 'quotaBytes' in value) && (
        <Field label={t('limits.quotaPeriod')}>
          <Select
            value={value.quotaPeriod ?? 'month'}
            onChange={(quotaPeriod) => onChange({ ...value, quotaPeriod })}
            options={(['day', 'week', 'month', 'never'] as const).map((one) => ({
              value: one,
              label: t(`limits.period.${one}`),
            }))}
          />
        </Field>
      )}
    </div>
  );
}

interface NumberProps {
  readonly label: string;
  readonly value: number | null;
  readonly scale: number;
  readonly onChange: (value: number | null) => void;
}

function NumberField({ label, value, scale, onChange }: NumberProps) {
  const text = value === null ? '' : String(Number((value / scale).toPrecision(6)));
  const input = (
    <input
      type="number"
      min={scale === 1 ? 1 : 0}
      step={scale === 1 ? 1 : 'any'}
      value={text}
      placeholder={t('limits.none')}
      aria-label={label === '' ? t('limits.none') : label}
      onChange={(event) => {
        const given = event.currentTarget.value.trim();
        const number = Math.round(Number(given) * scale);
        onChange(given === '' || !(number >= 1) ? null : number);
      }}
    />
  );
  return label === '' ? input : <Field label={label}>{input}</Field>;
}
