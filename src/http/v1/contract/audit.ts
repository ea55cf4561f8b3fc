// The audit log, and API tokens.
import { z } from 'zod';
import { Guid, IdParams, PageQuery, pageOf, route, Scope, Time, TimeIn } from './common.js';

export const AuditEntry = z
  .object({
    id: Guid,
    at: Time,
    /** Admin user name, or the name of the token, or the system user of the command line. */
    actor: z.string(),
    via: z.enum(['console', 'api', 'token', 'cli', 'daemon']),
    /** null: not over the network. */
    address: z.string().nullable(),
    /** `account.create`, `account.update`, `account.delete`, `account.password`, `settings.whitelist`, … */
    action: z.string(),
    object: z.object({
      type: z.enum(['account', 'session', 'settings', 'token', 'run', 'agent', 'admin', 'import']),
      id: z.string().nullable(),
      name: z.string().nullable(),
    }),
    /** Only the fields that differ; passwords and secrets never. */
    before: z.record(z.string(), z.unknown()).nullable(),
    after: z.record(z.string(), z.unknown()).nullable(),
    /** The import that the change is a part of: the id of its entry, and the name of its file. */
    import: z.object({ id: Guid, name: z.string().nullable() }).nullable(),
  })
  .meta({ id: 'AuditEntry' });

export const Token = z
  .object({
    id: Guid,
    name: z.string(),
    /** The first characters, to tell tokens apart. */
    prefix: z.string(),
    scopes: z.array(Scope),
    createdAt: Time,
    expiresAt: Time.nullable(),
    lastUsedAt: Time.nullable(),
    lastUsedFrom: z.string().nullable(),
  })
  .meta({ id: 'Token' });

export const NewToken = z
  .object({
    name: z.string().trim().min(1).max(100),
    scopes: z.array(Scope).min(1),
    expiresAt: TimeIn.nullable().default(null),
  })
  .meta({ id: 'NewToken' });

export const auditRoutes = [
  route({
    method: 'GET',
    path: '/api/v1/audit',
    operationId: 'listAudit',
    summary: 'Every change: who, from where, what before and after; newest first.',
    tag: 'Audit',
    access: 'audit:read',
    request: {
      query: z.object({
        ...PageQuery.shape,
        /** In actor, address, action and object name. */
        search: z.string().max(255).optional(),
        action: z.string().max(100).optional(),
        via: AuditEntry.shape.via.optional(),
        /** Id of the object; also what imports did to it is listed then. */
        objectId: z.string().max(255).optional(),
        /** Id of an import's entry: what that import did. Without, an import is one entry. */
        importId: Guid.optional(),
        from: TimeIn.optional(),
        to: TimeIn.optional(),
      }),
    },
    responses: { 200: { description: 'A page.', schema: pageOf(AuditEntry).meta({ id: 'AuditPage' }) } },
  }),
  route({
    method: 'GET',
    path: '/api/v1/tokens',
    operationId: 'listTokens',
    summary: 'API tokens, without their secrets.',
    tag: 'Tokens',
    access: 'operator',
    request: {},
    responses: {
      200: {
        description: 'All of them.',
        schema: z.object({ items: z.array(Token) }).meta({ id: 'Tokens' }),
      },
    },
  }),
  route({
    method: 'POST',
    path: '/api/v1/tokens',
    operationId: 'createToken',
    summary: 'Makes a token; its secret is in this answer and never again.',
    tag: 'Tokens',
    access: 'operator',
    request: { body: NewToken },
    responses: {
      201: {
        description: 'Send it as `Authorization: Bearer …`.',
        schema: z.object({ token: Token, secret: z.string() }).meta({ id: 'CreatedToken' }),
      },
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/v1/tokens/{id}',
    operationId: 'revokeToken',
    summary: 'Revokes a token at once.',
    tag: 'Tokens',
    access: 'operator',
    request: { params: IdParams },
    responses: { 204: { description: 'Revoked.' } },
    problems: [404],
  }),
];
