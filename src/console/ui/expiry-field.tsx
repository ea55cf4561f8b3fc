// The field for an account's expiry, and the meaning of its text; and the filter of a list by days.
import { useId, useRef } from 'preact/hooks';
import type { Controlled } from '../lib/draft.js';
import { t } from '../lib/i18n.js';
import { patchQuery, usePlace } from '../lib/router.js';
import { Button } from './basics.js';
import { Wrong } from './form.js';
import { Menu } from './menu.js';

/** An expiry as the field holds it: the text of `datetime-local` in the viewer's time zone, `never`, or '' without a date. */
type ExpiryText = string;
export const NEVER: ExpiryText = 'never';

export function expiryText(iso: string | null): ExpiryText {
  if (iso === null) return NEVER;
  const at = new Date(iso);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

export const expiryInDays = (days: number): ExpiryText =>
  expiryText(new Date(Date.now() + days * 86_400_000).toISOString());

/** Returns the moment in UTC (ISO 8601), null for never; undefined when the date is incomplete. */
export function readExpiry(text: ExpiryText): string | null | undefined {
  if (text === NEVER) return null;
  const at = new Date(text);
  return text === '' || Number.isNaN(at.getTime()) ? undefined : at.toISOString();
}

const QUICK_DAYS = [7, 30, 90, 365];

interface ExpiryFieldProps extends Controlled<ExpiryText> {
  readonly optional?: boolean;
  readonly label?: string;
  readonly never?: string;
}

/** Sets when an account expires, or something else ends: at a time, never, or a number of days from now. */
export function ExpiryField({ value, onInput, optional = false, label, never }: ExpiryFieldProps) {
  const id = useId();
  const ref = useRef<HTMLInputElement>(null);
  const choose = (next: ExpiryText) => {
    // Otherwise the parts of an incomplete date would stay visible.
    if (ref.current) ref.current.value = '';
    onInput(next);
  };
  const isWrong = readExpiry(value) === undefined && !optional;
  // An incomplete date has no value. The field must not keep the former date or "never" for it.
  const read = (input: HTMLInputElement) => {
    if (input.value !== '') onInput(input.value);
    else if (value !== NEVER || input.validity.badInput) onInput('');
  };
  return (
    <div class="field">
      <label for={id}>{label ?? t('account.expiresAt')}</label>
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
        <Button kind="chip" pressed={value === NEVER} onClick={() => choose(NEVER)}>
          {never ?? t('expiry.never')}
        </Button>
        {QUICK_DAYS.map((days) => (
          <Button key={days} kind="chip" onClick={() => choose(expiryInDays(days))}>
            {t('expiry.daysFromNow', { n: days })}
          </Button>
        ))}
      </div>
    </div>
  );
}

/** Returns the range of an address; undefined: no bound. */
export function dayRangeOf(query: URLSearchParams) {
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
 * @param of the text of the chip, and with `.between` that of a range
 */
export function DayRange({ of = 'list.days' }: { of?: 'list.days' | 'accounts.filter.expires' }) {
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
      summary={isOn ? t(`${of}.between`, { from: from || '…', until: until || '…' }) : t(of)}
    >
      <div class="menu">
        {day('from', from)}
        {day('until', until)}
        <Button kind="link" disabled={!isOn} onClick={() => set({ from: null, until: null })}>
          {t('list.days.any')}
        </Button>
      </div>
    </Menu>
  );
}
