// The secret link of an account's subscription, `/sub/<token>`. The token makes the password that client programs get from the link,
// so the daemon can write that into a configuration although it stores only a hash of it.
import { hkdfSync, randomBytes } from 'node:crypto';
import type { Actor } from '../../audit/audit.js';
import { hashPassword, LINK_PREFIX } from '../access/password.js';
import type { Account } from '../account.js';

/** 144 bits: 24 characters of base64url. */
const TOKEN_BYTES = 18;
const SALT_BYTES = 16;
/** 20 characters of base64url. */
const PASSWORD_BYTES = 15;

export interface SubscriptionSecrets {
  readonly password: string;
  /** The stored form of the password, `AccountLink.hash`. The token makes its salt too: the hash is what the link is found by. */
  readonly hash: string;
}

export const newSubscriptionToken = (): string => randomBytes(TOKEN_BYTES).toString('base64url');

/** HKDF (RFC 5869) with SHA-256: whoever has the password cannot compute the token. */
export function secretsOf(token: string): SubscriptionSecrets {
  const bytes = Buffer.from(
    hkdfSync('sha256', token, '', 'pulsegate subscription', PASSWORD_BYTES + SALT_BYTES),
  );
  const password = LINK_PREFIX + bytes.subarray(0, PASSWORD_BYTES).toString('base64url');
  return { password, hash: hashPassword(password, bytes.subarray(PASSWORD_BYTES)) };
}

/** `page`: the player page. `pac`: the account's proxy auto-configuration file. */
type PlayerLinkKind = 'page' | 'pac';

/**
 * Secret addresses that versions before 0.3 made, for the page or the PAC file of an account: they work until they are revoked. Each
 * request reads the database, so that an address revoked at one node is invalid at all nodes. Every method rejects when the
 * database cannot be read or written.
 */
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
