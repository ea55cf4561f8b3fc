// Recovery codes: each stands once for a code of the second factor, for whoever has lost the authenticator.
import { randomBytes } from 'node:crypto';
import { hashPassword, verifyPassword } from '../accounts/password.js';
import type { Actor, AuditAction } from '../audit/audit.js';
import { type Change, createSetting, type Reloadable } from '../settings/setting.js';
import type { SettingStore } from '../settings/setting-store.js';
import { toBase32 } from './totp.js';

export const RECOVERY_CODES_KEY = 'admin.recovery-codes';

/** How many there are at first. */
const COUNT = 10;

export interface RecoveryCodes extends Reloadable {
  /** Makes new ones, `abcde-fghij`, 50 random bits each; those before count no more. Only hashes are stored. */
  renew(by: Actor): Promise<readonly string[]>;
  /** Whether it was one of them; from now on it is none. Rejects when that cannot be written: then it did not count. */
  use(code: string, by: Actor): Promise<boolean>;
  /** Of a second factor that is no more. */
  forget(by: Actor): Promise<void>;
  left(): number;
}

export function createRecoveryCodes(settings: SettingStore): RecoveryCodes {
  /** Hashes. */
  type Codes = readonly string[];
  const setting = createSetting<Codes>({
    store: settings,
    key: RECOVERY_CODES_KEY,
    initial: [],
    parse: (text) => (text === '' ? [] : (JSON.parse(text) as Codes)),
    format: (hashes) => JSON.stringify(hashes),
  });

  const writeAs = (next: Codes, action: AuditAction, by: Actor, { write }: Change<Codes>): Promise<void> =>
    write(next, {
      by,
      action,
      object: { type: 'admin', id: null, name: null },
      before: { recoveryCodes: setting.value().length },
      after: { recoveryCodes: next.length },
    });

  return {
    key: RECOVERY_CODES_KEY,
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

    use: (code, by) =>
      setting.change(async (change) => {
        // All are compared, so that the time tells nothing of which one it was.
        const hashes = setting.value();
        const others = hashes.filter((hash) => !verifyPassword(plain(code), hash));
        if (others.length === hashes.length) return false;
        await writeAs(others, 'admin.recovery-code-used', by, change);
        return true;
      }),

    forget: (by) =>
      setting.change(async (change) => {
        if (setting.value().length > 0) await writeAs([], 'admin.recovery-codes', by, change);
      }),

    left: () => setting.value().length,
  };
}

/** Ten letters of base 32, in two halves to read by. */
function newCode(): string {
  const letters = toBase32(randomBytes(7)).toLowerCase().slice(0, 10);
  return `${letters.slice(0, 5)}-${letters.slice(5)}`;
}

/** As people may type it: in capitals, with spaces, without the hyphen. */
const plain = (code: string): string => code.toLowerCase().replace(/[^a-z2-7]/g, '');
