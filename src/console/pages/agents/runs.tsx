// The runs of agents: their requests, results and durations. Conversations with agents, sorted by last use, newest first; one of
// them, and the button that forgets it.
import type { AgentSession, Run, RunStatus } from '../../api-types.js';
import { call } from '../../lib/api.js';
import { bytes, clock, count } from '../../lib/format.js';
import { t } from '../../lib/i18n.js';
import { useLoad } from '../../lib/load.js';
import { go, href, partsOf, usePlace } from '../../lib/router.js';
import { Ago, At, None, State, Tag, type Tone } from '../../ui/basics.js';
import { AskButton } from '../../ui/dialog.js';
import { type Column, column } from '../../ui/list/columns.js';
import { BackLink, FilterChips, Gone, List, SetFilter } from '../../ui/list/list.js';
import { Empty, WhenLoaded } from '../../ui/states.js';

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
  const status = STATUSES.find((each) => each === query.get('status'));
  const asked = { ...partsOf(query, 'search', 'agent', 'session', 'cursor'), status, limit: 100 };
  const list = useLoad('listRuns', { query: asked }, { topics: ['runs'], everyMs: 5_000 });
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

export function AgentSessionList() {
  const { query } = usePlace();
  const asked = { ...partsOf(query, 'search', 'cursor'), limit: 100 };
  const list = useLoad('listAgentSessions', { query: asked }, { topics: ['runs'] });
  return (
    <List
      list={list}
      search={t('agentSessions.search')}
      empty={<Empty icon="agents" title={t('agentSessions.empty')} text={t('agentSessions.empty.text')} />}
      table={{
        label: t('agents.sessions'),
        columns: sessionListColumns(),
        id: (one) => one.key,
        open: (one) => go(['agents', 'sessions', one.key]),
      }}
    />
  );
}

function sessionListColumns(): readonly Column<AgentSession>[] {
  return [
    column('key', 'run.session', {}, (one) => (
      <a class="strong" href={href(['agents', 'sessions', one.key])} tabIndex={-1}>
        {one.key}
      </a>
    )),
    column('agent', 'agents.agent', { width: 128, from: 520 }, (one) => one.agent),
    column('messages', 'agentSessions.messages', { width: 96, align: 'end', from: 560 }, (one) =>
      count(one.messages),
    ),
    column('bytes', 'agentSessions.size', { width: 96, align: 'end', from: 720 }, (one) => bytes(one.bytes)),
    column('used', 'tokens.lastUsed', { width: 112, align: 'end' }, (one) => <Ago at={one.lastUsedAt} />),
  ];
}

export function AgentSessionPage({ sessionKey }: { sessionKey: string }) {
  const loaded = useLoad('getAgentSession', { params: { key: sessionKey } }, { topics: ['runs'] });
  const { data } = loaded;
  const list = ['agents', 'sessions'];
  const gone = <Gone icon="agents" of="agentSessions.gone" to={list} back="agents.sessions" />;
  if (!data) return <WhenLoaded of={loaded} rows={8} gone={gone} />;
  return (
    <>
      <header class="page-head">
        <BackLink to={list} label={t('agents.sessions')} />
        <h1 class="break">{data.key}</h1>
        <Tag>{data.agent}</Tag>
        <span class="grow" />
        <a class="button" href={href(['agents'], { session: data.key })}>
          {t('agents.runs')}
        </a>
        <AskButton
          right="deleteAgentSession"
          kind="danger"
          text={t('agentSessions.forget')}
          act={() => call('deleteAgentSession', { params: { key: data.key } })}
          done={t('agentSessions.forgotten')}
          after={() => go(['agents', 'sessions'])}
          question={t('agentSessions.forget.text', { n: data.messages })}
        />
      </header>
      <ol class="conversation stack">
        {data.history.map((entry, i) => (
          <li key={`${entry.runId}${i}`} class={`stack close ${entry.role}`}>
            <div class="soft row">
              <strong>{t(`agentSessions.${entry.role}`)}</strong>
              <At at={entry.at} />
              <a href={href(['agents', 'runs', entry.runId])}>{t('agentSessions.run')}</a>
            </div>
            <pre class="text">{entry.content}</pre>
          </li>
        ))}
      </ol>
      {data.history.length === 0 && <Empty icon="agents" title={t('agentSessions.noHistory')} />}
    </>
  );
}
