// What an account did: live sessions, games over time, traffic per day, logins, and who changed it.
import type { Account, Range, Timeline } from '../../api-types.js';
import { call } from '../../lib/api.js';
import { bytes, localTime } from '../../lib/format.js';
import { t } from '../../lib/i18n.js';
import { useLoad } from '../../lib/load.js';
import { href, usePlace } from '../../lib/router.js';
import { Ago, Card, Client } from '../../ui/basics.js';
import { Chart, RangeChoice, rangeOf } from '../../ui/chart.js';
import { AskButton } from '../../ui/dialog.js';
import { Table } from '../../ui/list/table.js';
import { SmallTable } from '../../ui/small-table.js';
import { Failure, WhenLoaded } from '../../ui/states.js';
import { notify } from '../../ui/toast.js';
import { AuditList } from '../audit/audit.js';
import { areAtSeveralNodes, Outcome, sessionColumns } from '../sessions/session-columns.js';

export function AccountActivity({ account }: { account: Account }) {
  return (
    <>
      <LiveSessions account={account} />
      <GameTimeline id={account.id} />
      <div class="columns wide-last even">
        <TrafficPerDay id={account.id} />
        <Logins account={account} />
      </div>
      <Card title={t('account.audit')}>
        <AuditList objectId={account.id} />
      </Card>
    </>
  );
}

function LiveSessions({ account }: { account: Account }) {
  const asked = { accountId: account.id, limit: 200 };
  const live = useLoad('listSessions', { query: asked }, { topics: ['sessions'], everyMs: 3_000 });
  const { data, reload } = live;
  const endAll = async () => {
    const { ended } = await call('endSessions', { body: { accountId: account.id } });
    notify(t('sessions.ended', { n: ended }));
    reload();
  };
  return (
    <Card
      title={t('account.liveSessions', { n: data?.matched ?? account.usage.sessions })}
      actions={
        (data?.items.length ?? 0) > 0 && (
          <AskButton
            right="endSessions"
            kind="danger"
            text={t('sessions.endAll')}
            title={t('sessions.endTitle', { n: data?.matched ?? 0 })}
            act={endAll}
            question={t('sessions.endText')}
          />
        )
      }
      look="flush"
    >
      <WhenLoaded of={live} rows={2}>
        {({ items }) =>
          items.length === 0 ? (
            <p class="soft pad">
              {account.lastLoginAt === null ? t('account.neverOnline') : t('account.notOnline')}{' '}
              {account.lastLoginAt !== null && <Ago at={account.lastLoginAt} />}
            </p>
          ) : (
            <Table
              label={t('nav.sessions')}
              rows={items}
              columns={sessionColumns(reload, { account: false, node: areAtSeveralNodes(items) })}
              id={(one) => one.id}
            />
          )
        }
      </WhenLoaded>
    </Card>
  );
}

function GameTimeline({ id }: { id: string }) {
  const range: Range = rangeOf(usePlace().query.get('range'), 'day');
  const timeline = useLoad('getTimeline', { params: { id }, query: { range } }, { everyMs: 60_000 });
  const games = [...new Set(timeline.data?.stretches.map((one) => one.gameId))];
  const colour = (game: string | null) =>
    game === null
      ? 'var(--line-strong)'
      : `var(--chart-${(games.filter((one) => one !== null).indexOf(game) % 7) + 1})`;
  return (
    <section class="card">
      <header class="row wrap">
        <h2>{t('account.timeline')}</h2>
        <span class="row wrap">
          {games.map((game) => (
            <span key={game ?? ''} class="key">
              <i class="swatch" style={{ background: colour(game) }} aria-hidden="true" />
              {game ?? t('heartbeats.noGame')}
            </span>
          ))}
        </span>
        <span class="grow" />
        <RangeChoice value={range} />
      </header>
      <WhenLoaded of={timeline} rows={1}>
        {(shown) =>
          shown.stretches.length === 0 ? (
            <p class="soft">{t('account.timeline.empty')}</p>
          ) : (
            <Stretches of={shown} colour={colour} />
          )
        }
      </WhenLoaded>
    </section>
  );
}

function Stretches({ of, colour }: { of: Timeline; colour: (game: string | null) => string }) {
  const start = Date.parse(of.from);
  const share = (ms: number) => (ms / (Date.parse(of.to) - start)) * 100;
  return (
    <>
      <ol class="timeline">
        {of.stretches.map(({ gameId, from, to, heartbeats }) => {
          const text = `${gameId ?? t('heartbeats.noGame')}: ${localTime(from)} – ${localTime(to)}, ${t('heartbeats.entries', { n: heartbeats })}`;
          const left = Math.min(99.4, share(Date.parse(from) - start));
          const width = Math.max(0.6, share(Date.parse(to) - Date.parse(from)));
          return (
            <li
              key={from}
              title={text}
              style={{ background: colour(gameId), left: `${left}%`, width: `${width}%` }}
            >
              <span>{gameId}</span>
              <span class="sr-only">{text}</span>
            </li>
          );
        })}
      </ol>
      <div class="row soft number timeline-ends">
        <span>{localTime(of.from)}</span>
        <span class="grow" />
        <span>{localTime(of.to)}</span>
      </div>
    </>
  );
}

function TrafficPerDay({ id }: { id: string }) {
  const { data, error, reload } = useLoad(
    'getTraffic',
    { params: { id }, query: { days: 30 } },
    { everyMs: 60_000 },
  );
  return (
    <section class="card">
      {error && <Failure error={error} retry={reload} />}
      {(data || !error) && (
        <Chart
          title={t('account.trafficPerDay', { zone: zoneOf(data?.days ?? []) })}
          {...(data ? { at: data.days.map((one) => one.day) } : {})}
          show={bytes}
          kind="bars"
          days
          height={188}
          series={[
            { label: t('traffic.down'), values: data?.days.map((one) => one.bytesDown) ?? [] },
            { label: t('traffic.up'), values: data?.days.map((one) => one.bytesUp) ?? [] },
          ]}
        />
      )}
    </section>
  );
}

/** The time zone of the newest days and, if it has changed, that of the days before. */
function zoneOf(days: readonly { readonly day: string; readonly zone: string }[]): string {
  const zone = days.at(-1)?.zone ?? '';
  const before = days.findLast((one) => one.zone !== zone);
  return before ? t('account.zoneUntil', { zone, day: before.day, before: before.zone }) : zone;
}

function Logins({ account }: { account: Account }) {
  const asked = { accountId: account.id, limit: 8 };
  const logins = useLoad('listLogins', { query: asked }, { topics: ['accounts', 'sessions'] });
  return (
    <Card
      title={t('account.logins')}
      actions={<a href={href(['sessions', 'logins'], { account: account.id })}>{t('list.more')}</a>}
    >
      <WhenLoaded of={logins} rows={4}>
        {({ items }) => (
          <SmallTable
            empty={t('logins.empty')}
            rows={items}
            id={(one) => `${one.at}${one.client}`}
            columns={[
              ['', (one) => <Outcome login={one} />],
              ['', (one) => <Client of={one} />],
              ['', (one) => <Ago at={one.at} />, 'end soft'],
            ]}
          />
        )}
      </WhenLoaded>
    </Card>
  );
}
