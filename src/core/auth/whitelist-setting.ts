// The IP whitelist as a setting: kept in the database as the text the operator wrote, in memory as its entries.

import { type Actor, DAEMON } from '../audit/audit.js';
import type { IpBytes } from '../ip.js';
import type { SettingStore } from '../settings/setting-store.js';
import { createTurns } from '../turns.js';
import { parseWhitelist, type Whitelist } from './whitelist.js';

/** Where the text is kept; a change of this key in another process calls for `reload`. */
export const WHITELIST_KEY = 'admin.whitelist';

export type WhitelistSaved =
  | { readonly ok: true }
  /** Nothing was saved: these entries could not be read. */
  | { readonly ok: false; readonly badEntries: readonly string[] };

export interface WhitelistSetting {
  /** Reads the setting from the database. Rejects when it cannot be read; the list then stays as it was. */
  reload(): Promise<void>;
  /** Saves `text` if every entry parses. It counts from the next request on. Rejects when it cannot be written. */
  save(text: string, by?: Actor): Promise<WhitelistSaved>;
  /** As it was saved; empty when it never was. */
  text(): string;
  /** Whether a client address may use the management plane. */
  allows(address: string | IpBytes): boolean;
}

interface Loaded {
  readonly text: string;
  readonly allows: Whitelist['allows'];
}

/** Allows nobody until `reload` has read the setting: a list that is not known cannot let anyone in. */
export function createWhitelistSetting(settings: SettingStore): WhitelistSetting {
  let current: Loaded = { text: '', allows: () => false };
  // Saving and reloading take turns, or a reload could bring back the text that a save has just replaced.
  const inTurn = createTurns();

  return {
    reload: () =>
      inTurn(WHITELIST_KEY, async () => {
        const text = (await settings.get(WHITELIST_KEY)) ?? '';
        const parsed = parseWhitelist(text);
        if (!parsed.ok) {
          throw new Error(
            `the stored IP whitelist has entries that cannot be read: ${parsed.badEntries.join(', ')}`,
          );
        }
        current = { text, allows: parsed.whitelist.allows };
      }),

    save: (text, by = DAEMON) =>
      inTurn(WHITELIST_KEY, async () => {
        const parsed = parseWhitelist(text);
        if (!parsed.ok) return { ok: false, badEntries: parsed.badEntries };
        await settings.set(WHITELIST_KEY, text, {
          by,
          action: 'settings.whitelist',
          object: { type: 'settings', id: WHITELIST_KEY, name: 'whitelist' },
          before: { whitelist: current.text },
          after: { whitelist: text },
        });
        current = { text, allows: parsed.whitelist.allows };
        return { ok: true };
      }),

    text: () => current.text,
    allows: (address) => current.allows(address),
  };
}
