// /api/v1: the audit log, and API tokens.

import type { AuditEntry, AuditFilter, AuditStore } from '../../core/audit/audit.js';
import type { ApiToken, ApiTokens } from '../../core/auth/api-tokens.js';
import type { ChangeBell } from '../../core/stats/change-signal.js';
import { actorOf } from '../caller.js';
import type { auditRoutes } from './contract/audit.js';
import type { Handlers, ProblemAnswer } from './serve.js';
import { fromIso, fromIsoOrNull, iso, isoOrNull } from './times.js';

const GUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export function auditHandlers({
  audit,
  apiTokens,
  bell,
  now,
}: {
  audit: AuditStore;
  apiTokens: ApiTokens;
  bell: ChangeBell;
  now: () => number;
}): Handlers<(typeof auditRoutes)[number]> {
  return {
    async listAudit({ query: { limit, cursor, from, to, ...named } }) {
      if (cursor !== undefined && !GUID.test(cursor)) return badCursor();
      const filter = compact<AuditFilter>({
        ...named,
        from: from === undefined ? undefined : fromIso(from),
        to: to === undefined ? undefined : fromIso(to),
      });
      const [found, matched, total] = await Promise.all([
        audit.list(filter, cursor ?? null, limit + 1),
        audit.count(filter),
        audit.count({}),
      ]);
      const items = found.slice(0, limit);
      const last = items.at(-1);
      const nextCursor = found.length > limit && last ? last.id : null;
      return { status: 200, body: { items: items.map(presentEntry), matched, total, nextCursor } };
    },

    listTokens: async () => ({ status: 200, body: { items: apiTokens.list().map(presentToken) } }),

    async createToken({ body, caller }) {
      const expiresAt = fromIsoOrNull(body.expiresAt);
      if (expiresAt !== null && expiresAt <= now()) {
        return { problem: 'validation', errors: [{ path: 'body.expiresAt', message: 'is past already' }] };
      }
      const scopes = [...new Set(body.scopes)];
      const made = await apiTokens.create({ name: body.name, scopes, expiresAt }, actorOf(caller));
      bell.ring('tokens');
      if (!made) return { problem: 'conflict', detail: 'there are as many tokens as there may be' };
      return { status: 201, body: { token: presentToken(made.token), secret: made.secret } };
    },

    async revokeToken({ params, caller }) {
      const isRevoked = await apiTokens.revoke(params.id.toLowerCase(), actorOf(caller));
      if (!isRevoked) return { problem: 'not-found', detail: 'there is no such token' };
      bell.ring('tokens');
      return { status: 204 };
    },
  };
}

export function badCursor(): ProblemAnswer {
  return {
    problem: 'validation',
    errors: [{ path: 'query.cursor', message: 'not a cursor of this list' }],
  };
}

/** A key that is undefined is as good as absent; the ports' types insist on absent. */
export function compact<T extends object>(from: { [K in keyof T]: T[K] | undefined }): T {
  return Object.fromEntries(Object.entries(from).filter(([, value]) => value !== undefined)) as T;
}

function presentEntry({ id, at, by, ...entry }: AuditEntry) {
  return { id, at: iso(at), actor: by.name, via: by.via, address: by.address, ...entry };
}

function presentToken({
  id,
  name,
  prefix,
  scopes,
  createdAt,
  expiresAt,
  lastUsedAt,
  lastUsedFrom,
}: ApiToken) {
  return {
    id,
    name,
    prefix,
    scopes,
    createdAt: iso(createdAt),
    expiresAt: isoOrNull(expiresAt),
    lastUsedAt: isoOrNull(lastUsedAt),
    lastUsedFrom,
  };
}
