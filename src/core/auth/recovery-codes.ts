// Recovery codes: each stands once for a code of the second factor, for whoever has lost the authenticator.
import { randomBytes } from 'node:crypto';
import { hashPassword, verifyPassword } from '../accounts/password.js';
import type { Actor, AuditAction } from '../audit/audit.js';
import type { SettingStore } from '../settings/setting-store.js';
import { createTurns } from '../turns.js';
import { toBase32 } from './totp.js';

/** Where their hashes are kept, as JSON; a change by another process calls for `reload`. */
export const RECOVERY_CODES_KEY = 'admin.recovery-codes';

/** How many there are at first. */
const COUNT = 10;

export interface RecoveryCodes {
  /** Makes new ones, `abcde-fghij`, 50 random bits each; those before count no more. Only hashes are stored. */
  renew(by: Actor): Promise<readonly string[]>;
  /** Whether it was one of them; from now on it is none. Rejects when that cannot be written: then it did not count. */
  use(code: string, by: Actor): Promise<boolean>;
  /** Of a second factor that is no more. */
  forget(by: Actor): Promise<void>;
  left(): number;
  reload(): Promise<void>;
}

export function createRecoveryCodes(settings: Pick<SettingStore, 'get' | 'set'>): RecoveryCodes {
  let hashes: readonly string[] = [];
  const inTurn = createTurns();

  async function save(next: readonly string[], action: AuditAction, by: Actor): Promise<void> {
    await settings.set(RECOVERY_CODES_KEY, JSON.stringify(next), {
      by,
      action,
      object: { type: 'admin', id: null, name: null },
      before: { recoveryCodes: hashes.length },
      after: { recoveryCodes: next.length },
    });
    hashes = next;
  }

  return {
    renew: (by) =>
      inTurn(RECOVERY_CODES_KEY, async () => {
        const codes = Array.from({ length: COUNT }, newCode);
        await save(
          codes.map((code) => hashPassword(plain(code))),
          'admin.recovery-codes',
          by,
        );
        return codes;
      }),

    use: (code, by) =>
      inTurn(RECOVERY_CODES_KEY, async () => {
        // All are compared, so that the time tells nothing of which one it was.
        const others = hashes.filter((hash) => !verifyPassword(plain(code), hash));
        if (others.length === hashes.length) return false;
        await save(others, 'admin.recovery-code-used', by);
        return true;
      }),

    forget: (by) =>
      inTurn(RECOVERY_CODES_KEY, async () => {
        if (hashes.length > 0) await save([], 'admin.recovery-codes', by);
      }),

    left: () => hashes.length,

    reload: () =>
      inTurn(RECOVERY_CODES_KEY, async () => {
        hashes = JSON.parse((await settings.get(RECOVERY_CODES_KEY)) ?? '[]') as string[];
      }),
  };
}

/** Ten letters of base 32, in two halves to read by. */
function newCode(): string {
  const letters = toBase32(randomBytes(7)).toLowerCase().slice(0, 10);
  return `${letters.slice(0, 5)}-${letters.slice(5)}`;
}

/** As people may type it: in capitals, with spaces, without the hyphen. */
const plain = (code: string): string => code.toLowerCase().replace(/[^a-z2-7]/g, '');
