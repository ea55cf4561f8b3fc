// The second factor of the administrator or an operator: a setting with the secret, enabled after one correct code. And the recovery
// codes: each replaces a code of the second factor once, after the loss of the authenticator.
import { randomBytes } from 'node:crypto';
import { hashPassword, verifyPassword } from '../accounts/access/password.js';
import type { Actor, AuditAction, AuditRecord } from '../audit/audit.js';
import { ADMINISTRATOR, auditRecord, DAEMON } from '../audit/audit.js';
import { type CounterStore, createSetting, type SettingStore } from '../settings/setting.js';
import type { Clock } from '../time/clock.js';
import { fingerprintOf } from './people-passwords.js';
import { openSecret, sealedWith, sealSecret } from './sealed.js';
import { matchTotp, NO_TOTP_KEYS, newTotpSecret, type TotpKeys, toBase32, totpUri } from './totp.js';

interface Held {
  /** As stored. */
  readonly text: string;
  /** null: it is encrypted with another key. */
  readonly secret: Buffer | null;
}

const format = (held: Held | null): string => held?.text ?? '';

export type SecondFactor = ReturnType<typeof createSecondFactor>;

/**
 * @param prefix of the keys of the settings
 * @param object whose second factor it is, for the audit log
 */
export function createSecondFactor(options: {
  settings: SettingStore & CounterStore;
  now: Clock;
  /** Without keys secrets are stored as they are, and encrypted ones are not readable. */
  keys?: TotpKeys;
  prefix?: string;
  object?: AuditRecord['object'];
}) {
  const { settings, now, keys = NO_TOTP_KEYS, prefix = 'admin', object = ADMINISTRATOR } = options;
  const key = `${prefix}.totp`;
  /** The new secret until it is confirmed, possibly at another daemon. */
  const offeredKey = `${prefix}.totp-offered`;
  /** The time step of the newest code that was used. */
  const usedStepKey = `${prefix}.totp-used`;
  const parse = (text: string): Held | null =>
    text === '' ? null : { text, secret: openSecret(keys.key(), key, text) };
  const setting = createSetting<Held | null>({ store: settings, key, initial: null, parse, format });
  const ended = { operatorId: object.id, tokens: false };
  let usedStep = 0;

  async function toText(secret: Buffer): Promise<string> {
    const present = await keys.keyForNew();
    return present ? sealSecret(present, key, secret) : secret.toString('base64');
  }

  async function use(secret: Buffer, code: string): Promise<boolean> {
    const step = matchTotp(secret, code, now(), usedStep);
    if (step === null || !(await settings.raise(usedStepKey, step))) return false;
    usedStep = step;
    return true;
  }

  const auditOf = (secondFactor: boolean, by: Actor): AuditRecord => {
    const action = secondFactor ? 'admin.totp-on' : 'admin.totp-off';
    return auditRecord(by, action, object, { secondFactor: !secondFactor }, { secondFactor });
  };

  return {
    key,
    reload: setting.reload,
    isEnabled: (): boolean => setting.value() !== null,
    /** False when the secret is encrypted with a key that this process does not have: then no code is right. */
    isReadable: (): boolean => setting.value()?.secret !== null,

    /** Encrypts a secret that an older version stored as it is. Rejects when it cannot be written. */
    async sealStored(): Promise<void> {
      const held = setting.value();
      if (!held?.secret || sealedWith(held.text) !== null) return;
      const text = await toText(held.secret);
      if (sealedWith(text) === null) return;
      await setting.change(async ({ write }) => {
        if (setting.value()?.text === held.text) await write({ ...held, text });
      });
    },

    /** Generates a secret, which becomes valid with `confirm`; null when the second factor is already enabled. */
    async enrol(username: string): Promise<{ readonly secret: string; readonly uri: string } | null> {
      if (setting.value()) return null;
      const offered = newTotpSecret();
      await settings.set(offeredKey, await toText(offered));
      return { secret: toBase32(offered), uri: totpUri(offered, username) };
    },

    /** Enables it with a code of the new secret. */
    confirm: (
      code: string,
      by: Actor = DAEMON,
    ): Promise<'on' | 'wrong-code' | 'not-enrolled' | 'on-already'> =>
      setting.change(async ({ write }) => {
        if (setting.value()) return 'on-already';
        const offered = parse((await settings.get(offeredKey)) ?? '');
        if (!offered?.secret) return 'not-enrolled';
        if (!(await use(offered.secret, code))) return 'wrong-code';
        await write(offered, auditOf(true, by), ended);
        await settings.set(offeredKey, '');
        return 'on';
      }),

    /** Disables it; the caller has checked a code, or has access to the database. False when it was disabled. */
    disable: (by: Actor): Promise<boolean> =>
      setting.change(async ({ write }) => {
        if (!setting.value()) return false;
        await write(null, auditOf(false, by), ended);
        return true;
      }),

    /** Whether `code` is valid now; a code is valid once, at one daemon of all that share the database. */
    async verify(code: string): Promise<boolean> {
      const secret = setting.value()?.secret ?? null;
      return secret !== null && (await use(secret, code));
    },

    /** A digest that changes when it is enabled or disabled, without revealing the secret. */
    fingerprint(): string {
      const held = setting.value();
      return fingerprintOf(held && (held.secret ?? held.text));
    },
  };
}

const COUNT = 10;

/** Hashes. */
type Codes = readonly string[];

export type RecoveryCodes = ReturnType<typeof createRecoveryCodes>;

/**
 * @param prefix of the key of the setting
 * @param object whose codes they are, for the audit log
 */
export function createRecoveryCodes(
  settings: SettingStore,
  prefix = 'admin',
  object: AuditRecord['object'] = ADMINISTRATOR,
) {
  const key = `${prefix}.recovery-codes`;
  const setting = createSetting<Codes>({ store: settings, key, initial: [] });

  const shown = (codes: Codes) => ({ recoveryCodes: codes.length });
  const auditOf = (next: Codes, action: AuditAction, by: Actor): AuditRecord =>
    auditRecord(by, action, object, shown(setting.value()), shown(next));

  return {
    key,
    reload: setting.reload,

    /** Generates new codes such as `abcde-fghij`, with 50 random bits each; earlier codes become invalid. Only hashes are stored. */
    renew: (by: Actor): Promise<readonly string[]> =>
      setting.change(async ({ write }) => {
        const codes = Array.from({ length: COUNT }, newCode);
        const hashes = codes.map((code) => hashPassword(plainCode(code)));
        await write(hashes, auditOf(hashes, 'admin.recovery-codes', by));
        return codes;
      }),

    /**
     * Whether the code is valid; invalidates it, at one daemon of all that share the database. Rejects when this cannot be written; the
     * code then stays valid.
     */
    use: (code: string, by: Actor): Promise<boolean> =>
      setting.change(async ({ write }) => {
        const hashes = setting.value();
        // Compare all codes, so that the time does not reveal which one matched.
        const others = hashes.filter((hash) => !verifyPassword(plainCode(code), hash));
        if (others.length === hashes.length) return false;
        await write(others, auditOf(others, 'admin.recovery-code-used', by));
        return true;
      }),

    /** Number of unused codes. */
    left: (): number => setting.value().length,
  };
}

/** Ten base32 characters in two groups. */
export function newCode(): string {
  const letters = toBase32(randomBytes(7)).toLowerCase().slice(0, 10);
  return `${letters.slice(0, 5)}-${letters.slice(5)}`;
}

/** Normalizes typed codes: upper case, spaces, missing hyphen. */
export const plainCode = (code: string): string => code.toLowerCase().replace(/[^a-z2-7]/g, '');
