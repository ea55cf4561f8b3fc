// The settings of notices: when, by which channels, and the texts to players.
import { useState } from 'preact/hooks';
import type { NoticePreview, NoticeSettings, NoticeSettingsChange } from '../../../api-types.js';
import { call, callWithEtag } from '../../../lib/api.js';
import { type Draft, useDraft } from '../../../lib/draft.js';
import { t } from '../../../lib/i18n.js';
import { useLoad } from '../../../lib/load.js';
import { Confirm, useAction } from '../../../ui/dialog.js';
import { Area, Checkbox, Field, Segments, Select } from '../../../ui/form.js';
import { SettingsForm } from '../../../ui/settings-form.js';
import { WhenLoaded } from '../../../ui/states.js';
import { notify } from '../../../ui/toast.js';
import { EmailFields, TelegramFields, WebhookFields, WecomFields } from './channels.js';
import { NoticeText } from './fields.js';
import {
  exampleOf,
  fieldsOf,
  type NoticeFields,
  readFields,
  readNumbers,
  readWhole,
  TEMPLATES,
  withChanges,
} from './form.js';

export function NoticeSettingsPage() {
  const saved = useLoad('getNoticeSettings', {}, { topics: ['settings'] });
  return (
    <WhenLoaded of={saved} rows={12} keeps>
      {(data) => <NoticesForm saved={data} put={saved.put} />}
    </WhenLoaded>
  );
}

function NoticesForm({
  saved,
  put,
}: {
  saved: NoticeSettings;
  put: (saved: NoticeSettings, etag: string | null) => void;
}) {
  const draft = useDraft(fieldsOf(saved));
  const work = useAction();
  const isValid = readFields(draft.values) !== undefined;
  const [asked, setAsked] = useState<Asked | null>(null);
  const send = async ({ body, etag }: Omit<Asked, 'counts'>) => {
    const sent = await callWithEtag('setNoticeSettings', { body, etag });
    notify(t('settings.saved'));
    put(sent.answer, sent.etag);
    draft.reset();
  };
  const save = async () => {
    // Reads the current values first, so that another user's changes to other fields stay.
    const now = await callWithEtag('getNoticeSettings');
    const body = readFields(withChanges(fieldsOf(now.answer), draft));
    if (!body) return;
    const counts = await call('previewNoticeSettings', { body });
    const { before, after, discarded } = counts;
    const isQuiet = JSON.stringify(before) === JSON.stringify(after) && discarded === 0;
    if (isQuiet) await send({ body, etag: now.etag });
    else setAsked({ body, etag: now.etag, counts });
  };
  return (
    <>
      <SettingsForm
        draft={draft}
        work={work}
        right="setNoticeSettings"
        isValid={isValid}
        save={save}
        look="stack narrow"
      >
        <Common draft={draft} />
        <EmailFields draft={draft} saved={saved} />
        <TelegramFields draft={draft} saved={saved} />
        <WecomFields draft={draft} saved={saved} />
        <WebhookFields draft={draft} saved={saved} />
        <TemplateFields draft={draft} saved={saved} />
      </SettingsForm>
      {asked && (
        <Confirm
          title={t('notices.save.title')}
          action={t('notices.save')}
          act={() => send(asked)}
          onClose={() => setAsked(null)}
        >
          <Counts {...asked.counts} />
        </Confirm>
      )}
    </>
  );
}

/** What the operator is asked before it is saved, because it changes whom messages are sent to. */
interface Asked {
  readonly body: NoticeSettingsChange;
  readonly etag: string | null;
  readonly counts: NoticePreview;
}

function Counts({ after: { digests, players, nextDay }, discarded }: NoticePreview) {
  return (
    <ul>
      {digests > 0 && <li>{t('notices.save.digests', { n: digests })}</li>}
      <li>
        {players > 0 ? t('notices.save.players', { n: players, soon: nextDay }) : t('notices.save.noPlayers')}
      </li>
      <li>{t('notices.save.new')}</li>
      {discarded > 0 && <li>{t('notices.save.discarded', { n: discarded })}</li>}
    </ul>
  );
}

const HOURS = Array.from({ length: 24 }, (_, hour) => ({
  value: String(hour),
  label: `${String(hour).padStart(2, '0')}:00`,
}));

function Common({ draft }: { draft: Draft<NoticeFields> }) {
  const { values, set } = draft;
  const numbers = (name: 'expiryDays' | 'quotaPercent', min: number, max: number) => (
    <NoticeText
      draft={draft}
      name={name}
      label={t(`notices.${name}`)}
      hint={t(`notices.${name}.hint`)}
      error={readNumbers(values[name], min, max) ? undefined : t('notices.numbersWrong', { min, max })}
    />
  );
  const whole = (name: 'perMinute' | 'historyDays', max: number) => (
    <NoticeText
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
        <NoticeText
          draft={draft}
          name="timeZone"
          label={t('notices.timeZone')}
          placeholder={Intl.DateTimeFormat().resolvedOptions().timeZone}
        />
        <Field path="digestHour" label={t('notices.digestHour')} hint={t('notices.digestHour.hint')}>
          <Select value={values.digestHour} onChange={(digestHour) => set({ digestHour })} options={HOURS} />
        </Field>
        {whole('perMinute', 600)}
        {whole('historyDays', 365)}
      </div>
      <Checkbox checked={values.trustSellers} onChange={(trustSellers) => set({ trustSellers })}>
        {t('notices.trustSellers')}
      </Checkbox>
    </section>
  );
}

function TemplateFields({
  draft,
  saved: { builtIn },
}: {
  draft: Draft<NoticeFields>;
  saved: NoticeSettings;
}) {
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
              path={`templates.${name}.${language}`}
              key={language}
              label={`${t(`notices.template.${name}`)} · ${t(`contacts.language.${language}`)}`}
              hint={t('notices.example', {
                text: exampleOf(templates[name][language] || builtIn[name][language], language),
              })}
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
