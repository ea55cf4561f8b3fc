// The secret addresses of players. Each gives access to the page or the PAC file of one account. Every request reads the database,
// so that an address revoked at one node is invalid at all nodes.
import { createHash, randomBytes } from 'node:crypto';
import type { Actor, AuditRecord } from '../../audit/audit.js';
import type { Clock } from '../../clock.js';

/** `page`: the player page. `pac`: the account's proxy auto-configuration file. */
export type PlayerLinkKind = 'page' | 'pac';

export interface PlayerLink {
  readonly accountId: string;
  readonly kind: PlayerLinkKind;
  /** SHA-256 of the token, hexadecimal. */
  readonly hash: string;
  /**
   * null: the daemon stores only the hash. The token of a PAC file is stored, so that the console can show it again. The file
   * contains only the address of the proxy and the rules, which every player knows, and it gives no access.
   */
  readonly token: string | null;
  readonly createdAt: number;
}

export interface PlayerLinkStore {
  ofAccount(accountId: string): Promise<PlayerLink[]>;
  /** Returns the id of the account; null: no such address. */
  find(kind: PlayerLinkKind, hash: string): Promise<string | null>;
  /**
   * Replaces the account's address of this kind. Returns false when the account is gone, or belongs to another seller than the one
   * that makes the change.
   */
  put(link: PlayerLink, audit: AuditRecord): Promise<boolean>;
  /** Returns false when there was none, and in the cases in which `put` returns false. */
  remove(accountId: string, kind: PlayerLinkKind, audit: AuditRecord): Promise<boolean>;
}

interface Owner {
  readonly id: string;
  readonly username: string;
}

/** Every method rejects when the database cannot be read or written. */
export type PlayerLinks = ReturnType<typeof createPlayerLinks>;

/** 144 bits: 24 characters of base64url. */
const TOKEN_BYTES = 18;

/** Returns the path of an address on the admin port. */
export function playerPath(kind: PlayerLinkKind, token: string): string {
  return kind === 'page' ? `/player/${token}` : `/pac/${token}.pac`;
}

/** Matches a token in a path. */
export const PLAYER_TOKEN = '[A-Za-z0-9_-]{24}';

export function createPlayerLinks({ store, now }: { readonly store: PlayerLinkStore; readonly now: Clock }) {
  return {
    /** null: the account has no address of this kind. */
    async get(accountId: string, kind: PlayerLinkKind): Promise<PlayerLink | null> {
      return (await store.ofAccount(accountId)).find((link) => link.kind === kind) ?? null;
    },

    /**
     * Creates a new address and invalidates the former one. Returns the new token; null: meanwhile the account was removed or moved
     * to another seller. The database stores no token of a page.
     */
    async create(
      { id, username }: Owner,
      kind: PlayerLinkKind,
      by: Actor,
    ): Promise<{ token: string; createdAt: number } | null> {
      const token = randomBytes(TOKEN_BYTES).toString('base64url');
      const createdAt = now();
      const link = {
        accountId: id,
        kind,
        hash: hashOf(token),
        token: kind === 'pac' ? token : null,
        createdAt,
      };
      const object = { type: 'account', id, name: username } as const;
      const audit = { by, action: 'account.player-link', object, before: null, after: { kind } } as const;
      return (await store.put(link, audit)) ? { token, createdAt } : null;
    },

    /** Returns false when the account has no address of this kind. */
    revoke({ id, username }: Owner, kind: PlayerLinkKind, by: Actor): Promise<boolean> {
      const object = { type: 'account', id, name: username } as const;
      const action = 'account.player-link-revoke';
      return store.remove(id, kind, { by, action, object, before: { kind }, after: null });
    },

    /** Returns the id of the account whose address has this token; null: none. */
    find: (kind: PlayerLinkKind, token: string): Promise<string | null> => store.find(kind, hashOf(token)),
  };
}

const hashOf = (token: string): string => createHash('sha256').update(token).digest('hex');
