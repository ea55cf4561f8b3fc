// Formats numbers, sizes, times and schedules for people, in the language shown; and reads numbers that they type.
import { language, t } from './i18n.js';

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];

/** `1.23 GB`: three significant digits, decimal units. */
export function bytes(value: number): string {
  let scaled = value;
  let unit = 0;
  while (scaled >= 999.5 && unit < UNITS.length - 1) {
    scaled /= 1_000;
    unit++;
  }
  const digits = unit === 0 || scaled >= 100 ? 0 : scaled >= 10 ? 1 : 2;
  return `${scaled.toFixed(digits)} ${UNITS[unit]}`;
}

export const rate = (bytesPerSecond: number): string => `${bytes(bytesPerSecond)}/s`;

export function count(value: number): string {
  return Math.round(value).toLocaleString(language.get());
}

/** @param code ISO 3166, such as `de` */
export const countryName = (code: string): string =>
  new Intl.DisplayNames(language.get(), { type: 'region' }).of(code.toUpperCase()) ?? code;

/** `gate.example:1080`, `[2001:db8::1]:1080`. */
export const hostPort = ({ host, port }: { host: string; port: number }): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;

export function percent(part: number, whole: number): string {
  return `${Math.round((part / whole) * 100)}%`;
}

/** Swedish writes times as ISO 8601 does. */
const LOCAL_TIME = new Intl.DateTimeFormat('sv', { dateStyle: 'short', timeStyle: 'medium' });

/** `2026-11-20 21:04:05` in the viewer's time zone. */
export const localTime = (iso: string): string => LOCAL_TIME.format(new Date(iso));

/** The same moment in UTC, for the hover text. */
export const utcTime = (iso: string): string =>
  `${new Date(iso).toISOString().replace('T', ' ').slice(0, 19)} UTC`;

const two = (n: number) => String(n).padStart(2, '0');

/** The day so many days before today, as `2026-11-24`. */
export function dayBefore(days: number, timeZone: string): string {
  const today = new Intl.DateTimeFormat('sv', { timeZone }).format(Date.now());
  return new Date(Date.parse(today) - days * 86_400_000).toISOString().slice(0, 10);
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** `3 天`, `2 h`, `45 s`: one unit, rounded to the nearest. An account that has just got 30 days shows 30 days. */
export function duration(ms: number): string {
  const value = Math.abs(ms);
  const units = [
    ['unit.seconds', SECOND, 60],
    ['unit.minutes', MINUTE, 60],
    ['unit.hours', HOUR, 48],
  ] as const;
  for (const [text, unit, most] of units) {
    const n = Math.round(value / unit);
    if (n < most) return t(text, { n });
  }
  return t('unit.days', { n: Math.round(value / DAY) });
}

/** `1:02:09`: the elapsed time of something that still runs. */
export function clock(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / SECOND));
  const [h, m, s] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60];
  return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
}

export function ago(iso: string, now = Date.now()): string {
  const passed = now - Date.parse(iso);
  return passed < 5 * SECOND ? t('time.now') : t('time.ago', { time: duration(passed) });
}

/** `3 天后到期`, `2 小时前已到期`, `永不过期`. @param kind `.short` is for a column with the head "expires" */
export function expiry(iso: string | null, kind: '' | '.short' = ''): string {
  if (iso === null) return t(`expiry${kind}.never`);
  const remainingMs = Date.parse(iso) - Date.now();
  return t(`expiry${kind}.${remainingMs > 0 ? 'in' : 'ago'}`, { time: duration(remainingMs) });
}

export const expiryShort = (iso: string | null): string => expiry(iso, '.short');

const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
/** A Monday. */
const FIRST = Date.UTC(2024, 0, 1);

const WHOLE_DAY = '00:00-24:00';

/** Describes a stored schedule: entries separated by `; `, each with days and times (src/core/accounts/access/schedule.ts). */
export const scheduleWords = (schedule: string): string =>
  scheduleEntries(schedule).join(t('schedule.entries'));

export const scheduleEntries = (schedule: string): readonly string[] => schedule.split('; ').map(entryWords);

function entryWords(entry: string): string {
  const [days = '', times = ''] = entry.split(' ');
  return `${listWords(days, daysWords)} ${listWords(times, timesWords)}`;
}

const listWords = (list: string, words: (item: string) => string): string =>
  list.split(',').map(words).join(t('schedule.list'));

function daysWords(days: string): string {
  const [from = '', to] = days.split('-');
  return to === undefined ? dayWord(from) : t('schedule.days', { from: dayWord(from), to: dayWord(to) });
}

const dayWord = (day: string): string =>
  new Intl.DateTimeFormat(language.get(), { weekday: 'short', timeZone: 'UTC' }).format(
    FIRST + DAYS.indexOf(day) * 86_400_000,
  );

const timesWords = (times: string): string =>
  times === WHOLE_DAY ? t('schedule.allDay') : times.replace('-', '–');

/**
 * Returns the stored number of a text that was typed; null for an empty text, undefined for a text that is not a number within the
 * limits. The stored number is the typed one times `scale`.
 */
export function readNumber(
  text: string,
  { scale = 1, min, max, whole = false }: { scale?: number; min: number; max: number; whole?: boolean },
): number | null | undefined {
  const given = text.normalize('NFKC').trim();
  if (given === '') return null;
  if (!(whole ? /^[+-]?\d+$/ : /^[+-]?(\d+\.?\d*|\.\d+)$/).test(given)) return undefined;
  const number = Math.round(Number(given) * scale);
  return Number.isSafeInteger(number) && number >= min && number <= max ? number : undefined;
}

/** Returns the text of a stored number with all digits: reading the text gives the same number. */
export function numberText(value: number | null, scale = 1): string {
  if (value === null) return '';
  return scale === 1 ? String(value) : (value / scale).toFixed(9).replace(/\.?0+$/, '');
}
