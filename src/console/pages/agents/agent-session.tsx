// One conversation of an agent, and the button that forgets it.
import { call } from '../../lib/api.js';
import { t } from '../../lib/i18n.js';
import { useLoad } from '../../lib/load.js';
import { go, href } from '../../lib/router.js';
import { At, Tag } from '../../ui/basics.js';
import { AskButton } from '../../ui/dialog.js';
import { BackLink, Gone } from '../../ui/list/list.js';
import { Empty, WhenLoaded } from '../../ui/states.js';

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
