// Recovery codes: each replaces a code of the second factor once, after the loss of the authenticator.
import { randomBytes } from 'node:crypto';
import { hashPassword, verifyPassword } from '../accounts/access/password.js';
import {
  type Actor,
  ADMINISTRATOR,
  type AuditAction,
  type AuditRecord,
  auditRecord,
} from '../audit/audit.js';
import { createSetting, type SettingStore } from '../settings/setting.js';
import { toBase32 } from './totp.js';

const COUNT = 10;

/** Hashes. */
type Codes = readonly string[];

export type RecoveryCodes = ReturnType<typeof createRecoveryCodes>;

/**
 * @param prefix of the key of the setting
 * @param object the owner of the codes, for the audit log
 */
export function createRecoveryCodes(
  settings: SettingStore,
  prefix = 'admin',
  object: AuditRecord['object'] = ADMINISTRATOR,
) {
  const key = `${prefix}.recovery-codes`;
  const setting = createSetting<Codes>({
    store: settings,
    key,
    initial: [],
    parse: (text) => (text === '' ? [] : (JSON.parse(text) as Codes)),
    format: (hashes) => JSON.stringify(hashes),
  });

  const auditOf = (next: Codes, action: AuditAction, by: Actor): AuditRecord =>
    auditRecord(
      by,
      action,
      object,
      { recoveryCodes: setting.value().length },
      { recoveryCodes: next.length },
    );

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
