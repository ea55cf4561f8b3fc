// The charts of the overview, on one time axis.
import type { OverviewHistory } from '../../api-types.js';
import { count, rate } from '../../lib/format.js';
import { type TextKey, t } from '../../lib/i18n.js';
import { Chart } from '../../ui/chart.js';

/** Without a history, while it loads, the charts have the same frames and no data. */
export function Charts({ history }: { history: OverviewHistory | undefined }) {
  const series = (key: TextKey, values: readonly (number | null)[] | undefined) => ({
    label: t(key),
    values: values ?? [],
  });
  const common = { ...(history ? { at: history.at } : {}), group: 'overview' };
  return (
    <div class="columns charts">
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
        title={t('account.state.online')}
        show={count}
        series={[
          series('nav.sessions', history?.sessions),
          series('overview.players', history?.playersOnline),
        ]}
      />
      <Chart
        {...common}
        title={t('chart.logins')}
        show={count}
        series={[
          series('login.outcome.success', history?.logins),
          { ...series('logins.failed', history?.failures), isBad: true },
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
