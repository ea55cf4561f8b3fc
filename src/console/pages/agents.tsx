// Agents and what they were asked: states, the queue of runs, conversations, and sending a message.
import { useState } from 'preact/hooks';
import type { Agent, AgentSession, Run, RunStatus } from '../api-types.js';
import { call, me } from '../lib/api.js';
import { useCell } from '../lib/cell.js';
import { bytes, clock, count } from '../lib/format.js';
import { t } from '../lib/i18n.js';
import { useLoad } from '../lib/load.js';
import { go, href, usePlace } from '../lib/router.js';
import { Ago, Button, State, Tag, type Tone } from '../ui/basics.js';
import { ColumnChooser } from '../ui/columns.js';
import { Dialog, useAction } from '../ui/dialog.js';
import { Area, Field, Input } from '../ui/form.js';
import { FilterChip, Pager, SearchBox } from '../ui/list.js';
import { Empty, Failure, Skeleton } from '../ui/states.js';
import { type Column, Table } from '../ui/table.js';
import { Tabs } from '../ui/tabs.js';

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

export function AgentsPage({ tab }: { tab: 'runs' | 'sessions' }) {
  const agents = useLoad('listAgents', {}, { topics: ['agents', 'runs'], everyMs: 5_000 });
  const [sendTo, setSendTo] = useState<Agent | null>(null);
  return (
    <>
      <header class="page-head">
        <h1>{t('nav.agents')}</h1>
        <Tabs
          label={t('nav.agents')}
          tabs={[
            { text: t('agents.runs'), link: href(['agents']), current: tab === 'runs' },
            { text: t('agents.sessions'), link: href(['agents', 'sessions']), current: tab === 'sessions' },
          ]}
        />
      </header>
      {agents.error && !agents.data && <Failure error={agents.error} retry={agents.reload} />}
      {!agents.data && !agents.error && <Skeleton rows={3} />}
      {agents.data?.items.length === 0 && <NoAgents />}
      {agents.data && agents.data.items.length > 0 && (
        <>
          {tab === 'runs' && (
            <ul class="agent-cards">
              {agents.data.items.map((agent) => (
                <AgentCard key={agent.name} agent={agent} onSend={() => setSendTo(agent)} />
              ))}
            </ul>
          )}
          {tab === 'runs' ? <RunList /> : <SessionList />}
        </>
      )}
      {sendTo && <SendDialog agent={sendTo} onClose={() => setSendTo(null)} />}
    </>
  );
}

function AgentCard({ agent, onSend }: { agent: Agent; onSend: () => void }) {
  return (
    <li class="card">
      <div class="row">
        <h2 class="break">{agent.name}</h2>
        <Tag>{agent.type}</Tag>
        <span class="grow" />
        <State tone={agent.state === 'active' ? 'good' : 'none'}>{t(`agent.state.${agent.state}`)}</State>
      </div>
      <p class="soft">
        {t('agent.queue', { running: agent.running, queued: agent.queued })} ·{' '}
        {t('agent.channel', { channel: agent.channel })}
        {agent.sessionKey !== null && (
          <>
            {' · '}
            {t('agent.fixedSession')} <code>{agent.sessionKey}</code>
          </>
        )}
        {!agent.webhook && ` · ${t('agent.noWebhook')}`}
      </p>
      <div class="row">
        <span class="soft">
          {t('agent.lastActive')} <Ago at={agent.lastActiveAt} />
        </span>
        <span class="grow" />
        <Button onClick={onSend}>{t('agent.send')}</Button>
      </div>
    </li>
  );
}

function RunList() {
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
      width: '104px',
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
      width: '104px',
      align: 'end',
      cell: (one) => <Ago at={one.acceptedAt} />,
    },
  ];
}

export function tookText(run: Run): string {
  if (run.startedAt === null) return '—';
  const end = run.finishedAt === null ? Date.now() : Date.parse(run.finishedAt);
  return clock(end - Date.parse(run.startedAt));
}

function SessionList() {
  const { query } = usePlace();
  const list = useLoad(
    'listAgentSessions',
    {
      query: {
        search: query.get('search') ?? undefined,
        cursor: query.get('cursor') ?? undefined,
        limit: 100,
      },
    },
    { topics: ['runs'] },
  );
  const page = list.data;
  return (
    <>
      <div class="toolbar">
        <SearchBox placeholder={t('agentSessions.search')} />
      </div>
      {list.error && <Failure error={list.error} retry={list.reload} />}
      {!page && !list.error && <Skeleton rows={6} />}
      {page?.items.length === 0 && (
        <Empty icon="agents" title={t('agentSessions.empty')}>
          {t('agentSessions.empty.text')}
        </Empty>
      )}
      {page && page.items.length > 0 && (
        <>
          <Table
            label={t('agents.sessions')}
            rows={page.items}
            columns={sessionListColumns()}
            id={(one) => one.key}
            open={(one) => go(['agents', 'sessions', one.key])}
          />
          <Pager nextCursor={page.nextCursor} shown={page.items.length} />
        </>
      )}
    </>
  );
}

function sessionListColumns(): readonly Column<AgentSession>[] {
  return [
    {
      key: 'key',
      head: t('run.session'),
      cell: (one) => (
        <a class="strong" href={href(['agents', 'sessions', one.key])} tabIndex={-1}>
          {one.key}
        </a>
      ),
    },
    { key: 'agent', head: t('agents.agent'), cell: (one) => one.agent },
    {
      key: 'messages',
      head: t('agentSessions.messages'),
      width: '96px',
      align: 'end',
      from: 560,
      cell: (one) => <span class="number">{count(one.messages)}</span>,
    },
    {
      key: 'bytes',
      head: t('agentSessions.size'),
      width: '96px',
      align: 'end',
      from: 720,
      cell: (one) => <span class="number">{bytes(one.bytes)}</span>,
    },
    {
      key: 'used',
      head: t('agentSessions.used'),
      width: '112px',
      align: 'end',
      cell: (one) => <Ago at={one.lastUsedAt} />,
    },
  ];
}

function SendDialog({ agent, onClose }: { agent: Agent; onClose: () => void }) {
  const [message, setMessage] = useState('');
  const [sessionKey, setSessionKey] = useState('');
  const { busy, error, run } = useAction();
  const ready = message.trim() !== '' && !busy;
  const submit = () => {
    if (!ready) return;
    void run(async () => {
      const body = { message, ...(sessionKey === '' ? {} : { sessionKey }) };
      const { runId } = await call('sendMessage', { params: { name: agent.name }, body });
      onClose();
      go(['agents', 'runs', runId]);
    });
  };
  return (
    <Dialog
      title={t('agent.sendTitle', { name: agent.name })}
      onClose={onClose}
      onSubmit={submit}
      footer={
        <>
          <Button onClick={onClose}>{t('dialog.cancel')}</Button>
          <Button type="submit" kind="primary" disabled={!ready}>
            {t('agent.send')}
          </Button>
        </>
      }
    >
      <Field label={t('run.message')}>
        <Area value={message} onInput={setMessage} rows={5} />
      </Field>
      {agent.sessionKey === null ? (
        <Field label={t('run.session')} hint={t('agent.session.hint')}>
          <Input value={sessionKey} onInput={setSessionKey} maxLength={128} />
        </Field>
      ) : (
        <p class="soft">
          {t('agent.fixedSession')} <code>{agent.sessionKey}</code>
        </p>
      )}
      {error ? <Failure error={error} /> : null}
    </Dialog>
  );
}

const EXAMPLE = `agents:
  reporter:
    type: command
    command: [node, reporter.js]
webhooks:
  enabled: true
  secretFile: webhook-secret
  agents: { reporter: {} }`;

function NoAgents() {
  const who = useCell(me);
  return (
    <Empty icon="agents" title={t('agents.empty')}>
      {t(who?.webhooksEnabled ? 'agents.empty.text' : 'agents.empty.off')}
      <pre>{EXAMPLE}</pre>
    </Empty>
  );
}
