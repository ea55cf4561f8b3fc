// The settings of notices: when, by which channels, and the texts to players.
import type { NoticeSettings } from '../api-types.js';
import { callWithEtag } from '../lib/api.js';
import { type Draft, useDraft } from '../lib/draft.js';
import { t } from '../lib/i18n.js';
import { useLoad } from '../lib/load.js';
import { Button } from '../ui/basics.js';
import { useAction } from '../ui/dialog.js';
import { Area, Field, Segments } from '../ui/form.js';
import { Permitted } from '../ui/permitted.js';
import { Failure, FormErrors, Skeleton } from '../ui/states.js';
import { notify } from '../ui/toast.js';
import { EmailFields, TelegramFields, WebhookFields, WecomFields } from './notice-channels.js';
import { NoticeText } from './notice-fields.js';
import {
  exampleOf,
  fieldsOf,
  type NoticeFields,
  readFields,
  readNumbers,
  readWhole,
  TEMPLATES,
  withChanges,
} from './notice-form.js';

export function NoticeSettingsPage() {
  const saved = useLoad('getNoticeSettings', {}, { topics: ['settings'] });
  if (!saved.data)
    return saved.error ? <Failure error={saved.error} retry={saved.reload} /> : <Skeleton rows={12} />;
  return <SettingsForm saved={saved.data} put={saved.put} />;
}

function SettingsForm({
  saved,
  put,
}: {
  saved: NoticeSettings;
  put: (saved: NoticeSettings, etag: string | null) => void;
}) {
  const draft = useDraft(fieldsOf(saved));
  const { busy, error, run } = useAction();
  const isValid = readFields(draft.values) !== undefined;
  const save = () =>
    run(async () => {
      // Reads the current values first, so that another user's changes to other fields stay.
      const now = await callWithEtag('getNoticeSettings');
      const body = readFields(withChanges(fieldsOf(now.answer), draft));
      if (!body) return;
      const sent = await callWithEtag('setNoticeSettings', { body, etag: now.etag });
      notify(t('settings.saved'));
      put(sent.answer, sent.etag);
      draft.reset();
    });
  return (
    <form
      class="stack narrow"
      onSubmit={(event) => {
        event.preventDefault();
        if (draft.isDirty && isValid) void save();
      }}
    >
      <FormErrors error={error}>
        <Common draft={draft} />
        <EmailFields draft={draft} saved={saved} />
        <TelegramFields draft={draft} saved={saved} />
        <WecomFields draft={draft} saved={saved} />
        <WebhookFields draft={draft} saved={saved} />
        <TemplateFields draft={draft} saved={saved} />
      </FormErrors>
      <div class="row">
        <Permitted to="setNoticeSettings">
          <Button type="submit" kind="primary" disabled={!draft.isDirty || !isValid || busy}>
            {t('settings.save')}
          </Button>
        </Permitted>
        {draft.isDirty && <Button onClick={draft.reset}>{t('settings.undo')}</Button>}
      </div>
    </form>
  );
}

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
        {whole('perMinute', 600)}
        {whole('historyDays', 365)}
      </div>
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
