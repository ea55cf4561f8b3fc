// The admin's second factor: a setting that holds the secret, switched on once a code of it was given.

import { type Actor, DAEMON } from '../audit/audit.js';
import type { Clock } from '../clock.js';
import type { SettingStore } from '../settings/setting-store.js';
import { createTurns } from '../turns.js';
import { fingerprintOf } from './fingerprint.js';
import { matchTotp, newTotpSecret, toBase32, totpUri } from './totp.js';

/** Where the secret is kept; a change of this key in another process calls for `reload`. */
export const SECOND_FACTOR_KEY = 'admin.totp';

export interface SecondFactor {
  isEnabled(): boolean;
  /** Makes a secret that counts once confirmed; null when the second factor is on already. */
  enrol(username: string): { readonly secret: string; readonly uri: string } | null;
  /** Switches it on with a code of the new secret. */
  confirm(code: string, by: Actor): Promise<'on' | 'wrong-code' | 'not-enrolled' | 'on-already'>;
  /** Switches it off. */
  disable(code: string, by: Actor): Promise<'off' | 'wrong-code' | 'off-already'>;
  /** Switches it off without a code, for whoever has the database anyway; false when it was off. */
  forget(by: Actor): Promise<boolean>;
  /** Whether `code` is good now; a code is good once. */
  verify(code: string): boolean;
  /** Changes when it is switched on or off, and tells nothing of the secret. */
  fingerprint(): string;
  reload(): Promise<void>;
}

export function createSecondFactor({ settings, now }: { settings: SettingStore; now: Clock }): SecondFactor {
  let secret: Buffer | null = null;
  let offered: Buffer | null = null;
  let usedStep = 0;
  const inTurn = createTurns();

  function use(key: Buffer, code: string): boolean {
    const step = matchTotp(key, code, now(), usedStep);
    if (step !== null) usedStep = step;
    return step !== null;
  }

  const save = async (next: Buffer | null, by: Actor): Promise<void> => {
    await settings.set(SECOND_FACTOR_KEY, next?.toString('base64') ?? '', {
      by,
      action: next ? 'admin.totp-on' : 'admin.totp-off',
      object: { type: 'admin', id: null, name: null },
      before: { secondFactor: next === null },
      after: { secondFactor: next !== null },
    });
    secret = next;
  };

  return {
    isEnabled: () => secret !== null,

    enrol(username) {
      if (secret) return null;
      offered = newTotpSecret();
      return { secret: toBase32(offered), uri: totpUri(offered, username) };
    },

    confirm: (code, by = DAEMON) =>
      inTurn(SECOND_FACTOR_KEY, async () => {
        if (secret) return 'on-already';
        if (!offered) return 'not-enrolled';
        if (!use(offered, code)) return 'wrong-code';
        await save(offered, by);
        offered = null;
        return 'on';
      }),

    disable: (code, by = DAEMON) =>
      inTurn(SECOND_FACTOR_KEY, async () => {
        if (!secret) return 'off-already';
        if (!use(secret, code)) return 'wrong-code';
        await save(null, by);
        return 'off';
      }),

    forget: (by) =>
      inTurn(SECOND_FACTOR_KEY, async () => {
        if (!secret) return false;
        await save(null, by);
        return true;
      }),

    verify: (code) => secret !== null && use(secret, code),

    fingerprint: () => fingerprintOf(secret),

    reload: () =>
      inTurn(SECOND_FACTOR_KEY, async () => {
        const text = (await settings.get(SECOND_FACTOR_KEY)) ?? '';
        secret = text === '' ? null : Buffer.from(text, 'base64');
      }),
  };
}
