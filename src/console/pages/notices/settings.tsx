// The settings of notices: when, by which channels, with a test of each, and the texts to players.
import { useState } from 'preact/hooks';
import type { NoticeChannel, NoticePreview, NoticeSettings, NoticeSettingsChange } from '../../api-types.js';
import { useAction } from '../../lib/action.js';
import { call, callWithEtag, type Version } from '../../lib/api.js';
import { type Draft, useDraft } from '../../lib/draft.js';
import { t } from '../../lib/i18n.js';
import { useLoad } from '../../lib/load.js';
import { Card, PermittedButton, State } from '../../ui/basics.js';
import { Confirm } from '../../ui/dialog.js';
import {
  AreaField,
  Checkbox,
  InputField,
  optionsOf,
  SegmentsField,
  SelectField,
  Word,
} from '../../ui/form.js';
import { SettingsForm } from '../../ui/settings-form.js';
import { Failure, WhenLoaded } from '../../ui/states.js';
import { notify } from '../../ui/toast.js';
import { ConfigWords } from '../settings/config-words.js';
import {
  CHANNELS,
  exampleOf,
  fieldsOf,
  LANGUAGES,
  NOTICE_KEYS,
  type NoticeFields,
  noticeField,
  pathOfTemplate,
  pathsOf,
  readFields,
  TEMPLATES,
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
  put: (version: Version<NoticeSettings>) => void;
}) {
  const draft = useDraft(fieldsOf(saved));
  const isValid = readFields(draft.values) !== undefined;
  const [asked, setAsked] = useState<Asked | null>(null);
  const send = async ({ body, etag }: Omit<Asked, 'counts'>) => {
    put(await callWithEtag('setNoticeSettings', { body, etag }));
    notify(t('settings.saved'));
    draft.reset();
  };
  const save = async () => {
    // Reads the current values first, so that another user's changes to other fields stay.
    const now = await callWithEtag('getNoticeSettings');
    const body = readFields({ ...fieldsOf(now.answer), ...(draft.changes as NoticeFields) });
    if (!body) return;
    const counts = await call('previewNoticeSettings', { body });
    const { before, after, discarded } = counts;
    const isQuiet = JSON.stringify(before) === JSON.stringify(after) && discarded === 0;
    if (isQuiet) await send({ body, etag: now.etag });
    else setAsked({ body, etag: now.etag, counts });
  };
  return (
    <ConfigWords keys={NOTICE_KEYS} standards={fieldsOf(saved.builtIn.settings as NoticeSettings)}>
      <SettingsForm draft={draft} right="setNoticeSettings" isValid={isValid} save={save} look="stack narrow">
        <Common draft={draft} saved={saved} />
        {CHANNEL_ORDER.map((channel) => (
          <ChannelCard key={channel} channel={channel} draft={draft} saved={saved} />
        ))}
        <TemplateFields draft={draft} saved={saved} />
      </SettingsForm>
      {asked && (
        <Confirm
          title={t('notices.save.title')}
          action={t('settings.save')}
          act={() => send(asked)}
          onClose={() => setAsked(null)}
        >
          <Counts {...asked.counts} />
        </Confirm>
      )}
    </ConfigWords>
  );
}

const CHANNEL_ORDER = ['email', 'telegram', 'wecom'] as const;

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

function Common({ draft, saved }: Part) {
  const { control } = draft;
  const input = (path: string) => <NoticeInput path={path} draft={draft} saved={saved} />;
  return (
    <Card title={t('notices.when')} look="stack">
      <p class="soft">{t('notices.text')}</p>
      <div class="grid-2">
        {input('expiryDays')}
        {input('quotaPercent')}
        <SegmentsField
          path="language"
          label={t('notices.language')}
          {...control('language')}
          options={LANGUAGES.map((value) => ({ value, label: t(`contacts.language.${value}`) }))}
        />
        {input('timeZone')}
        {input('digestHour')}
        {input('perMinute')}
        {input('historyDays')}
      </div>
      <NoticeFlag path="trustSellers" draft={draft} />
    </Card>
  );
}

function TemplateFields({ draft: { values, set }, saved: { builtIn } }: Part) {
  return (
    <Card title={t('notices.templates')} look="stack">
      <p class="soft">
        {t('notices.templates.text', {
          allowed: '{username} {expires} {left} {used} {traffic}',
          handover: '{address} {username} {password} {expires} {plan} {link}',
        })}
      </p>
      {TEMPLATES.map((name) => (
        <div key={name} class="grid-2">
          {LANGUAGES.map((language) => {
            const path = pathOfTemplate(name, language);
            const typed = values[path] ?? '';
            return (
              <AreaField
                path={path}
                key={language}
                label={`${t(`notices.template.${name}`)} · ${t(`contacts.language.${language}`)}`}
                hint={t('notices.example', { text: exampleOf(typed || builtIn[name][language], language) })}
                rows={name === 'handover' ? 8 : 3}
                value={typed}
                placeholder={builtIn[name][language]}
                onInput={(text) => set({ [path]: text })}
              />
            );
          })}
        </div>
      ))}
    </Card>
  );
}

function ChannelCard({ channel, draft, saved }: Part & { readonly channel: NoticeChannel }) {
  const { values } = draft;
  const [tested, setTested] = useState<{ delivered: boolean; detail: string; typed: string } | null>(null);
  const { busy, error, run } = useAction();
  const fields = readFields(values, pathsOf(channel))?.[channel];
  const typed = JSON.stringify(fields);
  const isReady = CHANNELS[channel].needs.every(
    (path) => values[path]?.trim() !== '' || noticeField(path).isStored?.(saved),
  );
  const test = () =>
    run(async () => {
      setTested(null);
      setTested({ ...(await call('testNotice', { body: { channel, [channel]: fields } })), typed });
    });
  const isFlag = (path: string) => /\.(operator|players)$/.test(path);
  return (
    <section class="card stack" data-channel={channel}>
      <h2>{t(`notices.channel.${channel}`)}</h2>
      {channel !== 'email' && <p class="soft">{t(`notices.${channel}.text`)}</p>}
      <div class="grid-2">
        {pathsOf(channel)
          .filter((path) => !isFlag(path))
          .map((path) => (
            <NoticeInput key={path} path={path} draft={draft} saved={saved} />
          ))}
      </div>
      <div class="row">
        {pathsOf(channel)
          .filter(isFlag)
          .map((path) => (
            <NoticeFlag key={path} path={path} draft={draft} />
          ))}
      </div>
      <div class="row">
        <PermittedButton to="testNotice" onClick={() => void test()} disabled={!isReady || !fields || busy}>
          {t('notices.test')}
        </PermittedButton>
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

interface Part {
  readonly draft: Draft<NoticeFields>;
  readonly saved: NoticeSettings;
}

/** A text, a number or a secret. What is stored of a secret is never shown, what is typed replaces it. */
function NoticeInput({ path, draft: { values, set }, saved }: Part & { readonly path: string }) {
  const { label, hint, placeholder = '', read, wrong, isStored, options } = noticeField(path);
  const typed = values[path] ?? '';
  const isSaved = isStored?.(saved);
  const hintOf = () => isStored && t(isSaved ? 'notices.secretKept' : 'notices.secretNone');
  const field = {
    path,
    label: t(label),
    hint: hint ? t(hint) : hintOf(),
    value: typed,
    error: wrong && read(typed) === undefined ? wrong() : undefined,
    onInput: (text: string) => set({ [path]: text }),
  };
  if (options) return <SelectField {...field} options={options()} />;
  return (
    <InputField
      {...field}
      placeholder={isSaved ? '••••••••' : placeholder}
      {...(isStored ? { type: 'password', autocomplete: 'new-password' } : {})}
    />
  );
}

const FLAGS = () => optionsOf(['true', 'false'], (value) => t(value === 'true' ? 'audit.on' : 'audit.off'));

function NoticeFlag({ path, draft: { values, set } }: Pick<Part, 'draft'> & { readonly path: string }) {
  return (
    <Checkbox checked={values[path] === 'true'} onChange={(on) => set({ [path]: String(on) })}>
      {t(noticeField(path).label)}
      <Word of={[path]} options={FLAGS()} />
    </Checkbox>
  );
}
