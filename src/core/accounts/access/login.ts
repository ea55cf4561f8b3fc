// Verifies RFC 1929 credentials against the account directory, with the same cost for every result.
import type { Geo } from '../../addresses/geo.js';
import { decoded, printable } from '../../text.js';
import type { Clock } from '../../time/clock.js';
import { type Account, isExpired, isSuspended } from '../account.js';
import { isAllowedClient } from './address-list.js';
import { isBare, isLinkPassword, verifyAgainstDummy, verifyPassword } from './password.js';
import type { Schedules } from './schedule.js';

/** Why an account may not log in although its password was right. */
const ACCOUNT_REFUSALS = [
  'disabled',
  'suspended',
  'expired',
  'client-not-allowed',
  'outside-schedule',
  /** The exit after the user name (`alice+jp`) is none that its clients may choose. */
  'exit-not-allowed',
] as const;
export type AccountRefusal = (typeof ACCOUNT_REFUSALS)[number];

/** Why a login failed, for the log and the attempt limits. The client gets the same reply for all of them. */
export const LOGIN_FAILURES = [
  'unknown-user',
  'wrong-password',
  /** The client gave none, and its address is no account's. */
  'no-credentials',
  ...ACCOUNT_REFUSALS,
  'blocked-address',
] as const;
export type LoginFailure = (typeof LOGIN_FAILURES)[number];

type LoginAccount = Pick<Account, 'username' | 'passwordHash' | 'link'> & Refusable;

export interface AccessRules {
  readonly schedules: Pick<Schedules, 'isOpen'>;
  readonly geo: Geo;
}

export type Refusable = Pick<
  Account,
  'isEnabled' | 'suspendedUntil' | 'expiresAt' | 'allowedClients' | 'schedule'
>;

type LoginResult<Found extends LoginAccount = Account> =
  | {
      readonly ok: true;
      readonly account: Found;
      /** Of the account's link, whose password it was; null: it was the account's own. */
      readonly linkHash: string | null;
      /** Replace the imported hash with a salted hash of this password. */
      readonly needsRehash: boolean;
    }
  /** `username` is safe to log: control characters are escaped, invalid UTF-8 is U+FFFD. */
  | { readonly ok: false; readonly reason: LoginFailure; readonly username: string };

/**
 * Verifies the raw UNAME and PASSWD bytes of RFC 1929 §2, from the address `client`. Has no side effects: the caller records the
 * login.
 */
type LogIn<Found extends LoginAccount = Account> = (
  username: Uint8Array,
  password: Uint8Array,
  client: string,
) => LoginResult<Found>;

// ignoreBOM keeps a byte order mark as part of the name. Otherwise two different names would match one account.
const lossyUtf8 = new TextDecoder('utf-8', { ignoreBOM: true });

/**
 * Creates the login check. It computes exactly one password digest per call, and for a password in the form of a link's one more
 * unless that is right: known, unknown and linkless accounts cost the same. A wrong password has precedence over
 * what `accountRefusal` returns, so that only who knows the password can cause these results.
 */
export function createLogin<Found extends LoginAccount>(options: {
  directory: { byUsername(username: string): Found | undefined };
  access: AccessRules;
  now: Clock;
}): LogIn<Found> {
  const { directory, access, now } = options;
  return (usernameBytes, password, client) => {
    const username = decoded(usernameBytes);
    const account = username === null ? undefined : directory.byUsername(username);
    const matches = (hash: string | undefined): boolean =>
      hash === undefined ? verifyAgainstDummy(password) : verifyPassword(password, hash);
    const isByLink = isLinkPassword(password) && matches(account?.link?.hash);
    const isRight = isByLink || matches(account?.passwordHash);
    const fail = (reason: LoginFailure): LoginResult<Found> => ({
      ok: false,
      reason,
      username: printable(username ?? lossyUtf8.decode(usernameBytes)),
    });
    if (!account) return fail('unknown-user');
    if (!isRight) return fail('wrong-password');
    const refusal = accountRefusal(account, client, access, now());
    if (refusal !== null) return fail(refusal);
    const linkHash = isByLink ? (account.link?.hash ?? null) : null;
    return { ok: true, account, linkHash, needsRehash: !isByLink && isBare(account.passwordHash) };
  };
}

/** Why an account may not log in from the address `client`, with credentials or by an authorized address; null: it may. */
export function accountRefusal(
  account: Refusable,
  client: string,
  { schedules, geo }: AccessRules,
  now: number,
): AccountRefusal | null {
  if (!account.isEnabled) return 'disabled';
  if (isSuspended(account, now)) return 'suspended';
  if (isExpired(account, now)) return 'expired';
  const refusal = clientRefusal(account, client, geo);
  if (refusal !== null) return refusal;
  return schedules.isOpen(account.schedule, now) ? null : 'outside-schedule';
}

/** Why an account may not be used from the address `client`, whatever the time; null: it may. Its sessions from there end. */
export const clientRefusal = (account: Refusable, client: string, geo: Geo): 'client-not-allowed' | null =>
  isAllowedClient(account.allowedClients, client, geo) ? null : 'client-not-allowed';

/** 'blocked-address' too: the client has guessed too often, and continues. */
const GUESSES: ReadonlySet<string> = new Set<LoginFailure>([
  'unknown-user',
  'wrong-password',
  'blocked-address',
]);

/**
 * Whether the outcome of a login is a guess at a name or password. A client that knows the password does not guess, even when its
 * account may not be used from there or then, or is at a limit.
 */
export const isGuess = (outcome: string): boolean => GUESSES.has(outcome);

/** Whether the account refuses the login, and not a wrong name or password. */
export function isAccountRefusal(reason: LoginFailure): reason is AccountRefusal {
  return (ACCOUNT_REFUSALS as readonly string[]).includes(reason);
}
