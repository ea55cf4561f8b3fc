// The channels of notices as cards of the form: what each needs to send, who gets notices by it, and a test; and the fields of the form.
import { useState } from 'preact/hooks';
import type { NoticeChannel, NoticeSettings } from '../../../api-types.js';
import { call } from '../../../lib/api.js';
import type { Draft } from '../../../lib/draft.js';
import { t } from '../../../lib/i18n.js';
import { PermittedButton, State } from '../../../ui/basics.js';
import { useAction } from '../../../ui/dialog.js';
import { Checkbox, Field, InputField, Select } from '../../../ui/form.js';
import { Failure } from '../../../ui/states.js';
import { CHANNELS, type NoticeFields, noticeField, pathsOf, readFields } from './form.js';

const SECURITIES = ['tls', 'starttls', 'none'] as const;

export function ChannelCard({ channel, draft, saved }: Part & { readonly channel: NoticeChannel }) {
  const { values, set } = draft;
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
          .map((path) =>
            path === 'email.security' ? (
              <Field key={path} path={path} label={t('notices.security')}>
                <Select
                  value={values[path] ?? ''}
                  onInput={(security) => set({ [path]: security })}
                  options={SECURITIES.map((value) => ({ value, label: t(`notices.security.${value}`) }))}
                />
              </Field>
            ) : (
              <NoticeInput key={path} path={path} draft={draft} saved={saved} />
            ),
          )}
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

export interface Part {
  readonly draft: Draft<NoticeFields>;
  readonly saved: NoticeSettings;
}

/** A text, a number or a secret. What is stored of a secret is never shown, what is typed replaces it. */
export function NoticeInput({ path, draft: { values, set }, saved }: Part & { readonly path: string }) {
  const { label, hint, placeholder, read, wrong, isStored } = noticeField(path);
  const typed = values[path] ?? '';
  const isSaved = isStored?.(saved);
  const hintOf = () => isStored && t(isSaved ? 'notices.secretKept' : 'notices.secretNone');
  return (
    <InputField
      path={path}
      label={t(label)}
      hint={hint ? t(hint) : hintOf()}
      error={wrong && read(typed) === undefined ? wrong() : undefined}
      value={typed}
      onInput={(text) => set({ [path]: text })}
      placeholder={isSaved ? '••••••••' : (placeholder ?? '')}
      {...(isStored ? { type: 'password', autocomplete: 'new-password' } : {})}
    />
  );
}

export function NoticeFlag({
  path,
  draft: { values, set },
}: Pick<Part, 'draft'> & { readonly path: string }) {
  return (
    <Checkbox checked={values[path] === 'true'} onChange={(on) => set({ [path]: String(on) })}>
      {t(noticeField(path).label)}
    </Checkbox>
  );
}
