// The agents: their states, the queue of runs, and a form that sends a message. Conversations with agents, sorted by last use, newest
// first; one of them, and the button that forgets it.
import { useState } from 'preact/hooks';
import type { Agent, AgentSession } from '../../api-types.js';
import { call, useUser } from '../../lib/api.js';
import { bytes, count } from '../../lib/format.js';
import { t } from '../../lib/i18n.js';
import { useLoad } from '../../lib/load.js';
import { go, href, partsOf, usePlace } from '../../lib/router.js';
import { Ago, At, PermittedButton, State, Tag } from '../../ui/basics.js';
import { AskButton, FormDialog } from '../../ui/dialog.js';
import { AreaField, Field, Input } from '../../ui/form.js';
import { type Column, column } from '../../ui/list/columns.js';
import { List } from '../../ui/list/list.js';
import { Tabs } from '../../ui/menu.js';
import { BackLink, Gone, PageHead } from '../../ui/page.js';
import { Empty, WhenLoaded } from '../../ui/states.js';
import { RunList } from './runs.js';

const TABS = { '': 'agents.runs', sessions: 'agents.sessions' } as const;

export function AgentsPage({ tab }: { tab: string | undefined }) {
  const agents = useLoad('listAgents', {}, { topics: ['agents', 'runs'], everyMs: 5_000 });
  const [sendTo, setSendTo] = useState<Agent | null>(null);
  return (
    <>
      <PageHead title={t('nav.agents')}>
        <Tabs of="agents" label={t('nav.agents')} tabs={TABS} />
      </PageHead>
      <WhenLoaded of={agents} rows={3} keeps>
        {({ items }) => {
          if (items.length === 0) return <NoAgents />;
          if (tab === 'sessions') return <AgentSessionList />;
          return (
            <>
              <ul class="agent-cards">
                {items.map((agent) => (
                  <AgentCard key={agent.name} agent={agent} onSend={() => setSendTo(agent)} />
                ))}
              </ul>
              <RunList />
            </>
          );
        }}
      </WhenLoaded>
      {sendTo && <SendDialog agent={sendTo} onClose={() => setSendTo(null)} />}
    </>
  );
}

function AgentCard({ agent, onSend }: { agent: Agent; onSend: () => void }) {
  return (
    <li class="card stack">
      <div class="row">
        <h2 class="break">{agent.name}</h2>
        <Tag>{agent.type}</Tag>
        <span class="grow" />
        <State tone={agent.state === 'active' ? 'good' : 'none'}>{t(`agent.state.${agent.state}`)}</State>
      </div>
      <p class="soft">
        {t('agent.queue', { running: agent.running, queued: agent.queued })} ·{' '}
        {agent.channel === 'none' ? t('agent.noChannel') : t('agent.channel', { channel: agent.channel })}
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
        <PermittedButton to="sendMessage" onClick={onSend}>
          {t('agent.send')}
        </PermittedButton>
      </div>
    </li>
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
  const who = useUser();
  return (
    <Empty icon="agents" title={t('agents.empty')}>
      {t(who?.webhooksEnabled ? 'agents.empty.text' : 'agents.empty.off')}
      <pre>{EXAMPLE}</pre>
    </Empty>
  );
}

function SendDialog({ agent, onClose }: { agent: Agent; onClose: () => void }) {
  const [message, setMessage] = useState('');
  const [sessionKey, setSessionKey] = useState('');
  const send = async () => {
    const body = { message, ...(sessionKey === '' ? {} : { sessionKey }) };
    const { runId } = await call('sendMessage', { params: { name: agent.name }, body });
    onClose();
    go(['agents', 'runs', runId]);
  };
  return (
    <FormDialog
      title={t('agent.sendTitle', { name: agent.name })}
      onClose={onClose}
      action={t('agent.send')}
      isReady={message.trim() !== ''}
      send={send}
    >
      <AreaField of="run.message" path="message" value={message} onInput={setMessage} rows={5} />
      {agent.sessionKey === null ? (
        <Field of="run.session" path="sessionKey">
          <Input value={sessionKey} onInput={setSessionKey} maxLength={128} />
        </Field>
      ) : (
        <p class="soft">
          {t('agent.fixedSession')} <code>{agent.sessionKey}</code>
        </p>
      )}
    </FormDialog>
  );
}

function AgentSessionList() {
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
