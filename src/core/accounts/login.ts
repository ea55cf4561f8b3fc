// Whether a player may log in: RFC 1929 credentials against the account directory, at the same cost whatever the answer.

import type { Clock } from '../clock.js';
import { printable } from '../printable.js';
import { type Account, isExpired } from './account.js';
import { isSalted, verifyAgainstNothing, verifyPassword } from './password.js';

/** Why a login failed: for the log and the penalties only, the client gets the same answer for each. */
export type LoginFailure = 'unknown-user' | 'wrong-password' | 'disabled' | 'expired' | 'blocked-address';

/** What a login is decided on. */
type LoginAccount = Pick<Account, 'username' | 'passwordHash' | 'isEnabled' | 'expiresAt'>;

export type LoginResult<Found extends LoginAccount = Account> =
  /** `needsRehash`: the stored hash is an imported one, to be replaced by the salted form of this password. */
  | { readonly ok: true; readonly account: Found; readonly needsRehash: boolean }
  /** `username` is safe to log: control characters are escaped, invalid UTF-8 is U+FFFD. */
  | { readonly ok: false; readonly reason: LoginFailure; readonly username: string };

/** Decides on the raw UNAME and PASSWD bytes of RFC 1929 §2. Changes nothing: the caller notes the login. */
export type LogIn<Found extends LoginAccount = Account> = (
  username: Uint8Array,
  password: Uint8Array,
) => LoginResult<Found>;

// A byte order mark is part of a name like any other character: without ignoreBOM two spellings would be one account.
const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const lossyUtf8 = new TextDecoder('utf-8', { ignoreBOM: true });

/**
 * Makes the login check. It computes exactly one password digest a call, whichever the result. A wrong password is
 * reported as such even if the account is disabled or expired, so that only its owner can make those two appear.
 */
export function createLogin<Found extends LoginAccount>({
  directory,
  now,
}: {
  directory: { byUsername(username: string): Found | undefined };
  now: Clock;
}): LogIn<Found> {
  return (usernameBytes, password) => {
    const username = decode(usernameBytes);
    const account = username === null ? undefined : directory.byUsername(username);
    const matches = account ? verifyPassword(password, account.passwordHash) : verifyAgainstNothing(password);
    const fail = (reason: LoginFailure): LoginResult<Found> => ({
      ok: false,
      reason,
      username: printable(username ?? lossyUtf8.decode(usernameBytes)),
    });
    if (!account) return fail('unknown-user');
    if (!matches) return fail('wrong-password');
    const refusal = refuseAccount(account, now());
    if (refusal !== null) return fail(refusal);
    return { ok: true, account, needsRehash: !isSalted(account.passwordHash) };
  };
}

/** Why an account may not log in, however it is known who it is; null: it may. */
export function refuseAccount(
  account: Pick<Account, 'isEnabled' | 'expiresAt'>,
  now: number,
): 'disabled' | 'expired' | null {
  if (!account.isEnabled) return 'disabled';
  return isExpired(account, now) ? 'expired' : null;
}

/** The text of valid UTF-8; null for anything else, which names no account. */
function decode(bytes: Uint8Array): string | null {
  try {
    return strictUtf8.decode(bytes);
  } catch {
    return null;
  }
}
