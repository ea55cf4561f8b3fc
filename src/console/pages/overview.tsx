// The overview: who is using the line now, how that was, and what needs a look.
import type { ComponentChildren } from 'preact';
import type { Overview, OverviewHistory, Range } from '../api-types.js';
import { me } from '../lib/api.js';
import { useCell } from '../lib/cell.js';
import { bytes, count, rate } from '../lib/format.js';
import { type TextKey, t } from '../lib/i18n.js';
import { liveOverview } from '../lib/live.js';
import { useLoad } from '../lib/load.js';
import { href, patchQuery, usePlace } from '../lib/router.js';
import { CopyButton, State, Traffic } from '../ui/basics.js';
import { Chart } from '../ui/chart.js';
import { Segments } from '../ui/form.js';
import { Empty, Failure } from '../ui/states.js';
import { hostPort, LinkNotice } from './settings-public-address.js';

const RANGES: readonly Range[] = ['hour', 'day', 'month'];
const HISTORY_EVERY_MS = 60_000;

export function rangeOf(text: string | null, otherwise: Range): Range {
  return RANGES.find((range) => range === text) ?? otherwise;
}

export function RangeChoice({ value }: { value: Range }) {
  const options = RANGES.map((range) => ({ value: range, label: t(`range.${range}`) }));
  return (
    <Segments
      value={value}
      options={options}
      label={t('range.label')}
      onChange={(range) => patchQuery({ range }, 'push')}
    />
  );
}

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
      <Tile label={t('overview.sessions')} value={count(now.sessions)} link={href(['sessions'])}>
        {t('overview.heartbeatsPerMinute', { n: Math.round(now.heartbeatsPerMinute) })}
      </Tile>
      <Tile label={t('overview.down')} value={rate(now.bytesPerSecondDown)}>
        {t('overview.today', { what: bytes(now.today.bytesDown) })}
      </Tile>
      <Tile label={t('overview.up')} value={rate(now.bytesPerSecondUp)}>
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

function Tile({
  label,
  value,
  link,
  children,
}: {
  label: string;
  value: string;
  link?: string;
  children: ComponentChildren;
}) {
  return (
    <div class="tile">
      <dt>{label}</dt>
      <dd class="big number">{link ? <a href={link}>{value}</a> : value}</dd>
      <dd class="soft number">{children}</dd>
    </div>
  );
}

/** Without a history, while it is being read: the same frames, empty. */
function Charts({ history }: { history: OverviewHistory | undefined }) {
  const series = (key: TextKey, values: readonly (number | null)[] | undefined) => ({
    label: t(key),
    values: values ?? [],
  });
  const common = { ...(history ? { at: history.at } : {}), group: 'overview' };
  return (
    <div class="charts">
      <Chart
        {...common}
        title={t('chart.throughput')}
        show={rate}
        series={[
          series('traffic.down', history?.bytesPerSecondDown),
          series('traffic.up', history?.bytesPerSecondUp),
        ]}
      />
      <Chart
        {...common}
        title={t('chart.online')}
        show={count}
        series={[
          series('overview.sessions', history?.sessions),
          series('overview.players', history?.playersOnline),
        ]}
      />
      <Chart
        {...common}
        title={t('chart.logins')}
        show={count}
        series={[
          series('login.outcome.success', history?.logins),
          { ...series('chart.failures', history?.failures), isBad: true },
        ]}
      />
      <Chart
        {...common}
        title={t('chart.heartbeats')}
        show={count}
        series={[series('nav.heartbeats', history?.heartbeats), series('overview.runs', history?.runs)]}
      />
    </div>
  );
}

function TopAccounts({ now }: { now: Overview }) {
  return (
    <section class="card">
      <h2>{t('overview.topAccounts')}</h2>
      {now.topAccounts.length === 0 ? (
        <p class="soft">{t('overview.noTraffic')}</p>
      ) : (
        <table class="small">
          <thead>
            <tr>
              <th scope="col">{t('account.username')}</th>
              <th scope="col">{t('account.state')}</th>
              <th scope="col" class="end">
                {t('account.today')}
              </th>
            </tr>
          </thead>
          <tbody>
            {now.topAccounts.map((one) => (
              <tr key={one.id}>
                <td>
                  <a href={href(['accounts', one.id])}>{one.username}</a>
                </td>
                <td>
                  {one.sessions > 0 ? (
                    <State tone="good">{t('overview.sessionCount', { n: one.sessions })}</State>
                  ) : (
                    <State tone="none">{t('account.state.offline')}</State>
                  )}
                </td>
                <td class="end">
                  <Traffic up={one.bytesUp} down={one.bytesDown} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function TopGames({ now }: { now: Overview }) {
  const most = Math.max(1, ...now.topGames.map((one) => one.heartbeats));
  return (
    <section class="card">
      <h2>{t('overview.topGames')}</h2>
      {now.topGames.length === 0 ? (
        <p class="soft">{t('overview.noGames')}</p>
      ) : (
        <table class="small">
          <thead>
            <tr>
              <th scope="col">{t('account.game')}</th>
              <th scope="col" class="end">
                {t('overview.players')}
              </th>
              <th scope="col" class="end">
                {t('account.dataCount')}
              </th>
              <th scope="col" class="share" aria-hidden="true" />
            </tr>
          </thead>
          <tbody>
            {now.topGames.map((one) => (
              <tr key={one.gameId}>
                <td>
                  <a href={href(['accounts'], { game: one.gameId })}>{one.gameId}</a>
                </td>
                <td class="end number">{count(one.accountsOnline)}</td>
                <td class="end number">{count(one.heartbeats)}</td>
                <td class="share" aria-hidden="true">
                  <span class="share-bar" style={{ width: `${(one.heartbeats / most) * 100}%` }} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

/** What to do on a daemon without accounts. */
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
          <a class="button primary" href={href(['accounts'], { new: 'one' })}>
            {t('accounts.new')}
          </a>
          <a class="button" href={href(['accounts'], { new: 'import' })}>
            {t('accounts.import')}
          </a>
        </>
      }
    >
      <ol class="steps">
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
