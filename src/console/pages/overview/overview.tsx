// The overview: current use in tiles, who uses the line and who has to pay next, then the history in charts on one time axis. A
// seller's overview: its own accounts in tiles, its budget, who used most today, and who has to pay next.
import type { Overview, OverviewHistory, TrafficItem } from '../../api-types.js';
import { useMay, useUser } from '../../lib/api.js';
import { useCell } from '../../lib/cell.js';
import { bytes, count, dayBefore, hostPort, rate } from '../../lib/format.js';
import { type TextKey, t } from '../../lib/i18n.js';
import { liveOverview, useLoad } from '../../lib/load.js';
import { href, usePlace } from '../../lib/router.js';
import { Card, CopyButton, Permitted } from '../../ui/basics.js';
import { Chart, RangeChoice, rangeOf } from '../../ui/chart.js';
import { PageHead } from '../../ui/page.js';
import { SmallTable } from '../../ui/small-table.js';
import { Empty, Failure, WhenLoaded } from '../../ui/states.js';
import { OwnBudget } from '../accounts/fields/plans.js';
import { LinkNotice } from '../settings/public-address.js';
import {
  EVERY_MS,
  Expiring,
  type Tile,
  Tiles,
  TopAccounts,
  trafficOfDay,
  UsedToday,
  useAccounts,
  useExpiring,
} from './parts.js';

const HISTORY_EVERY_MS = 60_000;
/** Rows of the lists that lead; their height is reserved (`.leading`). */
const LEADING = 5;

export function OverviewPage() {
  return useMay('getOverview') ? <OverviewOfAll /> : <SellerOverview />;
}

function OverviewOfAll() {
  const first = useLoad('getOverview', {});
  const live = useCell(liveOverview);
  const who = useUser();
  const { query } = usePlace();
  const range = rangeOf(query.get('range'), 'hour');
  const history = useLoad('getOverviewHistory', { query: { range } }, { everyMs: HISTORY_EVERY_MS });
  const expiring = useExpiring(LEADING);
  const now = live ?? first.data;
  if (!now && first.error) return <Failure error={first.error} retry={first.reload} />;
  return (
    <>
      <PageHead title={t('nav.overview')}>
        <RangeChoice value={range} />
      </PageHead>
      {(now?.accounts.total ?? who?.accounts) === 0 && <FirstSteps />}
      {now ? (
        <NowTiles now={now} />
      ) : (
        <div class="tiles waiting" role="status" aria-label={t('state.loading')} />
      )}
      <div class="columns even leading">
        <TopAccounts>
          <UsedToday rows={now?.topAccounts.slice(0, LEADING)} />
        </TopAccounts>
        <Expiring of={expiring} />
      </div>
      {history.error && !history.data ? (
        <Failure error={history.error} retry={history.reload} />
      ) : (
        <Charts history={history.data} />
      )}
      {now && <TopGames now={now} />}
    </>
  );
}

function FirstSteps() {
  const who = useUser();
  const address = who ? hostPort(who.link) : '127.0.0.1:1080';
  const command = `curl -x socks5h://player:secret@${address} https://example.com/`;
  return (
    <Empty
      icon="accounts"
      title={t('first.title')}
      action={
        <>
          <Permitted to="createAccount">
            <a class="button primary" href={href(['accounts'], { new: 'one' })}>
              {t('accounts.new')}
            </a>
          </Permitted>
          <Permitted to="importAccounts">
            <a class="button" href={href(['accounts'], { new: 'import' })}>
              {t('accounts.import')}
            </a>
          </Permitted>
        </>
      }
    >
      <ol class="steps stack near">
        <li>{t('first.create')}</li>
        <li>
          {t('first.connect')}
          <div class="row">
            <code>{command}</code>
            <CopyButton text={command} />
          </div>
          <LinkNotice />
        </li>
        <li>{t('first.watch')}</li>
      </ol>
    </Empty>
  );
}

function NowTiles({ now: { accounts, today, runs, ...now } }: { now: Overview }) {
  const [sessions, logins, all] = [['sessions'], ['sessions', 'logins'], ['accounts']];
  const tiles: readonly Tile[] = [
    [
      'overview.players',
      [count(now.playersOnline), href(all, { online: 'true' })],
      [t('overview.ofAccounts', { n: accounts.total })],
    ],
    [
      'nav.sessions',
      [count(now.sessions), href(sessions)],
      [t('overview.heartbeatsPerMinute', { n: Math.round(now.heartbeatsPerMinute) })],
    ],
    ['traffic.down', [rate(now.bytesPerSecondDown)], [t('overview.today', { what: bytes(today.bytesDown) })]],
    ['traffic.up', [rate(now.bytesPerSecondUp)], [t('overview.today', { what: bytes(today.bytesUp) })]],
    [
      'overview.logins',
      [count(today.logins), href(logins)],
      [t('overview.failures', { n: today.failures }), href(logins, { failed: 'true' })],
    ],
    [
      'overview.expiring',
      [count(accounts.expiringIn7Days), href(all, { within: '7', sort: 'expiresAt' })],
      [t('overview.expired', { n: accounts.expired }), href(all, { expired: 'true' })],
    ],
    [
      'overview.runs',
      [count(runs.running + runs.queued), href(['agents'])],
      runs.failedToday > 0
        ? [t('overview.runsFailed', { n: runs.failedToday }), href(['agents'], { status: 'failed' })]
        : [t('overview.runsDone', { n: runs.succeededToday })],
    ],
  ];
  return <Tiles of={tiles} />;
}

type SeriesName = Exclude<keyof OverviewHistory, 'range' | 'stepSeconds' | 'at'>;
/** The title, how the values are shown, and the text of each series. */
type ChartOf = readonly [TextKey, (value: number) => string, Partial<Record<SeriesName, TextKey>>];
const CHARTS: readonly ChartOf[] = [
  ['chart.throughput', rate, { bytesPerSecondDown: 'traffic.down', bytesPerSecondUp: 'traffic.up' }],
  ['account.state.online', count, { sessions: 'nav.sessions', playersOnline: 'overview.players' }],
  ['chart.logins', count, { logins: 'login.outcome.success', failures: 'logins.failed' }],
  ['chart.heartbeats', count, { heartbeats: 'nav.heartbeats', runs: 'overview.runs' }],
];

/** Without a history, while it loads, the charts have the same frames and no data. */
function Charts({ history }: { history: OverviewHistory | undefined }) {
  return (
    <div class="columns charts">
      {CHARTS.map(([title, show, series]) => (
        <Chart
          key={title}
          {...(history ? { at: history.at } : {})}
          group="overview"
          title={t(title)}
          show={show}
          series={(Object.entries(series) as [SeriesName, TextKey][]).map(([name, label]) => ({
            label: t(label),
            values: history?.[name] ?? [],
            isBad: name === 'failures',
          }))}
        />
      ))}
    </div>
  );
}

function TopGames({ now }: { now: Overview }) {
  const most = Math.max(1, ...now.topGames.map((one) => one.heartbeats));
  return (
    <Card title={t('overview.topGames')}>
      <SmallTable
        empty={t('overview.noGames')}
        rows={now.topGames}
        id={({ gameId }) => gameId}
        columns={[
          [t('account.game'), ({ gameId }) => <a href={href(['accounts'], { game: gameId })}>{gameId}</a>],
          [t('overview.players'), ({ accountsOnline }) => count(accountsOnline), 'end'],
          [t('nav.heartbeats'), ({ heartbeats }) => count(heartbeats), 'end'],
          [
            null,
            ({ heartbeats }) => <span class="share-bar" style={{ width: `${(heartbeats / most) * 100}%` }} />,
            'share',
          ],
        ]}
      />
    </Card>
  );
}

const SHOWN = 10;

/** @param firstDaysAgo the first day of the range, which ends today */
function useTraffic(firstDaysAgo: number) {
  const zone = useUser()?.timeZone ?? 'UTC';
  const [from, until] = [dayBefore(firstDaysAgo, zone), dayBefore(0, zone)];
  return useLoad('getTrafficReport', { query: { from, until, limit: SHOWN } }, { everyMs: EVERY_MS });
}

const usedBy = ({ key, label, bytesUp, bytesDown }: TrafficItem) => ({
  id: key ?? '',
  username: label ?? '',
  bytesUp,
  bytesDown,
});

export function SellerOverview() {
  const timeZone = useUser()?.timeZone;
  const [active, online, expired] = [
    useAccounts({ enabled: true, expired: false }),
    useAccounts({ online: true }),
    useAccounts({ expired: true }),
  ];
  const expiring = useExpiring(SHOWN);
  const [today, month] = [useTraffic(0), useTraffic(29)];
  const matched = ({ data }: typeof active) => (data ? count(data.matched) : '…');
  const sum = ({ data }: typeof today) => (data ? bytes(data.sum.bytesUp + data.sum.bytesDown) : '…');
  const all = ['accounts'];
  const tiles: readonly Tile[] = [
    [
      'overview.active',
      [matched(active), href(all, { enabled: 'true', expired: 'false' })],
      [t('overview.ofAccounts', { n: active.data?.total ?? 0 }), href(all)],
    ],
    [
      'overview.players',
      [matched(online), href(all, { online: 'true' })],
      [t('nav.sessions'), href(['sessions'])],
    ],
    [
      'overview.expiring',
      [matched(expiring), href(all, { within: '7', sort: 'expiresAt' })],
      [
        t('overview.expired', { n: expired.data?.matched ?? 0 }),
        href(all, { expired: 'true', sort: '-expiresAt' }),
      ],
    ],
    [
      'account.today',
      [sum(today), trafficOfDay(0, timeZone)],
      [t('overview.inMonth', { what: sum(month) }), href(['traffic'])],
    ],
  ];
  return (
    <>
      <PageHead title={t('nav.overview')}></PageHead>
      <Tiles of={tiles} />
      <OwnBudget />
      <div class="columns">
        <TopAccounts>
          <WhenLoaded of={today} rows={4} keeps>
            {({ items }) => <UsedToday rows={items.map(usedBy)} />}
          </WhenLoaded>
        </TopAccounts>
        <Expiring of={expiring} />
      </div>
    </>
  );
}
