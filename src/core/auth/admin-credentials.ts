// The operator's user name and password: one setting, kept as a hash. There is no default password.
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { isValidPassword, isValidUsername, MAX_CREDENTIAL_BYTES } from '../accounts/account.js';
import { hashPassword, verifyAgainstNothing, verifyPassword } from '../accounts/password.js';
import { type Actor, type AuditRecord, DAEMON } from '../audit/audit.js';
import { createSetting, type Reloadable } from '../settings/setting.js';
import type { SettingStore } from '../settings/setting-store.js';
import { fingerprintOf } from './fingerprint.js';

/** User name and password hash in one value, so that they change together. */
export const ADMIN_CREDENTIALS_KEY = 'admin.credentials';

/** Where it is kept what gave the credentials to the last start. */
const GIVEN_BY_KEY = 'admin.credentials.given-by';

/** Of a password that an operator chooses; what is guessed at is the whole admin API. */
export const MIN_ADMIN_PASSWORD_CHARACTERS = 8;

export const DEFAULT_ADMIN_USERNAME = 'admin';

// 18 bytes are 24 characters of base64url, 144 bits: nobody guesses that, and it can still be pasted in one go.
const RANDOM_PASSWORD_BYTES = 18;

export type AdminCredentialsSet =
  | { readonly ok: true; readonly username: string }
  | { readonly ok: false; readonly reason: 'invalid-username' | 'invalid-password' | 'short-password' };

/** Where the credentials that the last start was given came from, as a person would look for it; absent: not given. */
export interface GivenBy {
  readonly username?: string;
  readonly password?: string;
}

/** The credentials as the environment, a file or systemd gives them. */
export interface GivenCredentials {
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  readonly givenBy?: GivenBy | undefined;
}

/** Made by a first start. They hold at once, and are to be stored when it is certain that somebody gets to see them. */
export interface FirstCredentials {
  readonly username: string;
  readonly password: string;
  /** Rejects when they cannot be written. */
  store(): Promise<void>;
}

export interface AdminCredentials extends Reloadable {
  /**
   * Settles the credentials at start. What is `given` (environment, file, systemd credential) replaces what is stored;
   * without a given or stored password a random one is made, and returned to be stored and shown once.
   * Throws RangeError when a given user name or password cannot be used.
   */
  ensure(given: GivenCredentials): Promise<FirstCredentials | null>;
  /** What `ensure` was given last, by whichever process: the next start will undo what `set` changes of it. */
  givenBy(): Promise<GivenBy>;
  /** Changes the password, and the user name unless it is undefined. Rejects when it cannot be written. */
  set(username: string | undefined, password: string, by?: Actor): Promise<AdminCredentialsSet>;
  /** The user name now; the default one before `ensure`. */
  username(): string;
  /** In constant time, whatever is wrong. False until `ensure` or `reload` has been called. */
  verify(username: string, password: string): boolean;
  /** Changes with the user name and the password, and tells nothing of either. */
  fingerprint(): string;
}

interface Stored {
  readonly username: string;
  readonly passwordHash: string;
}

/** `newPassword` makes the password of a first start; the default is 24 random characters. */
export function createAdminCredentials({
  settings,
  newPassword = () => randomBytes(RANDOM_PASSWORD_BYTES).toString('base64url'),
}: {
  settings: SettingStore;
  newPassword?: () => string;
}): AdminCredentials {
  const setting = createSetting<Stored | null>({
    store: settings,
    key: ADMIN_CREDENTIALS_KEY,
    initial: null,
    parse: parseStored,
    format: (stored) => JSON.stringify(stored),
  });
  // Programs send the same credentials with every request: those accepted last are known again by one digest, which
  // costs a quarter of the whole check. It is keyed, so that it is worth nothing outside this process.
  const key = randomBytes(16).toString('hex');
  // Asked with every request, made anew with every change.
  let fingerprint: { readonly of: Stored | null; readonly text: string } | null = null;
  let accepted: { readonly by: Stored; readonly digest: Buffer } | null = null;
  // By way of hexadecimal text, which Node makes four times faster than a buffer of the digest's own.
  const keyedDigest = (username: string, password: string) =>
    Buffer.from(hash('sha256', `${key}${username.length}:${username}${password}`, 'hex'));
  async function givenBy(): Promise<GivenBy> {
    const value = parseJson((await settings.get(GIVEN_BY_KEY)) ?? '');
    const text = (name: string) => {
      const of: unknown = typeof value === 'object' && value !== null && Reflect.get(value, name);
      return typeof of === 'string' ? { [name]: of } : {};
    };
    return { ...text('username'), ...text('password') };
  }

  async function noteGivenBy(given: GivenBy): Promise<void> {
    const { username, password } = await givenBy();
    if (given.username === username && given.password === password) return;
    await settings.set(GIVEN_BY_KEY, JSON.stringify(given));
  }

  return {
    key: ADMIN_CREDENTIALS_KEY,
    reload: setting.reload,
    givenBy,

    ensure: (given) =>
      setting.change(async ({ load, write, hold }) => {
        await noteGivenBy(given.givenBy ?? {});
        const stored = await load();
        const username = given.username ?? stored?.username ?? DEFAULT_ADMIN_USERNAME;
        if (!isValidAdminUsername(username)) throw new RangeError(USERNAME_RULE);
        if (given.password !== undefined) {
          if (!isValidPassword(given.password)) throw new RangeError(PASSWORD_RULE);
          // The same again is not written again: other processes would take it for a change.
          const unchanged =
            stored?.username === username && verifyPassword(given.password, stored.passwordHash);
          if (!unchanged) {
            const next = { username, passwordHash: hashPassword(given.password) };
            await write(next, auditOf(DAEMON, stored, next));
          }
          return null;
        }
        if (stored) {
          if (stored.username !== username) {
            const next = { ...stored, username };
            await write(next, auditOf(DAEMON, stored, next));
          }
          return null;
        }
        const password = newPassword();
        const made = { username, passwordHash: hashPassword(password) };
        hold(made);
        return {
          username,
          password,
          store: () => setting.change((first) => first.write(made, auditOf(DAEMON, null, made))),
        };
      }),

    set: (newUsername, password, by = DAEMON) =>
      setting.change(async ({ load, write }) => {
        const username = newUsername ?? (await load())?.username ?? DEFAULT_ADMIN_USERNAME;
        if (!isValidAdminUsername(username)) return { ok: false, reason: 'invalid-username' };
        if (!isValidPassword(password)) return { ok: false, reason: 'invalid-password' };
        if ([...password].length < MIN_ADMIN_PASSWORD_CHARACTERS)
          return { ok: false, reason: 'short-password' };
        const next = { username, passwordHash: hashPassword(password) };
        await write(next, auditOf(by, setting.value(), next));
        return { ok: true, username };
      }),

    username: () => setting.value()?.username ?? DEFAULT_ADMIN_USERNAME,

    verify(username, password) {
      const current = setting.value();
      const digest = keyedDigest(username, password);
      if (accepted && accepted.by === current && timingSafeEqual(accepted.digest, digest)) return true;
      const matches = current
        ? verifyPassword(password, current.passwordHash)
        : verifyAgainstNothing(password);
      const named = current !== null && sameUsername(username, current.username);
      if (current !== null && matches && named) accepted = { by: current, digest };
      return matches && named;
    },

    fingerprint() {
      const current = setting.value();
      if (fingerprint?.of !== current)
        fingerprint = { of: current, text: fingerprintOf(current && JSON.stringify(current)) };
      return fingerprint.text;
    },
  };
}

function auditOf(by: Actor, before: Stored | null, after: Stored): AuditRecord {
  const isNewPassword = before?.passwordHash !== after.passwordHash;
  return {
    by,
    action: isNewPassword ? 'admin.password' : 'admin.username',
    object: { type: 'admin', id: null, name: after.username },
    before: before && { username: before.username },
    after: { username: after.username, ...(isNewPassword ? { password: 'changed' } : {}) },
  };
}

const USERNAME_RULE =
  'the admin user name must be 1 to 255 bytes of UTF-8 without a colon or control characters (RFC 7617 §2)';
const PASSWORD_RULE = 'the admin password must be 1 to 255 bytes of UTF-8 and not only white space';

/** Basic authentication ends the user name at the first colon (RFC 7617 §2), so a name with one could never log in. */
function isValidAdminUsername(username: string): boolean {
  return isValidUsername(username) && !username.includes(':');
}

/** Compares all the bytes that a user name may have, so that neither length nor content shows in the time. */
function sameUsername(given: string, stored: string): boolean {
  const isShort = Buffer.byteLength(given) <= MAX_CREDENTIAL_BYTES;
  return timingSafeEqual(padded(given), padded(stored)) && isShort;
}

/** The bytes, their number, and zeros: two names that are padded alike are alike. */
function padded(username: string): Buffer {
  const bytes = Buffer.alloc(MAX_CREDENTIAL_BYTES + 1);
  bytes[MAX_CREDENTIAL_BYTES] = bytes.write(username, 0, MAX_CREDENTIAL_BYTES);
  return bytes;
}

/** Null for text that is not credentials: nobody can log in with it, and the next `ensure` makes new ones. */
function parseStored(text: string): Stored | null {
  const value = parseJson(text);
  if (typeof value !== 'object' || value === null || !('username' in value && 'passwordHash' in value))
    return null;
  const { username, passwordHash } = value;
  return typeof username === 'string' && typeof passwordHash === 'string' ? { username, passwordHash } : null;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Without its message, which would quote the text, and with it the hash.
    return null;
  }
}
