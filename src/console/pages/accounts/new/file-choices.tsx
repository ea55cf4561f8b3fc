// The choices for an accounts file: its format, and the time zone of dates without one.
import type { FileFormat } from '../../../api-types.js';
import { t } from '../../../lib/i18n.js';
import { Field, optionsOf, SegmentsField, Select } from '../../../ui/form.js';

export function FormatChoice({
  value,
  onInput,
}: {
  value: FileFormat;
  onInput: (format: FileFormat) => void;
}) {
  return (
    <SegmentsField
      value={value}
      onInput={onInput}
      label={t('formats.label')}
      options={[
        { value: 'csv', label: 'CSV' },
        { value: 'json', label: 'JSON' },
        { value: 'ccproxy', label: 'CCProxy' },
      ]}
    />
  );
}

export const ownZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

/** `Asia/Shanghai (GMT+8)`. */
export function zoneLabel(zone: string): string {
  if (zone === 'UTC') return zone;
  const parts = new Intl.DateTimeFormat('en', {
    timeZone: zone,
    timeZoneName: 'shortOffset',
  }).formatToParts();
  return t('unit.note', { text: zone, note: parts.find(({ type }) => type === 'timeZoneName')?.value ?? '' });
}

interface ZoneProps {
  readonly label: string;
  readonly hint: string;
  readonly value: string;
  readonly onInput: (zone: string) => void;
}

export function ZoneChoice({ label, hint, value, onInput }: ZoneProps) {
  return (
    <Field label={label} hint={hint}>
      <Select
        value={value}
        onInput={onInput}
        options={optionsOf([...new Set([ownZone(), 'Asia/Shanghai', 'UTC'])], zoneLabel)}
      />
    </Field>
  );
}
