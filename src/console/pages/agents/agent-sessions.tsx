// Conversations with agents, sorted by last use, newest first; one of them, and the button that forgets it.
import type { AgentSession } from '../../api-types.js';
import { call } from '../../lib/api.js';
import { bytes, count } from '../../lib/format.js';
import { t } from '../../lib/i18n.js';
import { useLoad } from '../../lib/load.js';
import { go, href, partsOf, usePlace } from '../../lib/router.js';
import { Ago, At, Tag } from '../../ui/basics.js';
import { AskButton } from '../../ui/dialog.js';
import { type Column, column } from '../../ui/list/columns.js';
import { BackLink, Gone, List } from '../../ui/list/list.js';
import { Empty, WhenLoaded } from '../../ui/states.js';

export function AgentSessionList() {
  const { query } = usePlace();
  const list = useLoad(
    'listAgentSessions',
    {
      query: { ...partsOf(query, 'search', 'cursor'), limit: 100 },
    },
    { topics: ['runs'] },
  );
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
  const gone = <Gone icon="agents" title={t('agentSessions.gone')} to={list} back={t('agents.sessions')} />;
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
          danger
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
