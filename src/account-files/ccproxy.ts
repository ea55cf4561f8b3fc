// Reads and writes AccInfo.ini, the account file of CCProxy: one section per user. CCProxy stores readable passwords.
// Pulsegate stores hashes, so files that it writes contain no passwords.
import { Readable } from 'node:stream';
import { networksOfRange } from '../core/accounts/access/address-list.js';
import { shownIn } from '../core/time/time-zone.js';
import { formatWireDate, toWireDate } from '../core/time/wire-date.js';
import type { ReadOptions } from './csv.js';
import { decodeText, textOf } from './file-text.js';
import { because, type FileView, FormatError, lostSettings } from './reasons.js';
import { type FileRecord, readRecord } from './record.js';

/** The file is read as a whole. Typical files have some kilobytes. */
const MAX_CHARS = 16 * 1024 * 1024;
/** Of `OutgoingIP`: the system chooses. */
const ANY_ADDRESS = '0.0.0.0';
const SECTION = /^\[(.+)\]$/;
const USER = /^User\d+$/i;

/** Reads AccInfo.ini in a detected encoding: CCProxy on Chinese Windows writes GBK. Dates are in the time zone of its host. */
export async function* readCcproxy(input: Readable, options: ReadOptions = {}): AsyncGenerator<FileRecord> {
  const texts: string[] = [];
  let length = 0;
  try {
    for await (const text of decodeText(input, options)) {
      length += text.length;
      if (length > MAX_CHARS) throw new FormatError(because('too-large'));
      texts.push(text);
    }
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    yield { line: 1, username: null, fault: error.fault };
    return;
  }
  let user: { line: number; values: Map<string, string> } | null = null;
  let number = 0;
  for (const raw of texts.join('').split(/\r\n|\n|\r/)) {
    number += 1;
    const line = raw.trim();
    const [, section] = SECTION.exec(line) ?? [];
    if (section !== undefined) {
      if (user) yield* toRecords(user, options);
      user = USER.test(section) ? { line: number, values: new Map() } : null;
      continue;
    }
    const at = line.indexOf('=');
    if (user && at > 0) user.values.set(line.slice(0, at).trim().toLowerCase(), line.slice(at + 1));
  }
  if (user) yield* toRecords(user, options);
}

/** One record; none for a group, which CCProxy keeps among the users. */
function* toRecords(
  { line, values }: { line: number; values: ReadonlyMap<string, string> },
  { zone, onLost = () => undefined }: ReadOptions,
): Generator<FileRecord> {
  const of = (name: string): string | undefined => values.get(name.toLowerCase())?.trim() || undefined;
  if (of('IsGroup') === '1') return onLost('group-account');
  for (const setting of lostSettings(of)) onLost(setting);
  const maxConnections = Number(of('MaxConn') ?? -1);
  const expires = of('AutoDisable') === '1' ? of('DisableDateTime') : undefined;
  // CCProxy can disable SOCKS for a user that stays enabled.
  const isEnabled = of('Enable') !== '0' && of('EnableSocks') !== '0';
  const up = bytesPerSecond(of('BandWidth'));
  const fields = {
    // Spaces at the start belong to the value.
    username: values.get('username') || undefined,
    password: decodePassword(values.get('password') || undefined),
    isEnabled,
    ...(expires === undefined ? {} : { expiresAt: expires }),
    ...(maxConnections > 0 ? { maxSessions: maxConnections } : {}),
    bytesPerSecondUp: up,
    // Old versions have one rate for both directions.
    bytesPerSecondDown: of('BandWidth2') === undefined ? up : bytesPerSecond(of('BandWidth2')),
    ...addressFields(of),
  };
  const record = readRecord(line, fields, zone);
  const outgoingAddress = of('OutgoingIP');
  if ('fault' in record || outgoingAddress === undefined || outgoingAddress === ANY_ADDRESS) yield record;
  else yield { ...record, account: { ...record.account, outgoingAddress } };
}

/** CCProxy counts in bytes a second; -1 and 0 are no limit. */
function bytesPerSecond(text: string | undefined): number | undefined {
  const bytes = Math.round(Number(text ?? -1));
  return bytes > 0 ? bytes : undefined;
}

/** With a password, the addresses restrict the account; without one, CCProxy identifies the account by them. */
function addressFields(of: (name: string) => string | undefined) {
  const [low, high] = [of('IPAddressLow'), of('IPAddressHigh')];
  const first = low ?? high;
  if (of('EnableIPAddress') !== '1' || first === undefined) return {};
  // An invalid range stays as written; the import then reports that it is not an address.
  const written = high === undefined || high === first ? first : `${first}-${high}`;
  const networks = networksOfRange(first, high ?? first) ?? [written];
  return of('EnableUserPassword') === '0' ? { authorizedAddresses: networks } : { allowedClients: networks };
}

/** Decodes a password: CCProxy writes each byte as 999 minus its value, in three digits. Any other text is a plain password. */
function decodePassword(text: string | undefined): string | undefined {
  if (text === undefined || !/^(\d{3})+$/.test(text)) return text;
  const codes = (text.match(/\d{3}/g) ?? []).map((digits) => 999 - Number(digits));
  return codes.every((code) => code >= 0x20 && code <= 0xff) ? textOf(Buffer.from(codes)) : text;
}

/**
 * Writes AccInfo.ini with dates in `zone`, which must be the time zone of the CCProxy host. The format has no escape for line
 * breaks; user names contain none, and remarks are not written.
 * @param outgoing address of each exit by its name; '' when it leaves not from one alone
 */
export function writeCcproxy(
  views: Iterable<FileView>,
  {
    zone = 'UTC',
    outgoing = new Map(),
  }: { readonly zone?: string; readonly outgoing?: ReadonlyMap<string, string> },
): Readable {
  const texts = function* () {
    let count = 0;
    for (const { view } of views) {
      count += 1;
      const { account } = view;
      const until =
        account.expiresAt === null ? '' : formatWireDate(toWireDate(shownIn(zone, account.expiresAt)));
      const lines = [
        `[User${String(count).padStart(3, '0')}]`,
        `UserName=${account.username}`,
        'Password=',
        `Enable=${account.isEnabled ? 1 : 0}`,
        'EnableUserPassword=1',
        'EnableSocks=1',
        `MaxConn=${view.account.limits.maxSessions ?? -1}`,
        `AutoDisable=${account.expiresAt === null ? 0 : 1}`,
        `DisableDateTime=${until.replace('T', ' ')}`,
        `OutgoingIP=${outgoing.get(account.exit ?? '') || ANY_ADDRESS}`,
      ];
      yield `${lines.join('\r\n')}\r\n\r\n`;
    }
    yield `[System]\r\nUserCount=${count}\r\n`;
  };
  return Readable.from(texts());
}
