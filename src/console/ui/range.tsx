// The time range of charts: an hour, a day or a month. The address holds it.
import type { Range } from '../api-types.js';
import { t } from '../lib/i18n.js';
import { patchQuery } from '../lib/router.js';
import { Segments } from './form.js';

const RANGES: readonly Range[] = ['hour', 'day', 'month'];
export function rangeOf(text: string | null, otherwise: Range): Range {
  return RANGES.find((range) => range === text) ?? otherwise;
}

export function RangeChoice({ value }: { value: Range }) {
  const options = RANGES.map((range) => ({ value: range, label: t(`range.${range}`) }));
  return (
    <Segments
      value={value}
      options={options}
      label={t('range.label')}
      onInput={(range) => patchQuery({ range }, 'push')}
    />
  );
}
