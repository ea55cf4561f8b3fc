// The list of accounts as CCProxy's form shows it. Panels read it with regular expressions: each field is on its own line,
// two spaces stand before the value of a text, and the attributes of a box have one order and spelling.
import type { Account } from '../../core/accounts/account.js';
import { shownIn } from '../../core/time-zone.js';
import { formatWireDate, toWireDate } from '../../core/wire-date.js';

/** Shown for an account that never expires: panels compare it with the present time, whether or not it counts. */
const NEVER = ['2037-12-31', '23:59:59'] as const;

/** @param zone IANA time zone of the dates */
export function accountsPage(accounts: Iterable<Account>, zone: string): string {
  const lines: string[] = [];
  for (const account of accounts) {
    const { limits } = account;
    const [date, time] = account.expiresAt === null ? NEVER : localTime(account.expiresAt, zone);
    lines.push(
      text('username', account.username),
      // The daemon has only its hash.
      text('password', ''),
      box('enable', account.isEnabled),
      box('usepassword', true),
      text('disabledate', date),
      text('disabletime', time),
      box('autodisable', account.expiresAt !== null),
      text('connection', String(limits.maxSessions ?? -1)),
      text('bandwidth', `${limits.bytesPerSecondUp ?? -1}/${limits.bytesPerSecondDown ?? -1}`),
    );
  }
  const title = '<!DOCTYPE html>\n<html><head><meta charset="utf-8"><title>Pulsegate</title></head><body>';
  return `${title}\n<form>\n${lines.join('\n')}\n</form>\n</body></html>\n`;
}

const text = (name: string, value: string): string =>
  `<input type="text" name="${name}"  value="${escaped(value)}">`;

const box = (name: string, isTicked: boolean): string =>
  `<input type="checkbox" name="${name}" value="1"${isTicked ? ' checked' : ''}>`;

/** A time that is in the year 10000 in the zone is shown as the last one of 9999: a date has four digits of a year. */
function localTime(at: number, zone: string): readonly [string, string] {
  const text = formatWireDate(toWireDate(shownIn(zone, at)));
  return [text.slice(0, 10), text.slice(11)];
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (value: string): string => value.replace(/[&<>"]/g, (character) => ENTITIES[character] ?? '');
