// /api/v1/accounts/{id}/contacts and handover: whether notices go to the addresses of its player, which a code confirms; and the message
// with which the account is handed to the player, which can be sent there.
import { z } from 'zod';
import { verifyPassword } from '../../../core/accounts/access/password.js';
import { secretsOf } from '../../../core/accounts/player/subscription.js';
import { formatHostPort } from '../../../core/addresses/ip.js';
import { CONFIRMED_CHANNELS, type Sent } from '../../../core/notices/confirmations.js';
import { handoverText } from '../../../core/notices/handover.js';
import { LANGUAGES } from '../../../core/notices/notice-settings.js';
import { failure, invalid, type ProblemAnswer } from '../../api/problem.js';
import { routesOf } from '../../api/route.js';
import { component } from '../../api/schemas.js';
import { playerOrigin, subscriptionUrl, tokenOfUrl } from '../../player/subscription.js';
import { linkAddressFor } from '../settings/players.js';
import { Password } from './field-schemas.js';
import { NO_ACCOUNT } from './shared.js';

const { route } = routesOf('Accounts');
const path = '/api/v1/accounts/{id}/contacts';

/** null: the account has no such address. */
const State = z.enum(['trusted', 'unconfirmed']).nullable();
const ContactStates = component('ContactStates', { email: State, telegram: State });
const Channel = z.enum(CONFIRMED_CHANNELS);

const HandoverMessage = component('HandoverMessage', {
  subject: z.string(),
  text: z.string(),
  language: z.enum(LANGUAGES),
  /** By which channels it can be sent. */
  channels: z.array(Channel),
  /** Whether the server of the channel took it; null: it was not sent. */
  delivered: z.boolean().nullable(),
});

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
      const sent = await confirmations.sendCode(account, body.channel);
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
  route('POST /api/v1/accounts/{id}/handover', 'handOver', 'accounts:write', {
    summary:
      'The message with which the account is handed to its player, and sends it if asked. The daemon stores neither password nor link: the caller gives those that it knows.',
    request: {
      body: component('Handover', {
        /** Left out: the language of the player. */
        language: z.enum(LANGUAGES).optional(),
        password: Password.optional(),
        link: z.string().max(2_048).optional(),
        /** Left out: sends nothing. Only to an address that is confirmed, or needs not be. */
        sendBy: Channel.optional(),
      }),
    },
    success: [200, 'The message.', HandoverMessage],
    problems: [409, 429],
    async handle({ params, body, ctx }, deps) {
      const account = deps.accounts.get(params.id)?.account;
      if (!account) return NO_ACCOUNT;
      const { password = null, link = null, sendBy } = body;
      const token = link === null ? null : tokenOfUrl(link);
      // Else a seller could send anything to players.
      if (password !== null && !verifyPassword(password, account.passwordHash))
        return invalid('body.password', 'account-password');
      if (link !== null && (token === null || secretsOf(token).hash !== account.link?.hash))
        return invalid('body.link', 'account-link');
      const { confirmations, noticesSetting, playerPage } = deps;
      const { host, port } = linkAddressFor(deps, ctx.hostname);
      const known = {
        address: formatHostPort(host, port),
        password,
        link: token === null ? null : subscriptionUrl(playerOrigin(playerPage, ctx), token),
      };
      const settings = noticesSetting.current();
      const language = body.language ?? account.contacts.language ?? settings.language;
      const message = handoverText(account, known, language, settings);
      const sent = sendBy ? await confirmations.sendHandover(account, sendBy, message) : null;
      if (sent && !sent.ok) return REFUSALS[sent.reason];
      const channels = await confirmations.handoverChannels(account);
      return { body: { ...message, language, channels, delivered: sent?.delivered ?? null } };
    },
  }),
];

const WRONG_CODE: ProblemAnswer = failure('conflict', 'wrong-contact-code');

const REFUSALS: Readonly<Record<Exclude<Sent, { ok: true }>['reason'], ProblemAnswer>> = {
  'channel-not-set': failure('conflict', 'no-player-channel'),
  'no-address': failure('conflict', 'no-player-channel'),
  unconfirmed: failure('conflict', 'contact-unconfirmed'),
  'too-many-messages': failure('too-many-requests', 'too-many-messages'),
};
