// Heartbeat data over time, by game or by account.
import type { HeartbeatEntry, HeartbeatSum } from '../../api-types.js';
import { count, duration } from '../../lib/format.js';
import { t } from '../../lib/i18n.js';
import { useLoad } from '../../lib/load.js';
import { go, href, patchQuery, usePlace } from '../../lib/router.js';
import { AccountLink, Ago, Button, Card, Client, Permitted, Tag, Traffic } from '../../ui/basics.js';
import { Chart, RangeChoice, rangeOf } from '../../ui/chart.js';
import { optionsOf, Segments } from '../../ui/form.js';
import { type Column, column, Lines } from '../../ui/list/columns.js';
import { Table } from '../../ui/list/table.js';
import { PageHead } from '../../ui/page.js';
import { Empty, WhenLoaded } from '../../ui/states.js';
import { WayCell } from './session-columns.js';

type By = 'game' | 'account';

export function HeartbeatsPage() {
  const { query } = usePlace();
  const range = rangeOf(query.get('range'), 'day');
  const by: By = query.get('by') === 'account' ? 'account' : 'game';
  const series = useLoad('getHeartbeatSeries', { query: { range, by, limit: 6 } }, { everyMs: 30_000 });
  const sums = useLoad('getHeartbeatSums', { query: { range, by, limit: 200 } }, { everyMs: 30_000 });
  const error = series.error ?? sums.error;
  const reload = () => {
    series.reload();
    sums.reload();
  };
  // Names of games wrap to any number of lines above the plot: what is below waits for them, so that nothing jumps.
  const totals = series.data || error ? sums.data?.items : undefined;
  return (
    <>
      <PageHead title={t('nav.heartbeats')}>
        <Segments
          value={by}
          label={t('heartbeats.by')}
          onInput={(next) => patchQuery({ by: next === 'game' ? null : next }, 'push')}
          options={optionsOf(['game', 'account'], (each) => t(`heartbeats.by.${each}`))}
        />
        <span class="grow" />
        <Permitted to="getGameRules">
          <a class="button" href={href(['settings', 'games'])}>
            {t('settings.games')}
          </a>
        </Permitted>
        <RangeChoice value={range} />
      </PageHead>
      <WhenLoaded of={{ data: series.data, error, reload }} rows={9}>
        {({ stepSeconds, at, series: shown }) => (
          <section class="card">
            <Chart
              title={t('heartbeats.perStep', { step: duration(stepSeconds * 1_000) })}
              at={at}
              show={count}
              height={240}
              series={shown.map((one) => ({
                label: one.isOthers ? t('heartbeats.others') : gameOr(one.label),
                values: one.counts,
              }))}
            />
          </section>
        )}
      </WhenLoaded>
      {totals?.length === 0 && (
        <Empty icon="heartbeats" title={t('heartbeats.empty')} text={t('heartbeats.empty.text')} />
      )}
      {totals && totals.length > 0 && (
        <Table
          label={t('nav.heartbeats')}
          rows={totals}
          columns={sumColumns(by, (series.data?.stepSeconds ?? 0) * 1_000)}
          id={(one) => one.key ?? ''}
          open={(one) => {
            if (one.key === null) return;
            if (by === 'account') go(['accounts', one.key]);
            else patchQuery({ game: one.key }, 'push');
          }}
        />
      )}
      {(totals || error) && query.has('game') && <Newest game={query.get('game') ?? ''} />}
    </>
  );
}

const gameOr = (label: string | null) => label ?? t('heartbeats.noGame');

function sumColumns(by: By, stepMs: number): readonly Column<HeartbeatSum>[] {
  const all: readonly Column<HeartbeatSum>[] = [
    column('key', by === 'game' ? 'account.game' : 'account.username', {}, ({ key, label }) => {
      const name = gameOr(label);
      if (key === null) return <span class="soft">{name}</span>;
      const link = by === 'account' ? href(['accounts', key]) : href(['accounts'], { game: key });
      return (
        <a class="strong" href={link}>
          {name}
        </a>
      );
    }),
    column('heartbeats', 'nav.heartbeats', { width: 120, align: 'end' }, (one) => count(one.heartbeats)),
    column('accounts', 'nav.accounts', { width: 96, align: 'end', from: 560 }, (one) => count(one.accounts)),
    column('traffic', 'nav.traffic', { width: 200, align: 'end', from: 720 }, (one) => (
      <Traffic up={one.bytesUp} down={one.bytesDown} />
    )),
    column('last', 'heartbeats.last', { width: 128, align: 'end', from: 480 }, (one) => (
      <Last at={one.lastAt} stepMs={stepMs} />
    )),
  ];
  return all.filter(({ key }) => key !== 'accounts' || by === 'game');
}

/** Sums know only the step of the newest entry: an entry of the current step may have come just now. */
function Last({ at, stepMs }: { at: string; stepMs: number }) {
  const passedMs = Date.now() - Date.parse(at);
  if (passedMs >= stepMs) return <Ago at={at} />;
  return <time dateTime={at}>{t('heartbeats.within', { time: duration(Math.max(1_000, passedMs)) })}</time>;
}

function Newest({ game }: { game: string }) {
  const newest = useLoad('listHeartbeats', { query: { game, limit: 50 } }, { everyMs: 10_000 });
  return (
    <Card
      title={t('heartbeats.newest', { game })}
      actions={
        <Button kind="link" onClick={() => patchQuery({ game: null }, 'push')}>
          {t('dialog.close')}
        </Button>
      }
      look="flush"
    >
      <WhenLoaded of={newest} rows={6}>
        {({ items }) => (
          <Table
            label={t('nav.heartbeats')}
            rows={items}
            columns={entryColumns()}
            rowHeight={56}
            id={(one) => `${one.at}${one.sessionId}${one.kind}`}
          />
        )}
      </WhenLoaded>
    </Card>
  );
}

const nameOf = ({ accountId, username }: HeartbeatEntry) => <AccountLink id={accountId} name={username} />;
const whoAndWhere = (one: HeartbeatEntry) => <Lines of={[nameOf(one), one.destination]} />;

function entryColumns(): readonly Column<HeartbeatEntry>[] {
  return [
    column('at', 'logins.at', { width: 112, phone: {} }, (one) => <Ago at={one.at} />),
    column('kind', 'heartbeats.kind', { width: 88, from: 400 }, (one) => (
      <Tag>{t(`heartbeats.kind.${one.kind}`)}</Tag>
    )),
    column('username', 'account.username', { phone: { cell: whoAndWhere } }, nameOf),
    column('destination', 'sessions.destination', { from: 700 }, (one) => (
      <WayCell to={one.destination} way={one} />
    )),
    column('client', 'sessions.client', { width: 152, from: 900 }, (one) => <Client of={one} />),
    column('traffic', 'nav.traffic', { width: 176, align: 'end', from: 560 }, (one) => (
      <Traffic up={one.bytesUp} down={one.bytesDown} />
    )),
  ];
}
