// The overview: current use in tiles, its history in charts on one time axis, and problems that need attention.
import type { ComponentChildren } from 'preact';
import type { Overview, OverviewHistory } from '../../api-types.js';
import { me } from '../../lib/api.js';
import { useCell } from '../../lib/cell.js';
import { bytes, count, rate } from '../../lib/format.js';
import { type TextKey, t } from '../../lib/i18n.js';
import { liveOverview } from '../../lib/live.js';
import { useLoad } from '../../lib/load.js';
import { href, usePlace } from '../../lib/router.js';
import { CopyButton } from '../../ui/basics.js';
import { Chart } from '../../ui/chart.js';
import { Permitted } from '../../ui/permitted.js';
import { RangeChoice, rangeOf } from '../../ui/range.js';
import { Empty, Failure } from '../../ui/states.js';
import { hostPort, LinkNotice } from '../settings/public-address.js';
import { TopAccounts, TopGames } from './top.js';

const HISTORY_EVERY_MS = 60_000;

export function OverviewPage() {
  const first = useLoad('getOverview', {});
  const live = useCell(liveOverview);
  const who = useCell(me);
  const { query } = usePlace();
  const range = rangeOf(query.get('range'), 'hour');
  const history = useLoad('getOverviewHistory', { query: { range } }, { everyMs: HISTORY_EVERY_MS });
  const now = live ?? first.data;
  if (!now && first.error) return <Failure error={first.error} retry={first.reload} />;
  return (
    <>
      <header class="page-head">
        <h1>{t('nav.overview')}</h1>
        <RangeChoice value={range} />
      </header>
      {(now?.accounts.total ?? who?.accounts) === 0 && <FirstSteps />}
      {now ? (
        <Tiles now={now} />
      ) : (
        <div class="tiles waiting" role="status" aria-label={t('state.loading')} />
      )}
      {history.error && !history.data ? (
        <Failure error={history.error} retry={history.reload} />
      ) : (
        <Charts history={history.data} />
      )}
      {now && (
        <div class="columns">
          <TopAccounts now={now} />
          <TopGames now={now} />
        </div>
      )}
    </>
  );
}

/** The first steps on a daemon without accounts. */
function FirstSteps() {
  const who = useCell(me);
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

function Tiles({ now }: { now: Overview }) {
  return (
    <dl class="tiles">
      <Tile
        label={t('overview.players')}
        value={count(now.playersOnline)}
        link={href(['accounts'], { online: 'true' })}
      >
        {t('overview.ofAccounts', { n: now.accounts.total })}
      </Tile>
      <Tile label={t('nav.sessions')} value={count(now.sessions)} link={href(['sessions'])}>
        {t('overview.heartbeatsPerMinute', { n: Math.round(now.heartbeatsPerMinute) })}
      </Tile>
      <Tile label={t('traffic.down')} value={rate(now.bytesPerSecondDown)}>
        {t('overview.today', { what: bytes(now.today.bytesDown) })}
      </Tile>
      <Tile label={t('traffic.up')} value={rate(now.bytesPerSecondUp)}>
        {t('overview.today', { what: bytes(now.today.bytesUp) })}
      </Tile>
      <Tile label={t('overview.logins')} value={count(now.today.logins)} link={href(['sessions', 'logins'])}>
        <a href={href(['sessions', 'logins'], { failed: 'true' })}>
          {t('overview.failures', { n: now.today.failures })}
        </a>
      </Tile>
      <Tile
        label={t('overview.expiring')}
        value={count(now.accounts.expiringIn7Days)}
        link={href(['accounts'], { within: '7', sort: 'expiresAt' })}
      >
        <a href={href(['accounts'], { expired: 'true' })}>
          {t('overview.expired', { n: now.accounts.expired })}
        </a>
      </Tile>
      <Tile
        label={t('overview.runs')}
        value={count(now.runs.running + now.runs.queued)}
        link={href(['agents'])}
      >
        {now.runs.failedToday > 0 ? (
          <a href={href(['agents'], { status: 'failed' })}>
            {t('overview.runsFailed', { n: now.runs.failedToday })}
          </a>
        ) : (
          t('overview.runsDone', { n: now.runs.succeededToday })
        )}
      </Tile>
    </dl>
  );
}

interface TileProps {
  readonly label: string;
  readonly value: string;
  readonly link?: string;
  readonly children: ComponentChildren;
}

function Tile({ label, value, link, children }: TileProps) {
  return (
    <div class="tile">
      <dt>{label}</dt>
      <dd class="big number">{link ? <a href={link}>{value}</a> : value}</dd>
      <dd class="soft number">{children}</dd>
    </div>
  );
}

type SeriesName = Exclude<keyof OverviewHistory, 'range' | 'stepSeconds' | 'at'>;
/** By title: how the values are shown, and the text of each series. */
const CHARTS: readonly (readonly [
  TextKey,
  (value: number) => string,
  Partial<Record<SeriesName, TextKey>>,
])[] = [
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
