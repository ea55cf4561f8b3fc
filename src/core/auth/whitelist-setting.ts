// The IP whitelist setting: the operator's text in the database, parsed entries in memory.
import { type Actor, DAEMON } from '../audit/audit.js';
import type { IpBytes } from '../ip.js';
import { createSetting, type Reloadable } from '../settings/setting.js';
import type { SettingStore } from '../settings/setting-store.js';
import { parseWhitelist, type Whitelist } from './whitelist.js';

export const WHITELIST_KEY = 'admin.whitelist';

export type WhitelistSaved =
  | { readonly ok: true }
  /** Nothing was saved because these entries are invalid. */
  | { readonly ok: false; readonly badEntries: readonly string[] };

export interface WhitelistSetting extends Reloadable {
  /** Saves `text` if every entry is valid. It applies from the next request on. Rejects when it cannot be written. */
  save(text: string, by?: Actor): Promise<WhitelistSaved>;
  /** The saved text; empty when nothing was saved. */
  text(): string;
  /** Whether a client address may use the admin API. */
  allows(address: string | IpBytes): boolean;
}

interface Held {
  readonly text: string;
  readonly allows: Whitelist['allows'];
}

/** Allows no address until `reload` has read the setting. */
export function createWhitelistSetting(store: SettingStore): WhitelistSetting {
  const setting = createSetting<Held>({
    store,
    key: WHITELIST_KEY,
    initial: { text: '', allows: () => false },
    parse(text) {
      const parsed = parseWhitelist(text);
      if (parsed.ok) return { text, allows: parsed.whitelist.allows };
      const entries = parsed.badEntries.join(', ');
      throw new Error(`invalid entries in the stored IP whitelist: ${entries}`);
    },
    format: ({ text }) => text,
  });

  return {
    key: WHITELIST_KEY,
    reload: setting.reload,

    save: (text, by = DAEMON) =>
      setting.change(async ({ write }) => {
        const parsed = parseWhitelist(text);
        if (!parsed.ok) return { ok: false, badEntries: parsed.badEntries };
        await write(
          { text, allows: parsed.whitelist.allows },
          {
            by,
            action: 'settings.whitelist',
            object: { type: 'settings', id: WHITELIST_KEY, name: 'whitelist' },
            before: { whitelist: setting.value().text },
            after: { whitelist: text },
          },
        );
        return { ok: true };
      }),

    text: () => setting.value().text,
    allows: (address) => setting.value().allows(address),
  };
}
