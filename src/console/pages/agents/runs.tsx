// The runs of agents: their requests, results and durations.
import type { Run, RunStatus } from '../../api-types.js';
import { clock } from '../../lib/format.js';
import { t } from '../../lib/i18n.js';
import { useLoad } from '../../lib/load.js';
import { go, href, partsOf, usePlace } from '../../lib/router.js';
import { Ago, None, State, type Tone } from '../../ui/basics.js';
import { type Column, column } from '../../ui/list/columns.js';
import { FilterChips, List, SetFilter } from '../../ui/list/list.js';
import { Empty } from '../../ui/states.js';

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
  const list = useLoad(
    'listRuns',
    {
      query: {
        ...partsOf(query, 'search', 'agent', 'session', 'cursor'),
        status: STATUSES.find((status) => status === query.get('status')),
        limit: 100,
      },
    },
    { topics: ['runs'], everyMs: 5_000 },
  );
  return (
    <List
      list={list}
      search={t('runs.search')}
      chips={
        <>
          <FilterChips name="status" values={STATUSES} text={(status) => t(`run.status.${status}`)} />
          <SetFilter name="agent" />
          <SetFilter name="session" />
        </>
      }
      empty={<Empty icon="agents" title={t('runs.empty')} text={t('runs.empty.text')} />}
      table={{
        label: t('agents.runs'),
        columns: runColumns(),
        table: 'runs',
        id: (one) => one.id,
        open: (one) => go(['agents', 'runs', one.id]),
      }}
    />
  );
}

function runColumns(): readonly Column<Run>[] {
  return [
    column('status', 'account.state', { width: 112 }, (one) => <RunState status={one.status} />),
    column('agent', 'agents.agent', { width: 128, from: 520 }, (one) => (
      <span class="strong">{one.agent}</span>
    )),
    column('message', 'run.message', {}, (one) => (
      <a class="plain" href={href(['agents', 'runs', one.id])} tabIndex={-1}>
        {one.message ?? <span class="soft">{t('run.wake')}</span>}
      </a>
    )),
    column('reply', 'run.reply', { from: 1000 }, (one) => <span class="soft">{one.error ?? one.reply}</span>),
    column('session', 'run.session', { width: 144, from: 1200 }, (one) => (
      <span class="soft">{one.session}</span>
    )),
    column('delivery', 'run.delivery', { width: 104, from: 900 }, (one) =>
      one.delivery === 'none' ? (
        <None />
      ) : (
        <State tone={one.delivery === 'delivered' ? 'good' : one.delivery === 'failed' ? 'bad' : 'info'}>
          {t(`run.delivery.${one.delivery}`)}
        </State>
      ),
    ),
    column('took', 'run.took', { width: 72, from: 720, align: 'end' }, (one) => tookText(one)),
    column('at', 'run.acceptedAt', { width: 84, align: 'end' }, (one) => <Ago at={one.acceptedAt} />),
  ];
}

export function tookText(run: Run): string {
  if (run.startedAt === null) return '—';
  const end = run.finishedAt === null ? Date.now() : Date.parse(run.finishedAt);
  const ms = end - Date.parse(run.startedAt);
  if (run.finishedAt !== null && ms < 10_000) return t('unit.seconds', { n: (ms / 1_000).toFixed(1) });
  return clock(ms);
}
