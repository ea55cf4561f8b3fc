// One conversation of an agent, and the button that forgets it.
import { useState } from 'preact/hooks';
import { ApiError, call } from '../../lib/api.js';
import { listAddress } from '../../lib/arrival.js';
import { t } from '../../lib/i18n.js';
import { useLoad } from '../../lib/load.js';
import { go, href } from '../../lib/router.js';
import { At, Button, Tag } from '../../ui/basics.js';
import { Confirm } from '../../ui/dialog.js';
import { Icon } from '../../ui/icons.js';
import { Permitted } from '../../ui/permitted.js';
import { Empty, Failure, Skeleton } from '../../ui/states.js';
import { notify } from '../../ui/toast.js';

export function AgentSessionPage({ sessionKey }: { sessionKey: string }) {
  const { data, error, reload } = useLoad(
    'getAgentSession',
    { params: { key: sessionKey } },
    { topics: ['runs'] },
  );
  const [asking, setAsking] = useState(false);
  if (!data) {
    if (error instanceof ApiError && error.code === 'not-found') {
      return (
        <Empty
          icon="agents"
          title={t('agentSessions.gone')}
          action={
            <a class="button" href={href(['agents', 'sessions'])}>
              {t('agents.sessions')}
            </a>
          }
        />
      );
    }
    return error ? <Failure error={error} retry={reload} /> : <Skeleton rows={8} />;
  }
  return (
    <>
      <header class="page-head">
        <a
          class="button quiet icon-only"
          href={listAddress(['agents', 'sessions'])}
          aria-label={t('agents.sessions')}
        >
          <Icon name="back" />
        </a>
        <h1 class="break">{data.key}</h1>
        <Tag>{data.agent}</Tag>
        <span class="grow" />
        <a class="button" href={href(['agents'], { session: data.key })}>
          {t('agents.runs')}
        </a>
        <Permitted to="deleteAgentSession">
          <Button kind="danger" onClick={() => setAsking(true)}>
            {t('agentSessions.forget')}
          </Button>
        </Permitted>
      </header>
      <ol class="conversation">
        {data.history.map((entry, i) => (
          <li key={`${entry.runId}${i}`} class={entry.role}>
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
      {asking && (
        <Confirm
          title={t('agentSessions.forget')}
          action={t('agentSessions.forget')}
          danger
          onClose={() => setAsking(false)}
          act={async () => {
            await call('deleteAgentSession', { params: { key: data.key } });
            notify(t('agentSessions.forgotten'));
            go(['agents', 'sessions']);
          }}
        >
          <p>{t('agentSessions.forget.text', { n: data.messages })}</p>
        </Confirm>
      )}
    </>
  );
}
