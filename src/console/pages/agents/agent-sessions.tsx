// Conversations with agents, sorted by last use, newest first.
import type { AgentSession } from '../../api-types.js';
import { bytes, count } from '../../lib/format.js';
import { t } from '../../lib/i18n.js';
import { useLoad } from '../../lib/load.js';
import { go, href, partsOf, usePlace } from '../../lib/router.js';
import { Ago } from '../../ui/basics.js';
import { type Column, column } from '../../ui/list/columns.js';
import { List } from '../../ui/list/list.js';
import { Empty } from '../../ui/states.js';

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
      skeleton={6}
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
    column('agent', 'agents.agent', { width: '128px', from: 520 }, (one) => one.agent),
    column('messages', 'agentSessions.messages', { width: '96px', align: 'end', from: 560 }, (one) => (
      <span class="number">{count(one.messages)}</span>
    )),
    column('bytes', 'agentSessions.size', { width: '96px', align: 'end', from: 720 }, (one) => (
      <span class="number">{bytes(one.bytes)}</span>
    )),
    column('used', 'tokens.lastUsed', { width: '112px', align: 'end' }, (one) => <Ago at={one.lastUsedAt} />),
  ];
}
