// What an account may use at most, and what it has used. Every limit is optional; null is "no limit".
import { z } from 'zod';
import { Bytes, Count, IdParams, route, Time } from './common.js';

export const AccountLimits = z
  .object({
    maxSessions: z.int().min(1).nullable(),
    /** Different client addresses at the same time. */
    maxClientAddresses: z.int().min(1).nullable(),
    /** Client to destination, shared fairly by the account's sessions. */
    bytesPerSecondUp: z.int().min(1).nullable(),
    bytesPerSecondDown: z.int().min(1).nullable(),
    /** Up and down together, within one `quotaPeriod`. */
    quotaBytes: z.int().min(1).nullable(),
    quotaPeriod: z.enum(['day', 'week', 'month', 'never']),
    /** Name of an egress class of the configuration; null: the default one. */
    egressClass: z.string().min(1).max(64).nullable(),
  })
  .meta({ id: 'AccountLimits' });

/** What is left out stays as it is. */
export const AccountLimitsChange = AccountLimits.partial().meta({ id: 'AccountLimitsChange' });

export const AccountUsage = z
  .object({
    sessions: Count,
    clientAddresses: Count,
    /** Up and down since `periodStartedAt`. */
    periodBytes: Bytes,
    periodStartedAt: Time.nullable(),
    /** When the quota starts again; null when it never does. */
    periodEndsAt: Time.nullable(),
    /** Since the account exists; a reset does not erase it. */
    totalBytesUp: Bytes,
    totalBytesDown: Bytes,
  })
  .meta({ id: 'AccountUsage' });

const LimitsAndUsage = z
  .object({ limits: AccountLimits, usage: AccountUsage })
  .meta({ id: 'LimitsAndUsage' });

const tag = 'Accounts';
const path = '/api/v1/accounts/{id}/limits';
export const limitRoutes = [
  route({
    method: 'GET',
    path,
    operationId: 'getAccountLimits',
    summary: 'Limits of an account and what it has used of them.',
    tag,
    access: 'accounts:read',
    etag: true,
    request: { params: IdParams },
    responses: { 200: { description: 'Limits and usage.', schema: LimitsAndUsage } },
    problems: [404],
  }),
  route({
    method: 'PATCH',
    path,
    operationId: 'changeAccountLimits',
    summary: 'Changes the limits given; they hold for live sessions at once.',
    tag,
    access: 'accounts:write',
    etag: true,
    request: { params: IdParams, body: AccountLimitsChange },
    responses: { 200: { description: 'Limits and usage as they are now.', schema: LimitsAndUsage } },
    problems: [404, 412],
  }),
  route({
    method: 'POST',
    path: '/api/v1/accounts/{id}/usage/reset',
    operationId: 'resetAccountUsage',
    summary: 'Starts the quota period again from nothing; the history per day stays.',
    tag,
    access: 'accounts:write',
    request: { params: IdParams },
    responses: { 200: { description: 'Limits and usage as they are now.', schema: LimitsAndUsage } },
    problems: [404],
  }),
];
