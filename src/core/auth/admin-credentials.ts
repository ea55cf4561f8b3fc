// The administrator's user name and password: one setting with a password hash. There is no default password.
import { randomBytes } from 'node:crypto';
import { isValidPassword } from '../accounts/account.js';
import { type Actor, type AuditRecord, changedPassword, DAEMON } from '../audit/audit.js';
import { type Change, createSetting, type EndedAccess, type SettingStore } from '../settings/setting.js';
import { parseJson } from '../text.js';
import { joined } from '../time/turns.js';
import type { Credential, PasswordFault, PeoplePasswords } from './people-passwords.js';
import { fingerprintOf, isValidPersonName, passwordFault } from './people-passwords.js';

/** User name and password hash are one value, so that they change together. */
export const ADMIN_CREDENTIALS_KEY = 'admin.credentials';

/** The key of the source of the credentials at the last start. */
const GIVEN_BY_KEY = 'admin.credentials.given-by';

const DEFAULT_ADMIN_USERNAME = 'admin';

// 18 bytes are 144 bits and 24 characters of base64url.
const RANDOM_PASSWORD_BYTES = 18;

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
interface FirstCredentials {
  readonly username: string;
  readonly password: string;
  /** Returns false when another daemon has stored credentials meanwhile: those are valid then. Rejects when they cannot be written. */
  store(): Promise<boolean>;
}

/** What a change of user name or password ends. */
const ENDED: EndedAccess = { operatorId: null, tokens: false };

interface Stored {
  readonly username: string;
  readonly passwordHash: string;
}

export type AdminCredentials = ReturnType<typeof createAdminCredentials>;

/** `newPassword` generates the password of the first start; default: 24 random characters. */
export function createAdminCredentials(options: {
  settings: SettingStore;
  passwords: PeoplePasswords;
  newPassword?: () => string;
}) {
  const {
    settings,
    passwords,
    newPassword = () => randomBytes(RANDOM_PASSWORD_BYTES).toString('base64url'),
  } = options;
  const setting = createSetting<Stored | null>({
    store: settings,
    key: ADMIN_CREDENTIALS_KEY,
    initial: null,
    parse: parseStored,
  });
  // Cached, because every request needs it.
  let fingerprint: { readonly of: Stored | null; readonly text: string } | null = null;
  const credentialOf = ({ username, passwordHash }: Stored): Credential => ({
    operatorId: null,
    passwordHash,
    state: username,
  });

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

  async function firstCredentials(username: string): Promise<{ stored: Stored; shown: FirstCredentials }> {
    const password = newPassword();
    const stored = { username, passwordHash: await passwords.hash(password) };
    const store = () =>
      setting.change(async ({ write }) => {
        if (setting.value()) return false;
        await write(stored, auditOf(DAEMON, null, stored));
        return true;
      });
    return { stored, shown: { username, password, store } };
  }

  async function writePassword(
    write: Change<Stored | null>['write'],
    next: Stored,
    by: Actor,
    revokeTokens: boolean,
  ): Promise<void> {
    const audit = auditOf(by, setting.value(), next, revokeTokens);
    await write(next, audit, { ...ENDED, tokens: revokeTokens });
    unsettled = null;
  }

  let unsettled: string | null = null;
  const settleNow = joined(() =>
    setting.change(async ({ write }) => {
      const [stored, given] = [setting.value(), unsettled];
      if (!stored || given === null) return;
      const { isRight, renewed } = await passwords.check(given, stored.passwordHash);
      const next = {
        ...stored,
        passwordHash: renewed ?? (isRight ? stored.passwordHash : await passwords.hash(given)),
      };
      if (!isRight) await write(next, auditOf(DAEMON, stored, next), ENDED);
      else if (renewed !== null) await write(next);
      passwords.remember(credentialOf(next), given);
      unsettled = null;
    }),
  );
  const settle = (): Promise<void> => (unsettled === null ? Promise.resolve() : settleNow());

  return {
    key: ADMIN_CREDENTIALS_KEY,
    reload: setting.reload,
    /** The sources that `ensure` received at the last start of any process. The next start undoes changes by `set` to these. */
    givenBy,

    /**
     * Sets the credentials at the start. `given` credentials (environment, file, systemd credential) replace stored ones. Without a
     * given or stored password, generates a random one and returns it, to be stored and shown once.
     * Whether a given password differs from a stored one is decided later, by `settle`. Throws RangeError for an invalid user name or password.
     */
    ensure: ({
      password,
      givenBy: sources = {},
      ...given
    }: GivenCredentials): Promise<FirstCredentials | null> =>
      setting.change(async ({ write, hold }) => {
        await saveSources(sources);
        const stored = setting.value();
        const username = given.username ?? stored?.username ?? DEFAULT_ADMIN_USERNAME;
        rejectInvalid(username, password);
        if (!stored && password === undefined) {
          const first = await firstCredentials(username);
          hold(first.stored);
          return first.shown;
        }
        const passwordHash = stored?.passwordHash ?? (await passwords.hash(password ?? ''));
        const next = { username, passwordHash };
        // Do not write unchanged credentials: other processes would handle them as a change.
        if (stored?.username !== username) await write(next, auditOf(DAEMON, stored, next), ENDED);
        unsettled = (stored && password) ?? null;
        if (password !== undefined) passwords.remember(credentialOf(next), password);
        return null;
      }),

    /** Compares the password given to `ensure` with the stored one, and replaces that if they differ. Rejects when it cannot be written. */
    settle,
    /** Whether there is nothing to `settle`. Until then the stored password, and what began with it, may be outdated. */
    isSettled: (): boolean => unsettled === null,

    /** Changes the password, and the user name unless it is undefined; can revoke the tokens. Rejects when it cannot be written. */
    async set(
      newUsername: string | undefined,
      password: string,
      by: Actor = DAEMON,
      revokeTokens: boolean = false,
    ): Promise<{ ok: true; username: string } | { ok: false; reason: 'invalid-username' | PasswordFault }> {
      const isInvalid = newUsername !== undefined && !isValidPersonName(newUsername);
      const fault = isInvalid ? 'invalid-username' : passwordFault(password);
      if (fault) return { ok: false, reason: fault };
      const passwordHash = await passwords.hash(password);
      return setting.change(async ({ write }) => {
        const username = newUsername ?? setting.value()?.username ?? DEFAULT_ADMIN_USERNAME;
        await writePassword(write, { username, passwordHash }, by, revokeTokens);
        return { ok: true, username };
      });
    },

    /** Changes the password if the stored hash still is `currentHash`. Rejects when it cannot be written. */
    async setPassword(
      currentHash: string,
      password: string,
      by: Actor,
      revokeTokens: boolean,
    ): Promise<'wrong-password' | PasswordFault | null> {
      const fault = passwordFault(password);
      if (fault) return fault;
      const passwordHash = await passwords.hash(password);
      await settle();
      return setting.change(async ({ write }) => {
        const stored = setting.value();
        if (stored?.passwordHash !== currentHash) return 'wrong-password';
        await writePassword(write, { ...stored, passwordHash }, by, revokeTokens);
        return null;
      });
    },

    /** Replaces the hash of a password that stays, if the stored hash still is `currentHash`. Rejects when it cannot be written. */
    renewHash: (currentHash: string, passwordHash: string): Promise<void> =>
      setting.change(async ({ write }) => {
        const stored = setting.value();
        if (stored?.passwordHash === currentHash) await write({ ...stored, passwordHash });
      }),

    /** The current user name; the default one before `ensure`. */
    username: (): string => setting.value()?.username ?? DEFAULT_ADMIN_USERNAME,

    /** What the administrator signs in with; null until `ensure` or `reload` has been called. */
    credential(): Credential | null {
      const current = setting.value();
      return current && credentialOf(current);
    },

    /** A digest that changes with user name and password, without revealing them. */
    fingerprint(): string {
      const current = setting.value();
      if (fingerprint?.of !== current)
        fingerprint = { of: current, text: fingerprintOf(current && JSON.stringify(current)) };
      return fingerprint.text;
    },
  };
}

function auditOf(by: Actor, before: Stored | null, after: Stored, revokesTokens = false): AuditRecord {
  const isNewPassword = before?.passwordHash !== after.passwordHash;
  return {
    by,
    action: isNewPassword ? 'admin.password' : 'admin.username',
    object: { type: 'admin', id: null, name: after.username },
    before: before && { username: before.username },
    after: { username: after.username, ...(isNewPassword ? changedPassword(revokesTokens) : {}) },
  };
}

const USERNAME_RULE =
  'the admin user name must be 1 to 255 bytes of UTF-8 without a colon or control characters (RFC 7617 §2)';
const PASSWORD_RULE = 'the admin password must be 1 to 255 bytes of UTF-8 and not only white space';

/** @throws RangeError */
function rejectInvalid(username: string, password: string | undefined): void {
  if (!isValidPersonName(username)) throw new RangeError(USERNAME_RULE);
  if (password !== undefined && !isValidPassword(password)) throw new RangeError(PASSWORD_RULE);
}

/** Null for malformed text: nobody can log in, and the next `ensure` generates new credentials. */
function parseStored(text: string): Stored | null {
  const value = parseJson(text);
  if (typeof value !== 'object' || value === null || !('username' in value && 'passwordHash' in value))
    return null;
  const { username, passwordHash } = value;
  return typeof username === 'string' && typeof passwordHash === 'string' ? { username, passwordHash } : null;
}
