// Schedules in the reader's language: `mon-fri 08:00-23:00` as "Mon–Fri 08:00–23:00", in Chinese 周一至周五 08:00–23:00.
import { language, t } from './i18n.js';

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
