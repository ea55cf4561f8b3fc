// The settings of notices: when, by which channels, with a test of each.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { NoticeChannel, NoticeSettings } from '../api-types.js';
import { call, callWithEtag } from '../lib/api.js';
import { type Draft, useDraft } from '../lib/draft.js';
import { t } from '../lib/i18n.js';
import { useLoad } from '../lib/load.js';
import { Button, State } from '../ui/basics.js';
import { useAction } from '../ui/dialog.js';
import { Area, Checkbox, Field, Input, Segments, Select } from '../ui/form.js';
import { Failure, Skeleton } from '../ui/states.js';
import { notify } from '../ui/toast.js';
import {
  fieldsOf,
  isChannelChanged,
  type NoticeFields,
  readFields,
  readNumbers,
  readWhole,
  TEMPLATES,
} from './notice-form.js';

export function NoticeSettingsPage() {
  const saved = useLoad('getNoticeSettings', {}, { topics: ['settings'] });
  if (!saved.data)
    return saved.error ? <Failure error={saved.error} retry={saved.reload} /> : <Skeleton rows={12} />;
  return <SettingsForm saved={saved.data} etag={saved.etag} put={saved.put} />;
}

function SettingsForm({
  saved,
  etag,
  put,
}: {
  saved: NoticeSettings;
  etag: string | null;
  put: (saved: NoticeSettings, etag: string | null) => void;
}) {
  const draft = useDraft(fieldsOf(saved));
  const { busy, error, run } = useAction();
  const body = readFields(draft.values);
  const save = () =>
    run(async () => {
      if (!body) return;
      const sent = await callWithEtag('setNoticeSettings', { body, ...(etag === null ? {} : { etag }) });
      notify(t('settings.saved'));
      put(sent.answer, sent.etag);
      draft.reset();
    });
  return (
    <form
      class="stack narrow"
      onSubmit={(event) => {
        event.preventDefault();
        if (draft.isDirty) void save();
      }}
    >
      <Common draft={draft} />
      <EmailFields draft={draft} saved={saved} />
      <TelegramFields draft={draft} saved={saved} />
      <WecomFields draft={draft} saved={saved} />
      <WebhookFields draft={draft} saved={saved} />
      <TemplateFields draft={draft} saved={saved} />
      {error ? <Failure error={error} /> : null}
      <div class="row">
        <Button type="submit" kind="primary" disabled={!draft.isDirty || !body || busy}>
          {t('settings.save')}
        </Button>
        {draft.isDirty && <Button onClick={draft.reset}>{t('settings.undo')}</Button>}
      </div>
    </form>
  );
}

interface Part {
  readonly draft: Draft<NoticeFields>;
  readonly saved: NoticeSettings;
}

type TextName = { [K in keyof NoticeFields]: NoticeFields[K] extends string ? K : never }[keyof NoticeFields];

/** A text of the form. */
function TextField({
  draft,
  name,
  label,
  placeholder,
  error,
  hint,
}: {
  draft: Draft<NoticeFields>;
  name: Exclude<TextName, 'language' | 'security'>;
  label: string;
  placeholder?: string;
  error?: string | undefined;
  hint?: string;
}) {
  return (
    <Field label={label} error={error} hint={hint}>
      <Input
        value={draft.values[name]}
        onInput={(text) => draft.set({ [name]: text })}
        placeholder={placeholder ?? ''}
        wrong={error !== undefined}
      />
    </Field>
  );
}

/** A secret: what is saved is never shown, what is typed replaces it. */
function SecretField({
  draft,
  name,
  label,
  isSaved,
}: {
  draft: Draft<NoticeFields>;
  name: 'secret' | 'password' | 'token' | 'key';
  label: string;
  isSaved: boolean;
}) {
  return (
    <Field label={label} hint={t(isSaved ? 'notices.secretKept' : 'notices.secretNone')}>
      <Input
        type="password"
        autocomplete="new-password"
        value={draft.values[name]}
        onInput={(text) => draft.set({ [name]: text })}
        placeholder={isSaved ? '••••••••' : ''}
      />
    </Field>
  );
}

function Common({ draft }: { draft: Draft<NoticeFields> }) {
  const { values, set } = draft;
  const numbers = (name: 'expiryDays' | 'quotaPercent', min: number, max: number) => (
    <TextField
      draft={draft}
      name={name}
      label={t(`notices.${name}`)}
      hint={t(`notices.${name}.hint`)}
      error={readNumbers(values[name], min, max) ? undefined : t('notices.numbersWrong', { min, max })}
    />
  );
  const whole = (name: 'perMinute' | 'historyDays', max: number) => (
    <TextField
      draft={draft}
      name={name}
      label={t(`notices.${name}`)}
      error={readWhole(values[name], max) ? undefined : t('retention.wrong', { max })}
    />
  );
  return (
    <section class="card stack">
      <h2>{t('notices.when')}</h2>
      <p class="soft">{t('notices.text')}</p>
      <div class="grid-2">
        {numbers('expiryDays', 0, 365)}
        {numbers('quotaPercent', 1, 100)}
        <Field label={t('notices.language')}>
          <Segments
            value={values.language}
            label={t('notices.language')}
            onChange={(language) => set({ language })}
            options={[
              { value: 'zh', label: t('contacts.language.zh') },
              { value: 'en', label: t('contacts.language.en') },
            ]}
          />
        </Field>
        <TextField
          draft={draft}
          name="timeZone"
          label={t('notices.timeZone')}
          placeholder={Intl.DateTimeFormat().resolvedOptions().timeZone}
        />
        {whole('perMinute', 600)}
        {whole('historyDays', 365)}
      </div>
    </section>
  );
}

function ChannelCard({
  channel,
  text,
  draft,
  isReady,
  children,
}: {
  channel: NoticeChannel;
  text?: string;
  draft: Draft<NoticeFields>;
  /** Saved with all that a test needs. */
  isReady: boolean;
  children: ComponentChildren;
}) {
  const [result, setResult] = useState<{ delivered: boolean; detail: string } | null>(null);
  const { busy, error, run } = useAction();
  const isChanged = isChannelChanged(channel, draft.changes);
  const test = () =>
    run(async () => {
      setResult(null);
      setResult(await call('testNotice', { body: { channel } }));
    });
  return (
    <section class="card stack" data-channel={channel}>
      <h2>{t(`notices.channel.${channel}`)}</h2>
      {text && <p class="soft">{text}</p>}
      {children}
      <div class="row">
        <Button onClick={() => void test()} disabled={!isReady || isChanged || busy}>
          {t('notices.test')}
        </Button>
        {isChanged && <small class="soft">{t('notices.testFirst')}</small>}
        {result && !isChanged && (
          <span role="status" class="break">
            <State tone={result.delivered ? 'good' : 'bad'}>
              {t(result.delivered ? 'notices.testGood' : 'notices.testBad', { detail: result.detail })}
            </State>
          </span>
        )}
      </div>
      {error ? <Failure error={error} /> : null}
    </section>
  );
}

type FlagName = {
  [K in keyof NoticeFields]: NoticeFields[K] extends boolean ? K : never;
}[keyof NoticeFields];

function Receivers({ draft, names }: { draft: Draft<NoticeFields>; names: readonly FlagName[] }) {
  return (
    <div class="row">
      {names.map((name) => (
        <Checkbox key={name} checked={draft.values[name]} onChange={(on) => draft.set({ [name]: on })}>
          {t(name.endsWith('Players') ? 'notices.toPlayers' : 'notices.toOperator')}
        </Checkbox>
      ))}
    </div>
  );
}

function EmailFields({ draft, saved: { email } }: Part) {
  const { values, set } = draft;
  const isReady = email.host !== null && email.from !== '' && email.to !== null;
  return (
    <ChannelCard channel="email" draft={draft} isReady={isReady}>
      <div class="grid-2">
        <TextField draft={draft} name="host" label={t('notices.host')} placeholder="smtp.example.com" />
        <TextField
          draft={draft}
          name="port"
          label={t('notices.port')}
          error={readWhole(values.port, 65_535) ? undefined : t('retention.wrong', { max: 65_535 })}
        />
        <Field label={t('notices.security')}>
          <Select
            value={values.security}
            onChange={(security) => set({ security })}
            options={(['tls', 'starttls', 'none'] as const).map((value) => ({
              value,
              label: t(`notices.security.${value}`),
            }))}
          />
        </Field>
        <TextField draft={draft} name="user" label={t('notices.user')} />
        <SecretField
          draft={draft}
          name="password"
          label={t('notices.password')}
          isSaved={email.hasPassword}
        />
        <TextField draft={draft} name="from" label={t('notices.from')} placeholder="gate@example.com" />
        <TextField draft={draft} name="mailTo" label={t('notices.mailTo')} placeholder="me@example.com" />
      </div>
      <Receivers draft={draft} names={['emailOperator', 'emailPlayers']} />
    </ChannelCard>
  );
}

function TelegramFields({ draft, saved: { telegram } }: Part) {
  const isReady = telegram.hasToken && telegram.chatId !== null;
  return (
    <ChannelCard channel="telegram" text={t('notices.telegram.text')} draft={draft} isReady={isReady}>
      <div class="grid-2">
        <SecretField draft={draft} name="token" label={t('notices.token')} isSaved={telegram.hasToken} />
        <TextField draft={draft} name="chatId" label={t('notices.chatId')} placeholder="123456789" />
        <TextField
          draft={draft}
          name="telegramUrl"
          label={t('notices.baseUrl')}
          hint={t('notices.baseUrl.hint')}
        />
      </div>
      <Receivers draft={draft} names={['telegramOperator', 'telegramPlayers']} />
    </ChannelCard>
  );
}

function WecomFields({ draft, saved: { wecom } }: Part) {
  return (
    <ChannelCard channel="wecom" text={t('notices.wecom.text')} draft={draft} isReady={wecom.hasKey}>
      <div class="grid-2">
        <SecretField draft={draft} name="key" label={t('notices.key')} isSaved={wecom.hasKey} />
        <TextField
          draft={draft}
          name="wecomUrl"
          label={t('notices.baseUrl')}
          hint={t('notices.baseUrl.hint')}
        />
      </div>
      <Receivers draft={draft} names={['wecomOperator']} />
    </ChannelCard>
  );
}

function WebhookFields({ draft, saved: { webhook } }: Part) {
  return (
    <ChannelCard
      channel="webhook"
      text={t('notices.webhook.text')}
      draft={draft}
      isReady={webhook.url !== null}
    >
      <div class="grid-2">
        <TextField
          draft={draft}
          name="url"
          label={t('notices.url')}
          placeholder="https://example.com/notices"
        />
        <SecretField draft={draft} name="secret" label={t('notices.secret')} isSaved={webhook.hasSecret} />
      </div>
      <Receivers draft={draft} names={['webhookOperator']} />
    </ChannelCard>
  );
}

function TemplateFields({ draft, saved: { builtIn } }: Part) {
  const { values, set } = draft;
  const { templates } = values;
  return (
    <section class="card stack">
      <h2>{t('notices.templates')}</h2>
      <p class="soft">
        {t('notices.templates.text', { allowed: '{username} {expires} {left} {used} {traffic}' })}
      </p>
      {TEMPLATES.map((name) => (
        <div key={name} class="grid-2">
          {(['zh', 'en'] as const).map((language) => (
            <Field
              key={language}
              label={`${t(`notices.template.${name}`)} · ${t(`contacts.language.${language}`)}`}
            >
              <Area
                rows={3}
                value={templates[name][language]}
                placeholder={builtIn[name][language]}
                onInput={(text) =>
                  set({ templates: { ...templates, [name]: { ...templates[name], [language]: text } } })
                }
              />
            </Field>
          ))}
        </div>
      ))}
    </section>
  );
}
