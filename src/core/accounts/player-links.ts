// The secret addresses of players: each opens what belongs to one account. The database is asked every time, so that an address
// that is revoked at one node opens nothing at another.
import { createHash, randomBytes } from 'node:crypto';
import type { Actor, AuditRecord } from '../audit/audit.js';
import type { Clock } from '../clock.js';

/** `page`: the player's own page. `pac`: the account's proxy auto-configuration file. */
export type PlayerLinkKind = 'page' | 'pac';

export interface PlayerLink {
  readonly accountId: string;
  readonly kind: PlayerLinkKind;
  /** SHA-256 of the token, hexadecimal. */
  readonly hash: string;
  /**
   * null: only the hash is known. That of a PAC file is kept, to be shown again: the file tells the address of the proxy and
   * what goes through it, which every player knows, and opens nothing.
   */
  readonly token: string | null;
  readonly createdAt: number;
}

export interface PlayerLinkStore {
  ofAccount(accountId: string): Promise<PlayerLink[]>;
  /** The id of the account; null: there is no such address. */
  find(kind: PlayerLinkKind, hash: string): Promise<string | null>;
  /** Replaces the address of this kind that the account has. */
  put(link: PlayerLink, audit: AuditRecord): Promise<void>;
  /** False when there was none. */
  remove(accountId: string, kind: PlayerLinkKind, audit: AuditRecord): Promise<boolean>;
}

interface Owner {
  readonly id: string;
  readonly username: string;
}

/** Every call rejects when the database cannot be read or written. */
export interface PlayerLinks {
  /** null: the account has none of this kind. */
  get(accountId: string, kind: PlayerLinkKind): Promise<PlayerLink | null>;
  /** Makes a new address; the one before opens nothing any more. Returns its token; that of a page is not stored. */
  create(account: Owner, kind: PlayerLinkKind, by: Actor): Promise<{ token: string; createdAt: number }>;
  /** False when the account has none of this kind. */
  revoke(account: Owner, kind: PlayerLinkKind, by: Actor): Promise<boolean>;
  /** The id of the account whose address has this token; null: nobody's. */
  find(kind: PlayerLinkKind, token: string): Promise<string | null>;
}

/** 144 bits: 24 characters of base64url. */
const TOKEN_BYTES = 18;

/** Below the address of the admin port. */
export function playerPath(kind: PlayerLinkKind, token: string): string {
  return kind === 'page' ? `/player/${token}` : `/pac/${token}.pac`;
}

/** What a token looks like in a path. */
export const PLAYER_TOKEN = '[A-Za-z0-9_-]{24}';

export function createPlayerLinks({
  store,
  now,
}: {
  readonly store: PlayerLinkStore;
  readonly now: Clock;
}): PlayerLinks {
  return {
    async get(accountId, kind) {
      return (await store.ofAccount(accountId)).find((link) => link.kind === kind) ?? null;
    },

    async create({ id, username }, kind, by) {
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
      await store.put(link, { by, action: 'account.player-link', object, before: null, after: { kind } });
      return { token, createdAt };
    },

    revoke({ id, username }, kind, by) {
      const object = { type: 'account', id, name: username } as const;
      const action = 'account.player-link-revoke';
      return store.remove(id, kind, { by, action, object, before: { kind }, after: null });
    },

    find: (kind, token) => store.find(kind, hashOf(token)),
  };
}

const hashOf = (token: string): string => createHash('sha256').update(token).digest('hex');
