// Notices: their settings, and their history with recipients, answers of the receivers, and a button that sends a notice again. And
// that list, which events have too.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Notice, NoticeChannel, NoticeState } from '../../api-types.js';
import { useAction } from '../../lib/action.js';
import { call, may } from '../../lib/api.js';
import { t, textOf } from '../../lib/i18n.js';
import { useLoad } from '../../lib/load.js';
import { href, partsOf, usePlace } from '../../lib/router.js';
import { Ago, PermittedButton, State, type Tone } from '../../ui/basics.js';
import { AskButton, FormDialog } from '../../ui/dialog.js';
import { type Column, column, Lines } from '../../ui/list/columns.js';
import { FilterChips, List, type ListProps } from '../../ui/list/list.js';
import { Tabs } from '../../ui/menu.js';
import { PageHead } from '../../ui/page.js';
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
/** The daemon does not store their texts. */
const SENT_AT_ONCE = ['contact.code', 'account.handover'];

const TABS = { '': 'notices.history', settings: 'settings.reminders' } as const;

/** What was sent, and on the second tab when and by which channels. */
export function NoticesPage({ tab }: { tab: string | undefined }) {
  useFoundField();
  return (
    <>
      <PageHead title={t('settings.notices')}>
        {may('getNoticeSettings') && <Tabs of="notices" label={t('settings.notices')} tabs={TABS} />}
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
        state: stateIn(query),
        channel: CHANNELS.find((channel) => channel === query.get('channel')),
        ...partsOf(query, 'account', 'cursor'),
        limit: 100,
      },
    },
    { topics: ['notices'], everyMs: 10_000 },
  );
  const waiting = list.data?.waiting ?? 0;
  return (
    <SentList
      list={list}
      name={t('settings.notices')}
      retryBy="retryNotice"
      chips={
        <FilterChips name="channel" values={CHANNELS} text={(channel) => t(`notices.channel.${channel}`)} />
      }
      tools={waiting > 0 && <DiscardWaiting waiting={waiting} done={list.reload} />}
      empty={
        <Empty icon="search" title={t('notices.empty')}>
          <p>{t('notices.empty.text')}</p>
          <a class="button primary" href={href(['notices', 'settings'])}>
            {t('notices.setUp')}
          </a>
        </Empty>
      }
      to={[
        column<Notice>('channel', 'notices.channel', { width: 96, from: 620 }, (one) =>
          t(`notices.channel.${one.channel}`),
        ),
        column<Notice>('to', 'notices.to', { width: 88, from: 760 }, (one) =>
          t(`notices.to.${one.recipient}`),
        ),
      ]}
    />
  );
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

export const stateIn = (query: URLSearchParams) => STATES.find((state) => state === query.get('state'));

export type Sent = Omit<Notice, 'channel' | 'recipient'>;

export const SentState = ({ of: { state } }: { of: Sent }) => (
  <State tone={TONES[state]}>{t(`notices.state.${state}`)}</State>
);

interface SentListProps<T extends Sent>
  extends Omit<ListProps<{ readonly items: readonly T[]; readonly nextCursor: string | null }>, 'table'> {
  readonly name: string;
  readonly retryBy: 'retryNotice' | 'retryEventDelivery';
  /** The columns that say who got it; a phone shows the first one. */
  readonly to: readonly Column<T>[];
  /** More of one, which then opens; a button in its dialog sends it again. */
  readonly detail?: (one: T) => ComponentChildren;
}

/** What was sent, newest first. */
export function SentList<T extends Sent>({ name, retryBy, to, detail, chips, ...props }: SentListProps<T>) {
  const { error, run } = useAction();
  const [shown, show] = useState<T | null>(null);
  const sendAgain = async ({ id }: T) => {
    await call(retryBy, { params: { id } });
    notify(t('notices.retried'));
    props.list.reload();
    show(null);
  };
  const retry = (one: T) =>
    one.state === 'failed' &&
    !SENT_AT_ONCE.includes(one.type) && (
      <PermittedButton to={retryBy} kind="quiet" onClick={() => void run(() => sendAgain(one))}>
        {t('notices.retry')}
      </PermittedButton>
    );
  const table = { label: name, columns: columnsOf(to, retry), table: retryBy, id: ({ id }: T) => id };
  return (
    <List
      {...props}
      chips={
        <>
          <FilterChips name="state" values={STATES} text={(state) => t(`notices.state.${state}`)} />
          {chips}
        </>
      }
      table={detail ? { ...table, open: show } : table}
    >
      {error ? <Failure error={error} /> : null}
      {shown && (
        <FormDialog
          title={aboutText(shown.type, shown.data)}
          wide
          onClose={() => show(null)}
          action={t('notices.retry')}
          isReady={shown.state !== 'pending'}
          send={() => sendAgain(shown)}
        >
          {detail?.(shown)}
        </FormDialog>
      )}
    </List>
  );
}

function columnsOf<T extends Sent>(to: readonly Column<T>[], retry: Column<T>['cell']): Column<T>[] {
  const state = (one: T) => <SentState of={one} />;
  const sent = (one: T) => [to[0]?.cell(one), ' ', <Ago key="at" at={one.at} />];
  const onPhone = (one: T) => <Lines end of={[state(one), retry(one) || sent(one)]} />;
  const phone = { width: 148, align: 'end', cell: onPhone } as const;
  const aboutOnPhone = (one: T) => <div class="over-two-lines">{about(one)}</div>;
  return [
    column('state', 'account.state', { width: 104, phone }, state),
    column('about', 'notices.about', { phone: { isFirst: true, cell: aboutOnPhone } }, about),
    ...to,
    column('answer', 'notices.answer', { from: 900 }, (one) => (
      <span class={one.state === 'failed' ? 'bad-text' : 'soft'} title={one.detail ?? ''}>
        {one.detail ?? '—'}
      </span>
    )),
    column('tries', 'notices.tries', { width: 80, from: 1000, align: 'end' }, (one) => one.tries),
    column('at', 'notices.at', { width: 104, from: 520, align: 'end' }, (one) => <Ago at={one.at} />),
    column('retry', '', { width: 112 }, retry),
  ];
}

function about({ type, accountId, data }: Sent) {
  return (
    <a class="plain" {...(accountId !== null && { href: href(['accounts', accountId]) })}>
      {aboutText(type, data)}
    </a>
  );
}

const NAMES = ['username', 'client', 'agent', 'name', 'certificate', 'node'];

function aboutText(type: string, data: Sent['data']): string {
  const { sessions, expiring, expired, quota } = data;
  const name = String(NAMES.map((key) => data[key]).find((value) => value != null) ?? '');
  if (type === 'accounts.digest') {
    const n = [expiring, expired, quota].reduce((sum: number, part) => sum + Number(part ?? 0), 0);
    return t('notices.type.digest', { n });
  }
  const [, percent] = /^account\.quota-(\d+)$/.exec(type) ?? [];
  if (percent !== undefined) return t('notices.type.quota', { name, n: percent });
  const value = Array.isArray(sessions) ? t('overview.sessionCount', { n: sessions.length }) : name;
  return value === '' ? typeText(type) : t('audit.field', { field: typeText(type), value });
}

/** The types that are entries of the audit log have its texts. */
export const typeText = (type: string): string =>
  textOf(`notices.type.${type}`) ?? textOf(`audit.${type}`) ?? type;
