// The runs of agents: their requests, results and durations.
import type { Run, RunStatus } from '../../api-types.js';
import { clock } from '../../lib/format.js';
import { t } from '../../lib/i18n.js';
import { useLoad } from '../../lib/load.js';
import { go, href, usePlace } from '../../lib/router.js';
import { Ago, State, type Tone } from '../../ui/basics.js';
import { ColumnChooser } from '../../ui/columns.js';
import { FilterChip, Pager, SearchBox } from '../../ui/list.js';
import { Empty, Failure, Skeleton } from '../../ui/states.js';
import { type Column, Table } from '../../ui/table.js';

const RUN_TONES: Readonly<Record<RunStatus, Tone>> = {
  queued: 'none',
  running: 'info',
  succeeded: 'good',
  failed: 'bad',
  timeout: 'warn',
  cancelled: 'none',
};
const STATUSES = Object.keys(RUN_TONES) as RunStatus[];

export function RunState({ status }: { status: RunStatus }) {
  return <State tone={RUN_TONES[status]}>{t(`run.status.${status}`)}</State>;
}

export function RunList() {
  const { query } = usePlace();
  const agent = query.get('agent');
  const session = query.get('session');
  const list = useLoad(
    'listRuns',
    {
      query: {
        search: query.get('search') ?? undefined,
        status: STATUSES.find((status) => status === query.get('status')),
        agent: agent ?? undefined,
        session: session ?? undefined,
        cursor: query.get('cursor') ?? undefined,
        limit: 100,
      },
    },
    { topics: ['runs'], everyMs: 5_000 },
  );
  const page = list.data;
  return (
    <>
      <div class="toolbar">
        <SearchBox placeholder={t('runs.search')} />
        <fieldset class="chips" aria-label={t('list.filters')}>
          {STATUSES.map((status) => (
            <FilterChip key={status} name="status" value={status}>
              {t(`run.status.${status}`)}
            </FilterChip>
          ))}
          {agent !== null && (
            <FilterChip name="agent" value={agent}>
              {agent} ×
            </FilterChip>
          )}
          {session !== null && (
            <FilterChip name="session" value={session}>
              {session} ×
            </FilterChip>
          )}
        </fieldset>
        <ColumnChooser table="runs" columns={runColumns()} />
      </div>
      {list.error && <Failure error={list.error} retry={list.reload} />}
      {!page && !list.error && <Skeleton rows={10} />}
      {page?.items.length === 0 && (
        <Empty icon="agents" title={t('runs.empty')}>
          {t('runs.empty.text')}
        </Empty>
      )}
      {page && page.items.length > 0 && (
        <>
          <Table
            label={t('agents.runs')}
            rows={page.items}
            columns={runColumns()}
            table="runs"
            id={(one) => one.id}
            open={(one) => go(['agents', 'runs', one.id])}
            pending={list.pending}
          />
          <Pager nextCursor={page.nextCursor} shown={page.items.length} />
        </>
      )}
    </>
  );
}

function runColumns(): readonly Column<Run>[] {
  return [
    {
      key: 'status',
      head: t('account.state'),
      width: '112px',
      cell: (one) => <RunState status={one.status} />,
    },
    {
      key: 'agent',
      head: t('agents.agent'),
      width: '128px',
      from: 520,
      cell: (one) => <span class="strong">{one.agent}</span>,
    },
    {
      key: 'message',
      head: t('run.message'),
      cell: (one) => (
        <a class="plain" href={href(['agents', 'runs', one.id])} tabIndex={-1}>
          {one.message ?? <span class="soft">{t('run.wake')}</span>}
        </a>
      ),
    },
    {
      key: 'reply',
      head: t('run.reply'),
      from: 1000,
      cell: (one) => <span class="soft">{one.error ?? one.reply}</span>,
    },
    {
      key: 'session',
      head: t('run.session'),
      width: '144px',
      from: 1200,
      cell: (one) => <span class="soft">{one.session}</span>,
    },
    {
      key: 'delivery',
      head: t('run.delivery'),
      width: '104px',
      from: 900,
      cell: (one) =>
        one.delivery === 'none' ? (
          <span class="faint">—</span>
        ) : (
          <State tone={one.delivery === 'delivered' ? 'good' : one.delivery === 'failed' ? 'bad' : 'info'}>
            {t(`run.delivery.${one.delivery}`)}
          </State>
        ),
    },
    {
      key: 'took',
      head: t('run.took'),
      width: '72px',
      from: 720,
      align: 'end',
      cell: (one) => <span class="number">{tookText(one)}</span>,
    },
    {
      key: 'at',
      head: t('run.acceptedAt'),
      width: '84px',
      align: 'end',
      cell: (one) => <Ago at={one.acceptedAt} />,
    },
  ];
}

export function tookText(run: Run): string {
  if (run.startedAt === null) return '—';
  const end = run.finishedAt === null ? Date.now() : Date.parse(run.finishedAt);
  const ms = end - Date.parse(run.startedAt);
  if (run.finishedAt !== null && ms < 10_000) return t('unit.seconds', { n: (ms / 1_000).toFixed(1) });
  return clock(ms);
}
