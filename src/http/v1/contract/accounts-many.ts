// Many accounts at once: created from a pattern or a list, changed by a selection, each with a preview.
import { z } from 'zod';
import { Credentials, NewAccountDefaults, Password, Remarks, Username } from './accounts.js';
import { Count, Guid, route, TimeIn } from './common.js';
import { AccountLimitsChange } from './limits.js';

export const NewAccounts = z
  .object({
    /** `{001-120}` counts with leading zeros: `player{001-120}` makes player001 … player120. */
    pattern: z.string().min(1).max(300).optional(),
    /** Or a list; a password left out is made at random. */
    list: z
      .array(z.object({ username: Username, password: Password.optional(), remarks: Remarks.optional() }))
      .min(1)
      .max(10_000)
      .optional(),
    ...NewAccountDefaults,
    /** true: nothing is written; the answer says what would happen. */
    dryRun: z.boolean().default(false),
  })
  .meta({
    id: 'NewAccounts',
    description: 'Exactly one of `pattern` and `list`; at most 10,000 accounts at once.',
  });

export const SkippedAccount = z
  .object({
    /** null for a name that is no account yet. */
    id: Guid.nullable(),
    username: z.string(),
    /** `failed`: it could not be stored, and nothing of it was. */
    reason: z.enum([
      'username-taken',
      'username-twice',
      'bad-username',
      'bad-password',
      'not-found',
      'already-so',
      'no-expiry',
      'failed',
    ]),
  })
  .meta({ id: 'SkippedAccount' });

const NewAccountsResult = z
  .object({
    dryRun: z.boolean(),
    /** How many were, or with `dryRun` would be, created. */
    count: Count,
    /** Empty with `dryRun`, when `usernames` tells the names instead. */
    created: z.array(Credentials),
    usernames: z.array(z.string()),
    skipped: z.array(SkippedAccount),
  })
  .meta({ id: 'NewAccountsResult' });

const BulkAction = z.discriminatedUnion('type', [
  z.object({ type: z.literal('enable') }),
  z.object({ type: z.literal('disable') }),
  z.object({ type: z.literal('delete') }),
  z.object({ type: z.literal('set-limits'), limits: AccountLimitsChange }),
  z.object({ type: z.literal('set-expiry'), expiresAt: TimeIn.nullable() }),
  z.object({
    type: z.literal('extend'),
    days: z.int().min(-3_650).max(3_650),
    /**
     * `expiry`: from the old expiry on; `now`: from this moment on; `later`: from whichever of the two is later. With
     * `expiry` and `later` an account that never expires is skipped.
     */
    from: z.enum(['expiry', 'now', 'later']),
  }),
]);

/** The same words as in the query of the list, as JSON values. */
export const AccountFilterBody = z
  .object({
    search: z.string().max(255).optional(),
    online: z.boolean().optional(),
    enabled: z.boolean().optional(),
    expired: z.boolean().optional(),
    expiringWithinDays: z.int().min(1).max(3_650).optional(),
    neverUsed: z.boolean().optional(),
    overQuota: z.boolean().optional(),
    game: z.string().max(255).optional(),
  })
  .meta({ id: 'AccountFilterBody' });

export const BulkRequest = z
  .object({
    /** Exactly one of `ids` and `filter`; an empty filter means every account. */
    ids: z.array(Guid).min(1).max(10_000).optional(),
    filter: AccountFilterBody.optional(),
    action: BulkAction,
    /** true: nothing is written; the answer is the preview. */
    dryRun: z.boolean(),
    /** What the preview counted; when it is another number by now, 409 and nothing is written. */
    expectedCount: Count.optional(),
  })
  .meta({ id: 'BulkRequest' });

export const BulkResult = z
  .object({
    dryRun: z.boolean(),
    /** Accounts that are, or would be, changed. */
    count: Count,
    /**
     * The first 100 of them, and among these first those that `stayingExpired` and `shortened` count. `before` and
     * `after` are what the action changes, with `set-limits` every limit; a deletion's `after` is null.
     */
    changes: z.array(
      z.object({
        id: Guid,
        username: z.string(),
        before: z.record(z.string(), z.unknown()),
        after: z.record(z.string(), z.unknown()).nullable(),
      }),
    ),
    skippedCount: Count,
    /** The first 1,000 of them. */
    skipped: z.array(SkippedAccount),
    /** Live sessions that end with it. */
    sessionsEnded: Count,
    /** Heartbeat entries that go with deleted accounts. */
    heartbeatsRemoved: Count,
    /** Accounts that get another expiry and are expired all the same. */
    stayingExpired: Count,
    /** Accounts that expire earlier than before, or at all where they never did. */
    shortened: Count,
  })
  .meta({ id: 'BulkResult' });

const tag = 'Accounts';
export const manyAccountRoutes = [
  route({
    method: 'POST',
    path: '/api/v1/accounts/batch',
    operationId: 'createAccounts',
    summary: 'Creates many accounts from a pattern or a list, or previews it.',
    tag,
    access: 'accounts:write',
    request: { body: NewAccounts },
    responses: { 200: { description: 'What was created and what was skipped.', schema: NewAccountsResult } },
  }),
  route({
    method: 'POST',
    path: '/api/v1/accounts/bulk',
    operationId: 'changeAccounts',
    summary: 'Enables, disables, deletes, extends or limits many accounts at once, or previews it.',
    tag,
    access: 'accounts:write',
    request: { body: BulkRequest },
    responses: { 200: { description: 'What was changed and what was skipped.', schema: BulkResult } },
    problems: [409],
  }),
];
