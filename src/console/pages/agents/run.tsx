// One run: the request, the answer, and the state of its delivery.
import type { RunDetail } from '../../api-types.js';
import { call } from '../../lib/api.js';
import { t } from '../../lib/i18n.js';
import { useLoad } from '../../lib/load.js';
import { go, href } from '../../lib/router.js';
import { At, Card, CopyButton, Facts, None, PermittedButton, State, Tag } from '../../ui/basics.js';
import { AskButton, useAction } from '../../ui/dialog.js';
import { BackLink, Gone, PageHead } from '../../ui/list/list.js';
import { SmallTable } from '../../ui/small-table.js';
import { Failure, WhenLoaded } from '../../ui/states.js';
import { notify } from '../../ui/toast.js';
import { RunState, tookText } from './runs.js';

export function RunPage({ id }: { id: string }) {
  const loaded = useLoad('getRun', { params: { id } }, { topics: ['runs'], everyMs: 5_000 });
  const run = loaded.data;
  const again = useAction();
  const gone = <Gone icon="agents" of="run.gone" to={['agents']} back="nav.agents" />;
  if (!run) return <WhenLoaded of={loaded} rows={10} gone={gone} />;
  const isOver = run.status !== 'queued' && run.status !== 'running';
  const rerun = () =>
    again.run(async () => {
      const { runId } = await call('rerunRun', { params: { id } });
      notify(t('run.queuedAgain'));
      go(['agents', 'runs', runId]);
    });
  return (
    <>
      <PageHead title={run.agent} back={<BackLink to={['agents']} label={t('nav.agents')} />}>
        <RunState status={run.status} />
        <span class="grow" />
        {!isOver && (
          <AskButton
            right="cancelRun"
            kind="danger"
            text={t('run.cancel')}
            act={() => call('cancelRun', { params: { id } })}
            after={loaded.reload}
            question={t('run.cancel.text')}
          />
        )}
        <PermittedButton to="rerunRun" icon="refresh" disabled={again.busy} onClick={() => void rerun()}>
          {t('run.again')}
        </PermittedButton>
      </PageHead>
      {again.error ? <Failure error={again.error} /> : null}
      <div class="columns wide-first">
        <div class="stack">
          <Text title={t('run.message')} text={run.message} empty={t('run.wake')} />
          {run.error !== null && <Text title={t('run.error')} text={run.error} empty="" bad />}
          <Text title={t('run.reply')} text={run.reply} empty={isOver ? t('run.noReply') : t('run.notYet')} />
        </div>
        <RunFacts run={run} />
      </div>
      <Deliveries run={run} />
    </>
  );
}

interface TextProps {
  readonly title: string;
  readonly text: string | null;
  readonly empty: string;
  readonly bad?: boolean;
}

function Text({ title, text, empty, bad = false }: TextProps) {
  return (
    <Card title={title} actions={text !== null && <CopyButton text={text} />}>
      {text === null ? (
        <p class="soft">{empty}</p>
      ) : (
        <pre class={`text${bad ? ' bad-text' : ''}`}>{text}</pre>
      )}
    </Card>
  );
}

function RunFacts({ run }: { run: RunDetail }) {
  const { session, rerunOf } = run;
  return (
    <Card title={t('account.facts')}>
      <Facts
        of={[
          [
            t('run.session'),
            session === null ? <None /> : <a href={href(['agents', 'sessions', session])}>{session}</a>,
          ],
          [t('run.origin'), <Tag>{t(`run.origin.${run.origin}`)}</Tag>],
          [t('notices.tries'), run.attempt, 'number'],
          [t('run.acceptedAt'), <At at={run.acceptedAt} />],
          [t('run.startedAt'), <At at={run.startedAt} />],
          [t('run.finishedAt'), <At at={run.finishedAt} />],
          [t('run.took'), tookText(run), 'number'],
          rerunOf !== null && [
            t('run.rerunOf'),
            <a href={href(['agents', 'runs', rerunOf])}>{rerunOf.slice(0, 8)}</a>,
          ],
          [t('run.id'), <code class="break">{run.id}</code>],
        ]}
      />
    </Card>
  );
}

function Deliveries({ run }: { run: RunDetail }) {
  return (
    <Card title={t('run.deliveries')}>
      <SmallTable
        empty={t('run.noDeliveries')}
        rows={run.deliveries}
        id={({ id }) => id}
        columns={[
          ['#', ({ attempt }) => attempt],
          [
            t('run.delivery'),
            ({ delivered }) => (
              <State tone={delivered ? 'good' : 'bad'}>
                {t(`run.delivery.${delivered ? 'delivered' : 'failed'}`)}
              </State>
            ),
          ],
          [t('notices.channel'), ({ channel }) => channel, 'wide-only'],
          [t('run.detail'), ({ detail }) => detail],
          [
            t('run.took'),
            ({ startedAt, finishedAt }) => `${Date.parse(finishedAt) - Date.parse(startedAt)} ms`,
            'end wide-only',
          ],
          [t('logins.at'), ({ startedAt }) => <At at={startedAt} />, 'end'],
        ]}
      />
      {run.nextDeliveryAt !== null && (
        <p class="soft">
          {t('run.nextDelivery')} <At at={run.nextDeliveryAt} />
        </p>
      )}
    </Card>
  );
}
