// API tokens with scopes and expiry. The secret is shown once and stored as a hash.
import { randomBytes } from 'node:crypto';
import { type Actor, type AuditRecord, auditRecord } from '../audit/audit.js';
import { type Clock, isoOrNull } from '../time/clock.js';
import { createTurns } from '../time/turns.js';
import { fingerprintOf } from './people-passwords.js';

export interface ApiToken {
  readonly id: string;
  readonly name: string;
  /** The first characters of the secret, to identify the token. */
  readonly prefix: string;
  /** SHA-256 of the secret, hexadecimal. */
  readonly hash: string;
  readonly scopes: readonly string[];
  readonly createdAt: number;
  /** null: never. */
  readonly expiresAt: number | null;
  readonly lastUsedAt: number | null;
  readonly lastUsedFrom: string | null;
  /** Id of the operator who created the token; null: the administrator. */
  readonly operatorId: string | null;
}

export interface ApiTokenStore {
  all(): Promise<ApiToken[]>;
  /** Returns false, and writes nothing, when the creator of the token has `max` tokens already. */
  add(token: ApiToken, max: number, audit: AuditRecord): Promise<boolean>;
  remove(id: string, audit: AuditRecord): Promise<void>;
  used(id: string, at: number, from: string): Promise<void>;
}

export const API_TOKENS_KEY = 'admin.tokens';

/** The prefix of secrets, by which secret scanners recognize them. */
const SECRET_PREFIX = 'pg_';
const SECRET_BYTES = 32;
const SHOWN_PREFIX_LENGTH = 9;
const USE_WRITTEN_EVERY_MS = 60_000;

export type ApiTokens = ReturnType<typeof createApiTokens>;

export function createApiTokens(deps: {
  readonly store: ApiTokenStore;
  readonly now: Clock;
  readonly newId: () => string;
  /** Per creator. */
  readonly maxTokens: number;
  readonly onError: (error: unknown) => void;
}) {
  const { store, now } = deps;
  const byId = new Map<string, ApiToken>();
  const idByHash = new Map<string, string>();
  // A reload during a change would restore a revoked token, or forget a new one.
  const inTurn = createTurns();

  const put = (token: ApiToken): void => {
    byId.set(token.id, token);
    idByHash.set(token.hash, token.id);
  };
  const audit = (by: Actor, { id, name, scopes, expiresAt }: ApiToken, isNew: boolean): AuditRecord => {
    const shown = { name, scopes, expiresAt: isoOrNull(expiresAt) };
    const object = { type: 'token', id, name } as const;
    return isNew
      ? auditRecord(by, 'token.create', object, null, shown)
      : auditRecord(by, 'token.revoke', object, shown);
  };
  const isValid = (token: ApiToken | undefined): token is ApiToken =>
    token !== undefined && (token.expiresAt === null || token.expiresAt > now());

  return {
    key: API_TOKENS_KEY,

    reload: () =>
      inTurn(API_TOKENS_KEY, async () => {
        // Read before replacing, so that tokens stay valid during the read.
        const stored = await store.all();
        byId.clear();
        idByHash.clear();
        for (const token of stored) put(token);
      }),

    /** Oldest first; with `operatorId` only tokens of this operator. */
    list: (operatorId?: string): ApiToken[] =>
      [...byId.values()]
        .filter((token) => operatorId === undefined || token.operatorId === operatorId)
        .sort((a, b) => a.createdAt - b.createdAt),

    /** Null when the creator has as many tokens as allowed. Rejects when the token cannot be written. */
    create: (
      input: Pick<ApiToken, 'name' | 'scopes' | 'expiresAt' | 'operatorId'>,
      by: Actor,
    ): Promise<{ readonly token: ApiToken; readonly secret: string } | null> =>
      inTurn(API_TOKENS_KEY, async () => {
        const secret = SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64url');
        const token: ApiToken = {
          ...input,
          id: deps.newId(),
          prefix: secret.slice(0, SHOWN_PREFIX_LENGTH),
          hash: fingerprintOf(secret),
          createdAt: now(),
          lastUsedAt: null,
          lastUsedFrom: null,
        };
        if (!(await store.add(token, deps.maxTokens, audit(by, token, true)))) return null;
        put(token);
        return { token, secret };
      }),

    /** Returns false when there is no such token; with `operatorId` also for a token of somebody else. */
    revoke: (id: string, by: Actor, operatorId?: string): Promise<boolean> =>
      inTurn(API_TOKENS_KEY, async () => {
        const token = byId.get(id);
        if (!token || (operatorId !== undefined && token.operatorId !== operatorId)) return false;
        await store.remove(id, audit(by, token, false));
        byId.delete(id);
        idByHash.delete(token.hash);
        return true;
      }),

    /** The token with this secret, if it is valid; records the use. */
    find(secret: string, from: string): ApiToken | null {
      const token = byId.get(idByHash.get(fingerprintOf(secret)) ?? '');
      if (!isValid(token)) return null;
      const at = now();
      if (at - (token.lastUsedAt ?? 0) < USE_WRITTEN_EVERY_MS && token.lastUsedFrom === from) return token;
      put({ ...token, lastUsedAt: at, lastUsedFrom: from });
      store.used(token.id, at, from).catch(deps.onError);
      return token;
    },

    /** Whether the token exists and has not expired. */
    isValid: (id: string): boolean => isValid(byId.get(id)),
  };
}
