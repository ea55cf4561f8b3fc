// Recovery codes: each replaces a code of the second factor once, after the loss of the authenticator.
import { randomBytes } from 'node:crypto';
import { hashPassword, verifyPassword } from '../accounts/password.js';
import { type Actor, ADMINISTRATOR, type AuditAction, type AuditRecord } from '../audit/audit.js';
import { type Change, createSetting, type Reloadable } from '../settings/setting.js';
import type { SettingStore } from '../settings/setting-store.js';
import { toBase32 } from './totp.js';

/** Number of new codes. */
const COUNT = 10;

export interface RecoveryCodes extends Reloadable {
  /** Generates new codes such as `abcde-fghij`, with 50 random bits each; earlier codes become invalid. Only hashes are stored. */
  renew(by: Actor): Promise<readonly string[]>;
  /** Whether the code is valid; invalidates it. Rejects when this cannot be written; the code then stays valid. */
  use(code: string, by: Actor): Promise<boolean>;
  /** Deletes the codes of a disabled second factor. */
  forget(by: Actor): Promise<void>;
  /** Number of unused codes. */
  left(): number;
}

/**
 * @param prefix of the key of the setting
 * @param object the owner of the codes, for the audit log
 */
export function createRecoveryCodes(
  settings: SettingStore,
  prefix = 'admin',
  object: AuditRecord['object'] = ADMINISTRATOR,
): RecoveryCodes {
  const key = `${prefix}.recovery-codes`;
  /** Hashes. */
  type Codes = readonly string[];
  const setting = createSetting<Codes>({
    store: settings,
    key,
    initial: [],
    parse: (text) => (text === '' ? [] : (JSON.parse(text) as Codes)),
    format: (hashes) => JSON.stringify(hashes),
  });

  const writeAs = (next: Codes, action: AuditAction, by: Actor, { write }: Change<Codes>): Promise<void> =>
    write(next, {
      by,
      action,
      object,
      before: { recoveryCodes: setting.value().length },
      after: { recoveryCodes: next.length },
    });

  return {
    key,
    reload: setting.reload,

    renew: (by) =>
      setting.change(async (change) => {
        const codes = Array.from({ length: COUNT }, newCode);
        await writeAs(
          codes.map((code) => hashPassword(plain(code))),
          'admin.recovery-codes',
          by,
          change,
        );
        return codes;
      }),

    async use(code, by) {
      // Another daemon may have accepted the code a moment ago.
      await setting.reload();
      return setting.change(async (change) => {
        // Compare all codes, so that the time does not reveal which one matched.
        const hashes = setting.value();
        const others = hashes.filter((hash) => !verifyPassword(plain(code), hash));
        if (others.length === hashes.length) return false;
        await writeAs(others, 'admin.recovery-code-used', by, change);
        return true;
      });
    },

    forget: (by) =>
      setting.change(async (change) => {
        if (setting.value().length > 0) await writeAs([], 'admin.recovery-codes', by, change);
      }),

    left: () => setting.value().length,
  };
}

/** Ten base32 characters in two groups. */
function newCode(): string {
  const letters = toBase32(randomBytes(7)).toLowerCase().slice(0, 10);
  return `${letters.slice(0, 5)}-${letters.slice(5)}`;
}

/** Normalizes typed codes: upper case, spaces, missing hyphen. */
const plain = (code: string): string => code.toLowerCase().replace(/[^a-z2-7]/g, '');
