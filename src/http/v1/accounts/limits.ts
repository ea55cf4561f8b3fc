// /api/v1/accounts/{id}/limits, usage and contacts: the limits and the usage of an account, and whether notices go to the addresses of
// its player, which a code confirms.
import { z } from 'zod';
import { refused } from '../../../core/accounts/accounts.js';
import type { AccountLimits as Limits } from '../../../core/accounts/usage/limits.js';
import { CONFIRMED_CHANNELS, type SentCode } from '../../../core/notices/confirmations.js';
import { failure, invalid, type ProblemAnswer } from '../../api/problem.js';
import { type Answered, etagOf, matches, routesOf } from '../../api/route.js';
import { component } from '../../api/schemas.js';
import { actorOf } from '../../caller.js';
import { withoutUndefined } from '../../fields.js';
import type { Services } from '../../services.js';
import { AccountLimits, AccountLimitsChange, AccountUsage } from './field-schemas.js';
import { presentUsage } from './schemas.js';
import { NO_ACCOUNT, rightsProblem } from './shared.js';

const { route } = routesOf('Accounts');
const path = '/api/v1/accounts/{id}/limits';
const LimitsAndUsage = component('LimitsAndUsage', { limits: AccountLimits, usage: AccountUsage });

export const limitRoutes = [
  route(`GET ${path}`, 'getAccountLimits', 'accounts:read', {
    summary: 'Limits and usage of an account.',
    etag: true,
    success: [200, 'Limits and usage.', LimitsAndUsage],
    handle: async ({ params }, deps) => shown(deps, params.id),
  }),
  route(`PATCH ${path}`, 'changeAccountLimits', 'accounts:write', {
    summary: 'Changes the given limits; they apply to live sessions at once.',
    etag: true,
    request: { body: AccountLimitsChange },
    success: [200, 'Limits and usage as they are now.', LimitsAndUsage],
    async handle({ params: { id }, body, ifMatch, caller }, deps) {
      const { accounts } = deps;
      const present = accounts.get(id)?.account;
      if (!present) return NO_ACCOUNT;
      const wrong = rightsProblem(caller, { limits: body }, present);
      if (wrong) return wrong;
      const limits = withoutUndefined<Partial<Limits>>(body);
      const changed = await accounts.patch(
        id,
        (stored) => (matches(ifMatch, etagOf(stored.limits)) ? { limits } : refused('changed-meanwhile')),
        actorOf(caller),
      );
      if (changed.ok) return shown(deps, id);
      if (changed.reason === 'changed-meanwhile') return CHANGED_MEANWHILE;
      return changed.reason === 'not-found' ? NO_ACCOUNT : invalid('body.egressClass', 'egress-class');
    },
  }),
  route('POST /api/v1/accounts/{id}/usage/reset', 'resetAccountUsage', 'accounts:write', {
    summary: 'Resets the usage of the quota period to zero; the daily history stays.',
    success: [200, 'Limits and usage as they are now.', LimitsAndUsage],
    async handle({ params: { id }, caller }, deps) {
      await deps.accounts.resetUsage([id], actorOf(caller));
      return shown(deps, id);
    },
  }),
];

const CHANGED_MEANWHILE: ProblemAnswer = failure('changed-meanwhile', 'limits-changed');

function shown({ accounts, usage }: Services, id: string): Answered | ProblemAnswer {
  const account = accounts.get(id)?.account;
  if (!account) return NO_ACCOUNT;
  const { limits } = account;
  const body = { limits, usage: presentUsage(usage.view(account)) };
  return { body, headers: { ETag: etagOf(limits) } };
}

const contacts = '/api/v1/accounts/{id}/contacts';

/** null: the account has no such address. */
const State = z.enum(['trusted', 'unconfirmed']).nullable();
const ContactStates = component('ContactStates', { email: State, telegram: State });
const Channel = z.enum(CONFIRMED_CHANNELS);

export const contactRoutes = [
  route(`GET ${contacts}`, 'getContactStates', 'accounts:read', {
    summary:
      'Whether notices go to the addresses of the player: to those of a seller’s account only once confirmed.',
    success: [200, 'The state of each address.', ContactStates],
    async handle({ params }, { accounts, confirmations }) {
      const account = accounts.get(params.id)?.account;
      return account ? { body: await confirmations.states(account) } : NO_ACCOUNT;
    },
  }),
  route(`POST ${contacts}/code`, 'sendContactCode', 'accounts:write', {
    summary: 'Sends a code to an address of the player, who tells it to the seller. It is valid for a day.',
    request: { body: z.object({ channel: Channel }) },
    success: [200, 'Whether the server of the channel took it.', z.object({ delivered: z.boolean() })],
    problems: [409, 429],
    async handle({ params, body }, { accounts, confirmations }) {
      const account = accounts.get(params.id)?.account;
      if (!account) return NO_ACCOUNT;
      const sent = await confirmations.send(account, body.channel);
      return sent.ok ? { body: { delivered: sent.delivered } } : REFUSALS[sent.reason];
    },
  }),
  route(`POST ${contacts}/confirm`, 'confirmContact', 'accounts:write', {
    summary:
      'Confirms an address of the player by the code that was sent there; 409 for a wrong or expired code.',
    request: { body: z.object({ channel: Channel, code: z.string().max(64) }) },
    success: [200, 'The states now.', ContactStates],
    problems: [409],
    async handle({ params, body }, { accounts, confirmations }) {
      const account = accounts.get(params.id)?.account;
      if (!account) return NO_ACCOUNT;
      if (!(await confirmations.confirm(account, body.channel, body.code))) return WRONG_CODE;
      return { body: await confirmations.states(account) };
    },
  }),
];

const WRONG_CODE: ProblemAnswer = failure('conflict', 'wrong-contact-code');

const REFUSALS: Readonly<Record<Exclude<SentCode, { ok: true }>['reason'], ProblemAnswer>> = {
  'channel-not-set': failure('conflict', 'no-player-channel'),
  'no-address': failure('conflict', 'no-player-channel'),
  'too-many-messages': failure('too-many-requests', 'too-many-messages'),
};
