// /api/v1/accounts/{id}/contacts: whether notices go to the addresses of an account's player, and their confirmation by a code.
import { z } from 'zod';
import { CONFIRMED_CHANNELS, type SentCode } from '../../../core/notices/confirmations.js';
import { failure, type ProblemAnswer } from '../../api/problem.js';
import { routesOf } from '../../api/route.js';
import { NO_ACCOUNT } from './shared.js';

/** null: the account has no such address. */
const State = z.enum(['trusted', 'unconfirmed']).nullable();
const ContactStates = z.object({ email: State, telegram: State }).meta({ id: 'ContactStates' });
const Channel = z.enum(CONFIRMED_CHANNELS);

const { route } = routesOf('Accounts');
const path = '/api/v1/accounts/{id}/contacts';

export const contactRoutes = [
  route(`GET ${path}`, 'getContactStates', 'accounts:read', {
    summary:
      'Whether notices go to the addresses of the player: to those of a seller’s account only once confirmed.',
    success: [200, 'The state of each address.', ContactStates],
    async handle({ params }, { accounts, confirmations }) {
      const account = accounts.get(params.id)?.account;
      return account ? { body: await confirmations.states(account) } : NO_ACCOUNT;
    },
  }),
  route(`POST ${path}/code`, 'sendContactCode', 'accounts:write', {
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
  route(`POST ${path}/confirm`, 'confirmContact', 'accounts:write', {
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
