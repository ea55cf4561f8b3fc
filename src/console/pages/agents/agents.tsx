// The agents: their states, the queue of runs, conversations, and a form that sends a message.
import { useState } from 'preact/hooks';
import type { Agent } from '../../api-types.js';
import { call, useUser } from '../../lib/api.js';
import { t } from '../../lib/i18n.js';
import { useLoad } from '../../lib/load.js';
import { go, href } from '../../lib/router.js';
import { Ago, PermittedButton, State, Tag } from '../../ui/basics.js';
import { FormDialog } from '../../ui/dialog.js';
import { AreaField, Field, Input } from '../../ui/form.js';
import { PageHead } from '../../ui/list/list.js';
import { Tabs } from '../../ui/menu.js';
import { Empty, WhenLoaded } from '../../ui/states.js';
import { AgentSessionList, RunList } from './runs.js';

export function AgentsPage({ tab }: { tab: 'runs' | 'sessions' }) {
  const agents = useLoad('listAgents', {}, { topics: ['agents', 'runs'], everyMs: 5_000 });
  const [sendTo, setSendTo] = useState<Agent | null>(null);
  return (
    <>
      <PageHead title={t('nav.agents')}>
        <Tabs
          label={t('nav.agents')}
          tabs={[
            { text: t('agents.runs'), link: href(['agents']), current: tab === 'runs' },
            { text: t('agents.sessions'), link: href(['agents', 'sessions']), current: tab === 'sessions' },
          ]}
        />
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
      <AreaField path="message" label={t('run.message')} value={message} onInput={setMessage} rows={5} />
      {agent.sessionKey === null ? (
        <Field path="sessionKey" label={t('run.session')} hint={t('agent.session.hint')}>
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
