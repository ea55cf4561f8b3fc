// The administrator's user name and password: one setting with a password hash. There is no default password.
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { isValidPassword, isValidUsername, MAX_CREDENTIAL_BYTES } from '../accounts/account.js';
import { hashPassword, verifyAgainstDummy, verifyPassword } from '../accounts/password.js';
import { type Actor, type AuditRecord, DAEMON } from '../audit/audit.js';
import type { EndedAccess } from '../ended-access.js';
import { type Change, createSetting, type Reloadable } from '../settings/setting.js';
import type { SettingStore } from '../settings/setting-store.js';
import { fingerprintOf } from './fingerprint.js';

/** User name and password hash are one value, so that they change together. */
export const ADMIN_CREDENTIALS_KEY = 'admin.credentials';

/** The key of the source of the credentials at the last start. */
const GIVEN_BY_KEY = 'admin.credentials.given-by';

/** Minimum length of a password that an operator chooses. */
export const MIN_ADMIN_PASSWORD_CHARACTERS = 8;

const DEFAULT_ADMIN_USERNAME = 'admin';

// 18 bytes are 144 bits and 24 characters of base64url.
const RANDOM_PASSWORD_BYTES = 18;

export type AdminCredentialsSet<Reason = 'invalid-username' | 'invalid-password' | 'short-password'> =
  | { readonly ok: true; readonly username: string }
  | { readonly ok: false; readonly reason: Reason };

/** The sources of the credentials at the last start, as text for people; absent when not set from outside. */
export interface CredentialSources {
  readonly username?: string;
  readonly password?: string;
}

/** Credentials from the environment, a file or systemd. */
export interface GivenCredentials {
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  readonly givenBy?: CredentialSources | undefined;
}

/** Credentials generated at the first start. They are valid immediately. Call `store` when the start has succeeded and they are shown. */
export interface FirstCredentials {
  readonly username: string;
  readonly password: string;
  /** Returns false when another daemon has stored credentials meanwhile: those are valid then. Rejects when they cannot be written. */
  store(): Promise<boolean>;
}

export interface AdminCredentials extends Reloadable {
  /**
   * Sets the credentials at the start. `given` credentials (environment, file, systemd credential) replace stored ones. Without a
   * given or stored password, generates a random one and returns it, to be stored and shown once.
   * Throws RangeError for an invalid user name or password.
   */
  ensure(given: GivenCredentials): Promise<FirstCredentials | null>;
  /** The sources that `ensure` received at the last start of any process. The next start undoes changes by `set` to these. */
  givenBy(): Promise<CredentialSources>;
  /** Changes the password, and the user name unless it is undefined. Rejects when it cannot be written. */
  set(username: string | undefined, password: string, by?: Actor): Promise<AdminCredentialsSet>;
  /** Changes the password if `current` is the stored one. Rejects when it cannot be written. */
  setPassword(
    current: string,
    password: string,
    by: Actor,
  ): Promise<AdminCredentialsSet<'wrong-password' | 'invalid-password' | 'short-password'>>;
  /** The current user name; the default one before `ensure`. */
  username(): string;
  /** Compares in constant time. False until `ensure` or `reload` has been called. */
  verify(username: string, password: string): boolean;
  /** A digest that changes with user name and password, without revealing them. */
  fingerprint(): string;
}

/** What a change of user name or password ends. */
const ENDED: EndedAccess = { operatorId: null, tokens: false };

interface Stored {
  readonly username: string;
  readonly passwordHash: string;
}

/** `newPassword` generates the password of the first start; default: 24 random characters. */
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
  // Programs send the same credentials with every request. A keyed digest recognizes the last accepted credentials at a quarter of
  // the cost of the whole check. Its key is random, so that it is useless outside this process.
  const key = randomBytes(16).toString('hex');
  // Cached, because every request needs it.
  let fingerprint: { readonly of: Stored | null; readonly text: string } | null = null;
  let accepted: { readonly by: Stored; readonly digest: Buffer } | null = null;
  // Hexadecimal text, which Node creates four times faster than a Buffer.
  const keyedDigest = (username: string, password: string) =>
    Buffer.from(hash('sha256', `${key}${username.length}:${username}${password}`, 'hex'));
  async function givenBy(): Promise<CredentialSources> {
    const value = parseJson((await settings.get(GIVEN_BY_KEY)) ?? '');
    const text = (name: string) => {
      const of: unknown = typeof value === 'object' && value !== null && Reflect.get(value, name);
      return typeof of === 'string' ? { [name]: of } : {};
    };
    return { ...text('username'), ...text('password') };
  }

  async function saveSources(given: CredentialSources): Promise<void> {
    const { username, password } = await givenBy();
    if (given.username === username && given.password === password) return;
    await settings.set(GIVEN_BY_KEY, JSON.stringify(given));
  }

  function firstCredentials(username: string): { stored: Stored; shown: FirstCredentials } {
    const password = newPassword();
    const stored = { username, passwordHash: hashPassword(password) };
    const store = () =>
      setting.change(async ({ write }) => {
        if (setting.value()) return false;
        await write(stored, auditOf(DAEMON, null, stored));
        return true;
      });
    return { stored, shown: { username, password, store } };
  }

  async function writePassword(
    username: string,
    password: string,
    by: Actor,
    { write }: Change<Stored | null>,
  ): Promise<{ readonly ok: true; readonly username: string }> {
    const next = { username, passwordHash: hashPassword(password) };
    await write(next, auditOf(by, setting.value(), next), ENDED);
    return { ok: true, username };
  }

  return {
    key: ADMIN_CREDENTIALS_KEY,
    reload: setting.reload,
    givenBy,

    ensure: (given) =>
      setting.change(async ({ write, hold }) => {
        await saveSources(given.givenBy ?? {});
        const stored = setting.value();
        const username = given.username ?? stored?.username ?? DEFAULT_ADMIN_USERNAME;
        if (!isValidAdminUsername(username)) throw new RangeError(USERNAME_RULE);
        const passwordHash = hashOfGiven(given.password, stored);
        if (passwordHash === null) {
          const first = firstCredentials(username);
          hold(first.stored);
          return first.shown;
        }
        // Do not write unchanged credentials: other processes would handle them as a change.
        if (stored?.username !== username || stored.passwordHash !== passwordHash) {
          const next = { username, passwordHash };
          await write(next, auditOf(DAEMON, stored, next), ENDED);
        }
        return null;
      }),

    set: (newUsername, password, by = DAEMON) =>
      setting.change(async (change) => {
        const username = newUsername ?? setting.value()?.username ?? DEFAULT_ADMIN_USERNAME;
        if (!isValidAdminUsername(username)) return { ok: false, reason: 'invalid-username' };
        const fault = refusePassword(password);
        if (fault) return { ok: false, reason: fault };
        return writePassword(username, password, by, change);
      }),

    async setPassword(current, password, by) {
      const fault = refusePassword(password);
      if (fault) return { ok: false, reason: fault };
      return setting.change(async (change) => {
        const stored = setting.value();
        if (!stored || !verifyPassword(current, stored.passwordHash))
          return { ok: false, reason: 'wrong-password' };
        return writePassword(stored.username, password, by, change);
      });
    },

    username: () => setting.value()?.username ?? DEFAULT_ADMIN_USERNAME,

    verify(username, password) {
      const current = setting.value();
      const digest = keyedDigest(username, password);
      if (accepted && accepted.by === current && timingSafeEqual(accepted.digest, digest)) return true;
      const matches = current ? verifyPassword(password, current.passwordHash) : verifyAgainstDummy(password);
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

function refusePassword(password: string): 'invalid-password' | 'short-password' | null {
  if (!isValidPassword(password)) return 'invalid-password';
  return [...password].length < MIN_ADMIN_PASSWORD_CHARACTERS ? 'short-password' : null;
}

/** The hash of the given password, else the stored one; null when there is neither. A password that stays keeps its hash. */
function hashOfGiven(password: string | undefined, stored: Stored | null): string | null {
  if (password === undefined) return stored?.passwordHash ?? null;
  if (!isValidPassword(password)) throw new RangeError(PASSWORD_RULE);
  const isUnchanged = stored !== null && verifyPassword(password, stored.passwordHash);
  return isUnchanged ? stored.passwordHash : hashPassword(password);
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

/** Basic authentication ends the user name at the first colon (RFC 7617 §2), so a name with a colon could never log in. */
function isValidAdminUsername(username: string): boolean {
  return isValidUsername(username) && !username.includes(':');
}

/** Compares names padded to the maximum length, so that the time reveals neither length nor content. */
function sameUsername(given: string, stored: string): boolean {
  const isShort = Buffer.byteLength(given) <= MAX_CREDENTIAL_BYTES;
  return timingSafeEqual(padded(given), padded(stored)) && isShort;
}

/** The bytes of the name, their number, and zeros up to a fixed length. */
function padded(username: string): Buffer {
  const bytes = Buffer.alloc(MAX_CREDENTIAL_BYTES + 1);
  bytes[MAX_CREDENTIAL_BYTES] = bytes.write(username, 0, MAX_CREDENTIAL_BYTES);
  return bytes;
}

/** Null for malformed text: nobody can log in, and the next `ensure` generates new credentials. */
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
    // The message of JSON.parse quotes the text, which contains the hash.
    return null;
  }
}
