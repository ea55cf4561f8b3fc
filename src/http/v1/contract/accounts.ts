// Accounts one by one: find, create, edit, remove, reset a password.
import { z } from 'zod';
import { CLIENT_FORMATS } from '../../../core/accounts/client-formats.js';
import { Bytes, Count, Flag, Guid, IdParams, PageQuery, pageOf, route, Time, TimeIn } from './common.js';
import { AccountLimits, AccountLimitsChange, AccountUsage } from './limits.js';

/** 1 to 255 bytes of UTF-8 (RFC 1929 §2); bytes and control characters are checked by the account rules. */
export const Username = z.string().min(1).max(255);
export const Password = z.string().min(1).max(255);
export const Remarks = z.string().max(4_000).nullable();

export const Account = z
  .object({
    id: Guid,
    username: z.string(),
    isEnabled: z.boolean(),
    remarks: z.string().nullable(),
    createdAt: Time,
    lastLoginAt: Time.nullable(),
    expiresAt: Time.nullable(),
    isExpired: z.boolean(),
    /** Heartbeat entries now in the pool. */
    dataCount: Count,
    latestGameId: z.string().nullable(),
    /** Since midnight UTC. */
    todayBytesUp: Bytes,
    todayBytesDown: Bytes,
    limits: AccountLimits,
    usage: AccountUsage,
    /** What `If-Match` of a change takes; the same as the `ETag` header of the single account. */
    etag: z.string(),
  })
  .meta({ id: 'Account' });

/** Filters are joined by "and"; one left out does not filter. */
export const AccountFilter = z
  .object({
    /** In user name, remarks, and latest GameID; without regard to case. A whole GUID finds its account. */
    search: z.string().max(255).optional(),
    online: Flag.optional(),
    enabled: Flag.optional(),
    expired: Flag.optional(),
    /** Not yet expired, but within so many days. */
    expiringWithinDays: z.coerce.number().int().min(1).max(3_650).optional(),
    /** Never logged in. */
    neverUsed: Flag.optional(),
    overQuota: Flag.optional(),
    /** Latest GameID, exactly. */
    game: z.string().max(255).optional(),
  })
  .meta({ id: 'AccountFilter' });

const sortKeys = [
  'username',
  'createdAt',
  'lastLoginAt',
  'expiresAt',
  'dataCount',
  'latestGameId',
  'sessions',
  'todayBytes',
  'periodBytes',
] as const;
export const AccountSort = z.enum([...sortKeys, ...sortKeys.map((key) => `-${key}` as const)]).meta({
  id: 'AccountSort',
  description: 'A leading minus sorts downwards. What is null comes last either way.',
});

const AccountQuery = AccountFilter.extend({ ...PageQuery.shape, sort: AccountSort.default('username') });

/** Shown once: at creation and at a password reset. */
export const Credentials = z
  .object({
    id: Guid,
    username: z.string(),
    password: z.string(),
    /** `socks5h://user:password@host:port`, percent-encoded. */
    link: z.string(),
    /** `host:port:user:password`; null where a colon in the user name would make it ambiguous. */
    plain: z.string().nullable(),
  })
  .meta({ id: 'Credentials' });

/** The same for one account, with what the players' programs read. */
export const CredentialsInFormats = Credentials.extend({
  formats: z.array(
    z.object({
      format: z.enum(CLIENT_FORMATS),
      /** null: the format cannot carry this user name or password. */
      text: z.string().nullable(),
      /** For what is opened as a file; null for what is pasted. */
      fileName: z.string().nullable(),
    }),
  ),
}).meta({ id: 'CredentialsInFormats' });

/** What new accounts may be given besides their names. */
export const NewAccountDefaults = {
  isEnabled: z.boolean().default(true),
  remarks: Remarks.default(null),
  expiresAt: TimeIn.nullable().default(null),
  limits: AccountLimitsChange.optional(),
};

export const NewAccount = z
  .object({
    username: Username,
    /** Left out: a random one is made. */
    password: Password.optional(),
    ...NewAccountDefaults,
  })
  .meta({ id: 'NewAccount' });

export const AccountChange = z
  .object({
    isEnabled: z.boolean().optional(),
    remarks: Remarks.optional(),
    expiresAt: TimeIn.nullable().optional(),
    limits: AccountLimitsChange.optional(),
  })
  .meta({ id: 'AccountChange', description: 'What is left out stays as it is.' });

const tag = 'Accounts';
export const accountRoutes = [
  route({
    method: 'GET',
    path: '/api/v1/accounts',
    operationId: 'listAccounts',
    summary: 'Accounts, searched, filtered, sorted, in pages of up to 1,000.',
    tag,
    access: 'accounts:read',
    request: { query: AccountQuery },
    responses: { 200: { description: 'A page.', schema: pageOf(Account).meta({ id: 'AccountPage' }) } },
  }),
  route({
    method: 'POST',
    path: '/api/v1/accounts',
    operationId: 'createAccount',
    summary: 'Creates one account; its credentials are in this answer and never again.',
    tag,
    access: 'accounts:write',
    request: { body: NewAccount },
    responses: {
      201: {
        description: 'Created; `Location` names it.',
        schema: z
          .object({ account: Account, credentials: CredentialsInFormats })
          .meta({ id: 'CreatedAccount' }),
      },
    },
    problems: [409],
  }),
  route({
    method: 'GET',
    path: '/api/v1/accounts/{id}',
    operationId: 'getAccount',
    summary: 'One account.',
    tag,
    access: 'accounts:read',
    etag: true,
    request: { params: IdParams },
    responses: { 200: { description: 'The account.', schema: Account } },
    problems: [404],
  }),
  route({
    method: 'PATCH',
    path: '/api/v1/accounts/{id}',
    operationId: 'changeAccount',
    summary: 'Changes the fields given.',
    tag,
    access: 'accounts:write',
    etag: true,
    request: { params: IdParams, body: AccountChange },
    responses: { 200: { description: 'The account as it is now.', schema: Account } },
    problems: [404, 412],
  }),
  route({
    method: 'DELETE',
    path: '/api/v1/accounts/{id}',
    operationId: 'deleteAccount',
    summary: 'Deletes the account with its heartbeat data; its live sessions end.',
    tag,
    access: 'accounts:write',
    etag: true,
    request: { params: IdParams },
    responses: {
      200: {
        description: 'What went with it.',
        schema: z.object({ heartbeatsRemoved: Count, sessionsEnded: Count }).meta({ id: 'DeletedAccount' }),
      },
    },
    problems: [404, 412],
  }),
  route({
    method: 'POST',
    path: '/api/v1/accounts/{id}/password',
    operationId: 'resetPassword',
    summary: 'Sets a new password, a random one unless given; live sessions end.',
    tag,
    access: 'accounts:write',
    request: {
      params: IdParams,
      body: z.object({ password: Password.optional() }).meta({ id: 'PasswordReset' }),
    },
    responses: { 200: { description: 'The credentials, shown once.', schema: CredentialsInFormats } },
    problems: [404],
  }),
  route({
    method: 'POST',
    path: '/api/v1/accounts/{id}/link',
    operationId: 'getCredentials',
    summary:
      'Link and client formats for the password the account has; only a hash of it is stored, so it is asked for.',
    tag,
    access: 'accounts:write',
    request: {
      params: IdParams,
      body: z.object({ password: Password }).meta({ id: 'KnownPassword' }),
    },
    responses: { 200: { description: 'The same as at creation.', schema: CredentialsInFormats } },
    problems: [404],
  }),
];
