// A filter by days, from the first to the last. The address holds them as `from` and `until`.
import { t } from '../../lib/i18n.js';
import { patchQuery, usePlace } from '../../lib/router.js';
import { Menu } from '../menu.js';

/** Returns the range of an address; undefined: no bound. */
export function dayRangeOf(query: URLSearchParams): {
  readonly from: string | undefined;
  readonly to: string | undefined;
} {
  // The range includes the last day, so the bound is the start of the next day.
  return { from: startOfDay(query.get('from'), 0), to: startOfDay(query.get('until'), 1) };
}

/**
 * Returns the first moment of `2026-12-31`, or of the day `daysOn` days later, in the viewer's zone; undefined for an invalid day.
 */
function startOfDay(text: string | null, daysOn: number): string | undefined {
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text ?? '') ?? [];
  if (!year || !month || !day) return undefined;
  const at = new Date(Number(year), Number(month) - 1, Number(day) + daysOn);
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString();
}

/**
 * This filter is outside the row of chips: on a phone that row scrolls and would cut off the open filter.
 * @param off text of the chip without a range
 * @param on its text with a range
 */
export function DayRange({
  off,
  on,
}: {
  off: string;
  on: (range: Record<'from' | 'until', string>) => string;
}) {
  const { query } = usePlace();
  const [from, until] = [query.get('from') ?? '', query.get('until') ?? ''];
  const isOn = from !== '' || until !== '';
  const set = (change: Record<string, string | null>) => patchQuery({ ...change, cursor: null, back: null });
  const day = (name: 'from' | 'until', value: string) => (
    <label class="field">
      <span>{t(`list.days.${name}`)}</span>
      <input
        type="date"
        max="9999-12-31"
        value={value}
        onChange={(event) => set({ [name]: event.currentTarget.value || null })}
      />
    </label>
  );
  return (
    <Menu
      look="menu-filter days"
      summaryLook={isOn ? 'chip chosen' : 'chip'}
      summary={isOn ? on({ from: from || '…', until: until || '…' }) : off}
    >
      <div class="menu">
        {day('from', from)}
        {day('until', until)}
        <button type="button" class="link" disabled={!isOn} onClick={() => set({ from: null, until: null })}>
          {t('list.days.any')}
        </button>
      </div>
    </Menu>
  );
}
