// The IP whitelist setting: the operator's text in the database, parsed entries in memory.
import { type Actor, DAEMON } from '../audit/audit.js';
import type { IpBytes } from '../ip.js';
import { createAuditedSetting, type Refuse, type Reloadable, refuseNone } from '../settings/setting.js';
import type { SettingStore } from '../settings/setting-store.js';
import { parseWhitelist, type Whitelist } from './whitelist.js';

export const WHITELIST_KEY = 'admin.whitelist';

export type WhitelistSaved<Refusal = never> =
  | { readonly ok: true }
  /** Nothing was saved because these entries are invalid. */
  | { readonly ok: false; readonly badEntries: readonly string[] }
  /** Nothing was saved because `refuse` returned this. */
  | { readonly ok: false; readonly refusal: Refusal };

export interface WhitelistSetting extends Reloadable {
  /**
   * Saves `text` if every entry is valid, and `refuse` returns null for the stored text. It applies from the next request on. Rejects
   * when it cannot be written.
   */
  save<Refusal = never>(
    text: string,
    by?: Actor,
    refuse?: Refuse<string, Refusal>,
  ): Promise<WhitelistSaved<Refusal>>;
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
  const setting = createAuditedSetting<Held>({
    store,
    key: WHITELIST_KEY,
    name: 'whitelist',
    initial: { text: '', allows: () => false },
    parse(text) {
      const parsed = parseWhitelist(text);
      if (parsed.ok) return { text, allows: parsed.whitelist.allows };
      const entries = parsed.badEntries.join(', ');
      throw new Error(`invalid entries in the stored IP whitelist: ${entries}`);
    },
    format: ({ text }) => text,
    audited: (before, after) => ({ before: { whitelist: before.text }, after: { whitelist: after.text } }),
  });

  return {
    key: WHITELIST_KEY,
    reload: setting.reload,

    async save(text, by = DAEMON, refuse = refuseNone) {
      const parsed = parseWhitelist(text);
      if (!parsed.ok) return { ok: false, badEntries: parsed.badEntries };
      const next = { text, allows: parsed.whitelist.allows };
      const refusal = await setting.save(
        () => next,
        by,
        (stored) => refuse(stored.text),
      );
      return refusal === null ? { ok: true } : { ok: false, refusal };
    },

    text: () => setting.current().text,
    allows: (address) => setting.current().allows(address),
  };
}
