// Notices: their settings, and their history with recipients, answers of the receivers, and a button that sends a notice again.
import type { Notice, NoticeChannel, NoticeState } from '../../api-types.js';
import { call, may } from '../../lib/api.js';
import { isTextKey, t } from '../../lib/i18n.js';
import { useLoad } from '../../lib/load.js';
import { href, partsOf, usePlace } from '../../lib/router.js';
import { Ago, PermittedButton, State, type Tone } from '../../ui/basics.js';
import { AskButton, useAction } from '../../ui/dialog.js';
import { type Column, column, Lines } from '../../ui/list/columns.js';
import { FilterChips, List, PageHead } from '../../ui/list/list.js';
import { Tabs } from '../../ui/menu.js';
import { Empty, Failure } from '../../ui/states.js';
import { notify } from '../../ui/toast.js';
import { useFoundField } from '../settings/find.js';
import { NoticeSettingsPage } from './settings.js';

const TONES: Readonly<Record<NoticeState, Tone>> = {
  pending: 'info',
  delivered: 'good',
  failed: 'bad',
  discarded: 'none',
};
const STATES = Object.keys(TONES) as NoticeState[];
const CHANNELS: readonly NoticeChannel[] = ['email', 'telegram', 'wecom'];

/** What was sent, and on the second tab when and by which channels. */
export function NoticesPage({ tab }: { tab: 'history' | 'settings' }) {
  useFoundField();
  const tabs = [
    { text: t('notices.history'), link: href(['notices']), current: tab === 'history' },
    { text: t('settings.reminders'), link: href(['notices', 'settings']), current: tab === 'settings' },
  ];
  return (
    <>
      <PageHead title={t('settings.notices')}>
        {may('getNoticeSettings') && <Tabs label={t('settings.notices')} tabs={tabs} />}
      </PageHead>
      {tab === 'settings' ? <NoticeSettingsPage /> : <NoticeHistory />}
    </>
  );
}

function NoticeHistory() {
  const { query } = usePlace();
  const list = useLoad(
    'listNotices',
    {
      query: {
        state: STATES.find((state) => state === query.get('state')),
        channel: CHANNELS.find((channel) => channel === query.get('channel')),
        ...partsOf(query, 'account', 'cursor'),
        limit: 100,
      },
    },
    { topics: ['notices'], everyMs: 10_000 },
  );
  const { error, run } = useAction();
  const retry = (one: Notice) =>
    run(async () => {
      await call('retryNotice', { params: { id: one.id } });
      notify(t('notices.retried'));
      list.reload();
    });
  const waiting = list.data?.waiting ?? 0;
  return (
    <List
      list={list}
      chips={
        <>
          <FilterChips name="state" values={STATES} text={(state) => t(`notices.state.${state}`)} />
          <FilterChips name="channel" values={CHANNELS} text={(channel) => t(`notices.channel.${channel}`)} />
        </>
      }
      tools={waiting > 0 && <DiscardWaiting waiting={waiting} done={list.reload} />}
      empty={() => (
        <Empty icon="search" title={t('notices.empty')}>
          <p>{t('notices.empty.text')}</p>
          <a class="button primary" href={href(['notices', 'settings'])}>
            {t('notices.setUp')}
          </a>
        </Empty>
      )}
      table={{
        label: t('settings.notices'),
        columns: columns((one) => void retry(one)),
        table: 'notices',
        id: (one) => one.id,
      }}
    >
      {error ? <Failure error={error} /> : null}
    </List>
  );
}

function columns(retry: (one: Notice) => void): readonly Column<Notice>[] {
  const onPhone = (one: Notice) => {
    const sent = [t(`notices.channel.${one.channel}`), ' ', <Ago key="at" at={one.at} />];
    return (
      <Lines end of={[state(one), one.state === 'failed' ? <Retry notice={one} retry={retry} /> : sent]} />
    );
  };
  const aboutOnPhone = (one: Notice) => (
    <div class="over-two-lines">
      <About notice={one} />
    </div>
  );
  const state = (one: Notice) => <State tone={TONES[one.state]}>{t(`notices.state.${one.state}`)}</State>;
  return [
    column(
      'state',
      'account.state',
      { width: 104, phone: { width: 148, align: 'end', cell: onPhone } },
      state,
    ),
    column('about', 'notices.about', { phone: { isFirst: true, cell: aboutOnPhone } }, (one) => (
      <About notice={one} />
    )),
    column('channel', 'notices.channel', { width: 96, from: 620 }, (one) =>
      t(`notices.channel.${one.channel}`),
    ),
    column('to', 'notices.to', { width: 88, from: 760 }, (one) => t(`notices.to.${one.recipient}`)),
    column('answer', 'notices.answer', { from: 900 }, (one) => (
      <span class={one.state === 'failed' ? 'bad-text' : 'soft'} title={one.detail ?? ''}>
        {one.detail ?? '—'}
      </span>
    )),
    column('tries', 'notices.tries', { width: 80, from: 1000, align: 'end' }, (one) => one.tries),
    column('at', 'notices.at', { width: 104, from: 520, align: 'end' }, (one) => <Ago at={one.at} />),
    column('retry', '', { width: 88 }, (one) => <Retry notice={one} retry={retry} />),
  ];
}

function DiscardWaiting({ waiting, done }: { waiting: number; done: () => void }) {
  const chosen = usePlace().query.get('channel');
  const discard = async () => {
    const channel = CHANNELS.find((each) => each === chosen);
    const { discarded } = await call('discardNotices', { body: channel ? { channel } : {} });
    notify(t('notices.discarded', { n: discarded }));
    done();
  };
  return (
    <AskButton
      right="discardNotices"
      text={t('notices.discard', { n: waiting })}
      title={t('notices.discard.title')}
      danger
      act={discard}
      question={t('notices.discard.text', { n: waiting })}
    />
  );
}

function Retry({ notice, retry }: { notice: Notice; retry: (one: Notice) => void }) {
  if (notice.state !== 'failed' || notice.type === 'contact.code') return null;
  return (
    <PermittedButton to="retryNotice" kind="quiet" onClick={() => retry(notice)}>
      {t('notices.retry')}
    </PermittedButton>
  );
}

const NAMES = ['username', 'client', 'agent', 'name', 'certificate', 'node'];

function About({ notice: { type, accountId, data } }: { notice: Notice }) {
  const name = String(NAMES.map((key) => data[key]).find((value) => value != null) ?? '');
  const counts = ['expiring', 'expired', 'quota'].map((part) => Number(data[part] ?? 0));
  const n = counts.reduce((sum, each) => sum + each, 0);
  const text = type === 'accounts.digest' ? t('notices.type.digest', { n }) : textOf(type, name);
  return accountId === null ? (
    <span>{text}</span>
  ) : (
    <a class="plain" href={href(['accounts', accountId])}>
      {text}
    </a>
  );
}

function textOf(type: string, name: string): string {
  const quota = /^account\.quota-(\d+)$/.exec(type);
  if (quota) return t('notices.type.quota', { name, n: quota[1] ?? '' });
  const own = `notices.type.${type}`;
  if (isTextKey(own)) return t(own, { name });
  // The other alerts are entries of the audit log.
  const key = `audit.${type}`;
  const text = isTextKey(key) ? t(key) : type;
  return name === '' ? text : t('audit.field', { field: text, value: name });
}
