// The channels of notices as cards of the form: what each needs to send, who gets notices by it, and a test.
import { useState } from 'preact/hooks';
import type { NoticeChannel } from '../../../api-types.js';
import { call } from '../../../lib/api.js';
import { t } from '../../../lib/i18n.js';
import { State } from '../../../ui/basics.js';
import { useAction } from '../../../ui/dialog.js';
import { Field, Select } from '../../../ui/form.js';
import { PermittedButton } from '../../../ui/permitted.js';
import { Failure } from '../../../ui/states.js';
import { NoticeFlag, NoticeInput, type Part } from './fields.js';
import { CHANNELS, noticeField, pathsOf, readFields } from './form.js';

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
