// /api/v1/settings/notices: the times and channels of notices, and a test of each channel. Responses never contain secrets.
import { z } from 'zod';
import { isChatId, isMailAddress } from '../../../core/accounts/fields/contacts.js';
import { isHttpUrl } from '../../../core/addresses/endpoints.js';
import { HANDOVER_PLACEHOLDERS, HANDOVER_TEXT } from '../../../core/notices/handover.js';
import { CHANNELS, type NoticeChannel as Channel } from '../../../core/notices/notice.js';
import {
  LANGUAGES,
  NOTICE_DEFAULTS,
  type SavedNoticeSettings as SavedSettings,
  SECRETS,
  type NoticeSettings as Settings,
} from '../../../core/notices/notice-settings.js';
import { PLACEHOLDERS, PLAYER_TEXTS } from '../../../core/notices/texts.js';
import { isTimeZone } from '../../../core/time/time-zone.js';
import { failure, type ProblemAnswer } from '../../api/problem.js';
import { routesOf } from '../../api/route.js';
import { Count, component, fault, fieldError, templateWith } from '../../api/schemas.js';
import { NoticeChannel } from '../activity/notices.js';
import { settingRoutes } from './setting-routes.js';

const Url = z.string().max(2_000).refine(isHttpUrl, fault('url'));
const MailAddress = z.string().max(254).refine(isMailAddress, fault('mail-address'));
const ChatId = z.string().max(64).refine(isChatId, fault('chat-id'));
const SmtpHost = z.string().refine((host) => /^[A-Za-z0-9._:-]{1,253}$/.test(host), fault('server'));
const Language = z.enum(LANGUAGES);
const Template = templateWith(PLACEHOLDERS).nullable();
const TemplateTexts = z.object({ zh: Template, en: Template });
const HandoverText = templateWith(HANDOVER_PLACEHOLDERS).nullable();

const COMMON = {
  /** The language of texts to the operator, and to players without a language. */
  language: Language,
  /** IANA time zone of the dates in texts. */
  timeZone: z.string().max(64).refine(isTimeZone, fault('time-zone')),
  /** Days before the expiry; 0 is the expiry itself. */
  expiryDays: z.array(z.int().min(0).max(365)).max(8),
  quotaPercent: z.array(z.int().min(1).max(100)).max(8),
  /** The hour of the daily digest to the operator, by `timeZone`. */
  digestHour: z.int().min(0).max(23),
  /** Most attempts of one channel within a minute. */
  perMinute: z.int().min(1).max(600),
  historyDays: z.int().min(1).max(365),
  /** Notices also go to addresses of sellers’ players that nobody has confirmed. */
  trustSellers: z.boolean(),
  /** Texts to players that replace the built-in ones; null: the built-in text. */
  templates: z.object({ expiring: TemplateTexts, expired: TemplateTexts, quota: TemplateTexts }),
  /** The message with which an account is handed to its player; null: the built-in text. */
  handover: z.object({ zh: HandoverText, en: HandoverText }),
};

const receivers = { operator: z.boolean(), players: z.boolean() };
const email = {
  ...receivers,
  /** null: the daemon sends no e-mail. */
  host: SmtpHost.nullable(),
  port: z.int().min(1).max(65_535),
  security: z.enum(['tls', 'starttls', 'none']),
  user: z.string().min(1).max(255).nullable(),
  from: z.union([MailAddress, z.literal('')]),
  /** The operator's address. */
  to: MailAddress.nullable(),
};
const telegram = { ...receivers, baseUrl: Url, chatId: ChatId.nullable() };
const wecom = { operator: z.boolean(), baseUrl: Url };

const has = z.boolean();
const BuiltIn = z.object({ zh: z.string(), en: z.string() });
const SHOWN = {
  ...COMMON,
  email: z.object({ ...email, hasPassword: has }),
  telegram: z.object({ ...telegram, hasToken: has }),
  wecom: z.object({ ...wecom, hasKey: has }),
};
const NoticeSettings = component('NoticeSettings', {
  ...SHOWN,
  /** The built-in texts to players, and the settings before anybody sets others. */
  builtIn: z.object({
    expiring: BuiltIn,
    expired: BuiltIn,
    quota: BuiltIn,
    handover: BuiltIn,
    settings: z.object(SHOWN),
  }),
});

/** Left out: keeps the secret, while its destination stays unchanged. null: removes the secret. */
const SecretIn = z.string().min(1).max(1_000).nullable().optional();
const CHANNEL_CHANGES = {
  email: z.object({ ...email, password: SecretIn }),
  /** `123456:ABC-DEF…`: the form of BotFather's tokens. */
  telegram: z.object({
    ...telegram,
    token: z
      .string()
      .regex(/^[\w:-]{1,255}$/)
      .nullable()
      .optional(),
  }),
  wecom: z.object({
    ...wecom,
    key: z
      .string()
      .regex(/^[\w-]{1,255}$/)
      .nullable()
      .optional(),
  }),
};
const NoticeSettingsChange = component('NoticeSettingsChange', {
  ...COMMON,
  /** Left out: stays as it is. */
  digestHour: COMMON.digestHour.optional(),
  trustSellers: COMMON.trustSellers.optional(),
  handover: COMMON.handover.optional(),
  ...CHANNEL_CHANGES,
});

const Reach = component('NoticeReach', {
  /** Number of channels that send the daily digest to the operator. */
  digests: Count,
  /** Number of addresses of players that get reminders. */
  players: Count,
  /** Number of messages to players about an expiry within the next 24 hours. */
  nextDay: Count,
});
const Preview = component('NoticePreview', {
  /** With the saved settings. */
  before: Reach,
  after: Reach,
  /** Number of waiting messages that are discarded, because their channel is switched off. */
  discarded: Count,
});

const NoticeTest = component('NoticeTest', {
  channel: NoticeChannel,
  ...z.object(CHANNEL_CHANGES).partial().shape,
});

export const TestResult = component('NoticeTestResult', {
  delivered: z.boolean(),
  /** The receiver's answer, or why the receiver could not be reached. */
  detail: z.string(),
});

const { route } = routesOf('Notices');
const path = '/api/v1/settings/notices';

export const noticeSettingRoutes = [
  ...settingRoutes({
    name: 'notices',
    tag: 'Notices',
    schema: NoticeSettings,
    body: NoticeSettingsChange,
    get: [
      'getNoticeSettings',
      'When notices are sent, and by which channels; without their secrets.',
      'The settings.',
    ],
    put: [
      'setNoticeSettings',
      'Saves when notices are sent, and by which channels. A secret that is left out stays.',
      'As saved.',
      // Whoever could remove the channels would keep the operator from being told.
      { needsConfirmation: true },
    ],
    present({ noticesSetting }) {
      const settings = noticesSetting.current();
      return { body: presented(settings), version: versionOf(settings) };
    },
    save: ({ body, by }, { noticesSetting }, otherVersion) =>
      noticesSetting.save(
        (stored) => ({ ...withSecrets(body, stored), revision: stored.revision }),
        by,
        (stored) => otherVersion(versionOf(stored)) ?? movedSecrets(body, stored),
      ),
  }),
  route(`POST ${path}/preview`, 'previewNoticeSettings', 'settings:write', {
    summary: 'Counts whom these settings would send messages to, and saves nothing.',
    request: { body: NoticeSettingsChange },
    success: [200, 'The counts.', Preview],
    async handle({ body }, { noticesSetting, previewNotices }) {
      const stored = noticesSetting.current();
      const refused = movedSecrets(body, stored);
      return refused ?? { body: await previewNotices(withSecrets(body, stored)) };
    },
  }),
  route(`POST ${path}/test`, 'testNotice', 'settings:write', {
    summary:
      'Sends a test message to the administrator, and returns the receiver’s answer; by the channel as the body has it, which need not be saved, or else as it is saved.',
    request: { body: NoticeTest },
    success: [200, 'The result.', TestResult],
    problems: [409],
    async handle({ body, ctx }, { noticesSetting, testNotice }) {
      const { channel } = body;
      const stored = noticesSetting.current();
      const typed = body[channel];
      const errors = typed ? movedSecret(channel, typed, stored) : [];
      if (errors.length > 0) return { problem: 'validation', errors };
      const settings = typed ? { ...stored, [channel]: withSecret(channel, typed, stored) } : stored;
      const disconnected = new AbortController();
      ctx.req.socket.once('close', () => disconnected.abort());
      const outcome = await testNotice(channel, settings, disconnected.signal);
      if (outcome === null) return failure('conflict', 'channel-not-set');
      return { body: { delivered: outcome.ok, detail: outcome.detail } };
    },
  }),
];

type SettingsChange = z.infer<typeof NoticeSettingsChange>;

/** A secret that the body omits, and whose destination changed, is an error: the operator must send it again. */
function movedSecrets(body: SettingsChange, before: Settings): ProblemAnswer | null {
  const errors = CHANNELS.flatMap((channel) => movedSecret(channel, body[channel], before));
  return errors.length > 0 ? { problem: 'validation', errors } : null;
}

function movedSecret(channel: Channel, typed: object, before: Settings) {
  const { field, sentTo } = SECRETS[channel];
  const [old, now] = [asFields(before[channel]), asFields(typed)];
  const isKept = now[field] === undefined && old[field] !== null;
  const isMoved = sentTo.some((name) => old[name] !== now[name]);
  return isKept && isMoved ? [fieldError(`body.${channel}.${field}`, 'secret-again')] : [];
}

/** Adds the secrets that the body omits. */
function withSecrets(body: SettingsChange, before: Settings): Settings {
  return {
    ...before,
    ...body,
    digestHour: body.digestHour ?? before.digestHour,
    trustSellers: body.trustSellers ?? before.trustSellers,
    handover: body.handover ?? before.handover,
    expiryDays: sortedUnique(body.expiryDays),
    quotaPercent: sortedUnique(body.quotaPercent).reverse(),
    ...(Object.fromEntries(
      CHANNELS.map((channel) => [channel, withSecret(channel, body[channel], before)]),
    ) as Pick<Settings, Channel>),
  };
}

function withSecret<Name extends Channel>(channel: Name, typed: object, before: Settings): Settings[Name] {
  const { field } = SECRETS[channel];
  const secret = asFields(typed)[field];
  return {
    ...typed,
    [field]: secret === undefined ? asFields(before[channel])[field] : secret,
  } as unknown as Settings[Name];
}

const asFields = (channel: object) => channel as Readonly<Record<string, unknown>>;
const sortedUnique = (numbers: readonly number[]) => [...new Set(numbers)].sort((a, b) => b - a);

/** What the ETag covers: also the secrets, of which a response shows nothing. */
const versionOf = (settings: SavedSettings) => ({ ...presented(settings), revision: settings.revision });

function presented({ revision: _, ...settings }: SavedSettings): z.infer<typeof NoticeSettings> {
  const builtIn = { ...PLAYER_TEXTS, handover: HANDOVER_TEXT, settings: withoutSecrets(NOTICE_DEFAULTS) };
  const body: unknown = { ...withoutSecrets(settings), builtIn };
  return body as z.infer<typeof NoticeSettings>;
}

function withoutSecrets(settings: Settings): object {
  const channels = CHANNELS.map((channel) => {
    const { field } = SECRETS[channel];
    const { [field]: secret, ...shown } = asFields(settings[channel]);
    return [channel, { ...shown, [`has${field.charAt(0).toUpperCase()}${field.slice(1)}`]: secret !== null }];
  });
  return { ...settings, ...Object.fromEntries(channels) };
}
