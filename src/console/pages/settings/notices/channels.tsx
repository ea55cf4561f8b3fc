// The channels of notices as cards of the form: what each needs to send, who gets notices by it, and a test.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { NoticeChannel, NoticeSettings } from '../../../api-types.js';
import { call } from '../../../lib/api.js';
import type { Draft } from '../../../lib/draft.js';
import { t } from '../../../lib/i18n.js';
import { Button, State } from '../../../ui/basics.js';
import { useAction } from '../../../ui/dialog.js';
import { Field, Select } from '../../../ui/form.js';
import { Permitted } from '../../../ui/permitted.js';
import { Failure } from '../../../ui/states.js';
import { NoticeSecret, NoticeText, Receivers } from './fields.js';
import { type NoticeFields, readChannels, readWhole } from './form.js';

interface Part {
  readonly draft: Draft<NoticeFields>;
  readonly saved: NoticeSettings;
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
  /** Has all that a test needs. */
  isReady: boolean;
  children: ComponentChildren;
}) {
  const [tested, setTested] = useState<{ delivered: boolean; detail: string; typed: string } | null>(null);
  const { busy, error, run } = useAction();
  const fields = readChannels(draft.values)?.[channel];
  const typed = JSON.stringify(fields);
  const test = () =>
    run(async () => {
      setTested(null);
      setTested({ ...(await call('testNotice', { body: { channel, [channel]: fields } })), typed });
    });
  return (
    <section class="card stack" data-channel={channel}>
      <h2>{t(`notices.channel.${channel}`)}</h2>
      {text && <p class="soft">{text}</p>}
      {children}
      <div class="row">
        <Permitted to="testNotice">
          <Button onClick={() => void test()} disabled={!isReady || !fields || busy}>
            {t('notices.test')}
          </Button>
        </Permitted>
        {tested?.typed === typed && (
          <span role="status" class="break">
            <State tone={tested.delivered ? 'good' : 'bad'}>
              {t(tested.delivered ? 'notices.testGood' : 'notices.testBad', { detail: tested.detail })}
            </State>
          </span>
        )}
      </div>
      {error ? <Failure error={error} /> : null}
    </section>
  );
}

const hasSecret = (isSaved: boolean, typed: string) => isSaved || typed !== '';

export function EmailFields({ draft, saved: { email } }: Part) {
  const { values, set } = draft;
  const isReady = [values.host, values.from, values.mailTo].every((text) => text.trim() !== '');
  return (
    <ChannelCard channel="email" draft={draft} isReady={isReady}>
      <div class="grid-2">
        <NoticeText draft={draft} name="host" label={t('notices.host')} placeholder="smtp.example.com" />
        <NoticeText
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
        <NoticeText draft={draft} name="user" label={t('notices.user')} />
        <NoticeSecret
          draft={draft}
          name="password"
          label={t('notices.password')}
          isSaved={email.hasPassword}
        />
        <NoticeText draft={draft} name="from" label={t('notices.from')} placeholder="gate@example.com" />
        <NoticeText draft={draft} name="mailTo" label={t('notices.mailTo')} placeholder="me@example.com" />
      </div>
      <Receivers draft={draft} names={['emailOperator', 'emailPlayers']} />
    </ChannelCard>
  );
}

export function TelegramFields({ draft, saved: { telegram } }: Part) {
  const isReady = hasSecret(telegram.hasToken, draft.values.token) && draft.values.chatId.trim() !== '';
  return (
    <ChannelCard channel="telegram" text={t('notices.telegram.text')} draft={draft} isReady={isReady}>
      <div class="grid-2">
        <NoticeSecret draft={draft} name="token" label={t('notices.token')} isSaved={telegram.hasToken} />
        <NoticeText draft={draft} name="chatId" label={t('notices.chatId')} placeholder="123456789" />
        <NoticeText
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

export function WecomFields({ draft, saved: { wecom } }: Part) {
  return (
    <ChannelCard
      channel="wecom"
      text={t('notices.wecom.text')}
      draft={draft}
      isReady={hasSecret(wecom.hasKey, draft.values.key)}
    >
      <div class="grid-2">
        <NoticeSecret draft={draft} name="key" label={t('notices.key')} isSaved={wecom.hasKey} />
        <NoticeText
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

export function WebhookFields({ draft, saved: { webhook } }: Part) {
  return (
    <ChannelCard
      channel="webhook"
      text={t('notices.webhook.text')}
      draft={draft}
      isReady={draft.values.url.trim() !== ''}
    >
      <div class="grid-2">
        <NoticeText
          draft={draft}
          name="url"
          label={t('notices.url')}
          placeholder="https://example.com/notices"
        />
        <NoticeSecret draft={draft} name="secret" label={t('notices.secret')} isSaved={webhook.hasSecret} />
      </div>
      <Receivers draft={draft} names={['webhookOperator']} />
    </ChannelCard>
  );
}
