// Secret addresses that versions before 0.3 made, for the page or the PAC file of an account: they work until they are revoked. Each
// request reads the database, so that an address revoked at one node is invalid at all nodes.
import type { Actor } from '../../audit/audit.js';
import type { Account } from '../account.js';

/** `page`: the player page. `pac`: the account's proxy auto-configuration file. */
type PlayerLinkKind = 'page' | 'pac';

/** Every method rejects when the database cannot be read or written. */
export interface PlayerLinks {
  has(accountId: string): Promise<boolean>;
  /** Returns the id of the account whose address has this token; null: none. */
  find(kind: PlayerLinkKind, token: string): Promise<string | null>;
  /**
   * Removes those of the account. Returns false when there was none, when the account is gone, and when it belongs to another seller
   * than the one that makes the change.
   */
  revoke(account: Pick<Account, 'id' | 'username'>, by: Actor): Promise<boolean>;
}

/** Matches a token in a path, and that of a subscription. */
export const PLAYER_TOKEN = '[A-Za-z0-9_-]{24}';
