// One run: the request, the answer, and the state of its delivery.
import { useState } from 'preact/hooks';
import type { RunDetail } from '../../api-types.js';
import { ApiError, call } from '../../lib/api.js';
import { listAddress } from '../../lib/arrival.js';
import { t } from '../../lib/i18n.js';
import { useLoad } from '../../lib/load.js';
import { go, href } from '../../lib/router.js';
import { At, Button, CopyButton, State, Tag } from '../../ui/basics.js';
import { Confirm, useAction } from '../../ui/dialog.js';
import { Icon } from '../../ui/icons.js';
import { Permitted } from '../../ui/permitted.js';
import { Empty, Failure, Skeleton } from '../../ui/states.js';
import { notify } from '../../ui/toast.js';
import { RunState, tookText } from './runs.js';

export function RunPage({ id }: { id: string }) {
  const {
    data: run,
    error,
    reload,
  } = useLoad('getRun', { params: { id } }, { topics: ['runs'], everyMs: 5_000 });
  const [cancelling, setCancelling] = useState(false);
  const again = useAction();
  if (!run) {
    if (error instanceof ApiError && error.code === 'not-found') {
      return (
        <Empty
          icon="agents"
          title={t('run.gone')}
          action={
            <a class="button" href={href(['agents'])}>
              {t('nav.agents')}
            </a>
          }
        >
          {t('run.gone.text')}
        </Empty>
      );
    }
    return error ? <Failure error={error} retry={reload} /> : <Skeleton rows={10} />;
  }
  const isOver = run.status !== 'queued' && run.status !== 'running';
  const rerun = () =>
    again.run(async () => {
      const { runId } = await call('rerunRun', { params: { id } });
      notify(t('run.queuedAgain'));
      go(['agents', 'runs', runId]);
    });
  return (
    <>
      <header class="page-head">
        <a class="button quiet icon-only" href={listAddress(['agents'])} aria-label={t('nav.agents')}>
          <Icon name="back" />
        </a>
        <h1>{run.agent}</h1>
        <RunState status={run.status} />
        <span class="grow" />
        {!isOver && (
          <Permitted to="cancelRun">
            <Button kind="danger" onClick={() => setCancelling(true)}>
              {t('run.cancel')}
            </Button>
          </Permitted>
        )}
        <Permitted to="rerunRun">
          <Button icon="refresh" disabled={again.busy} onClick={() => void rerun()}>
            {t('run.again')}
          </Button>
        </Permitted>
      </header>
      {again.error ? <Failure error={again.error} /> : null}
      <div class="columns wide-first">
        <div class="stack">
          <Text title={t('run.message')} text={run.message} empty={t('run.wake')} />
          {run.error !== null && <Text title={t('run.error')} text={run.error} empty="" bad />}
          <Text title={t('run.reply')} text={run.reply} empty={isOver ? t('run.noReply') : t('run.notYet')} />
        </div>
        <Facts run={run} />
      </div>
      <Deliveries run={run} />
      {cancelling && (
        <Confirm
          title={t('run.cancel')}
          action={t('run.cancel')}
          danger
          onClose={() => setCancelling(false)}
          act={async () => {
            await call('cancelRun', { params: { id } });
            reload();
          }}
        >
          <p>{t('run.cancel.text')}</p>
        </Confirm>
      )}
    </>
  );
}

function Text({
  title,
  text,
  empty,
  bad = false,
}: {
  title: string;
  text: string | null;
  empty: string;
  bad?: boolean;
}) {
  return (
    <section class="card">
      <header class="row">
        <h2>{title}</h2>
        <span class="grow" />
        {text !== null && <CopyButton text={text} />}
      </header>
      {text === null ? (
        <p class="soft">{empty}</p>
      ) : (
        <pre class={`text${bad ? ' bad-text' : ''}`}>{text}</pre>
      )}
    </section>
  );
}

function Facts({ run }: { run: RunDetail }) {
  return (
    <section class="card">
      <h2>{t('run.facts')}</h2>
      <dl class="facts">
        <dt>{t('run.session')}</dt>
        <dd>
          {run.session === null ? (
            <span class="faint">—</span>
          ) : (
            <a href={href(['agents', 'sessions', run.session])}>{run.session}</a>
          )}
        </dd>
        <dt>{t('run.origin')}</dt>
        <dd>
          <Tag>{t(`run.origin.${run.origin}`)}</Tag>
        </dd>
        <dt>{t('run.attempt')}</dt>
        <dd class="number">{run.attempt}</dd>
        <dt>{t('run.acceptedAt')}</dt>
        <dd>
          <At at={run.acceptedAt} />
        </dd>
        <dt>{t('run.startedAt')}</dt>
        <dd>
          <At at={run.startedAt} />
        </dd>
        <dt>{t('run.finishedAt')}</dt>
        <dd>
          <At at={run.finishedAt} />
        </dd>
        <dt>{t('run.took')}</dt>
        <dd class="number">{tookText(run)}</dd>
        {run.rerunOf !== null && (
          <>
            <dt>{t('run.rerunOf')}</dt>
            <dd>
              <a href={href(['agents', 'runs', run.rerunOf])}>{run.rerunOf.slice(0, 8)}</a>
            </dd>
          </>
        )}
        <dt>{t('run.id')}</dt>
        <dd>
          <code class="break">{run.id}</code>
        </dd>
      </dl>
    </section>
  );
}

function Deliveries({ run }: { run: RunDetail }) {
  return (
    <section class="card">
      <h2>{t('run.deliveries')}</h2>
      {run.deliveries.length === 0 ? (
        <p class="soft">{t('run.noDeliveries')}</p>
      ) : (
        <table class="small">
          <thead>
            <tr>
              <th scope="col">#</th>
              <th scope="col">{t('run.delivery')}</th>
              <th scope="col" class="wide-only">
                {t('run.channel')}
              </th>
              <th scope="col">{t('run.detail')}</th>
              <th scope="col" class="end wide-only">
                {t('run.took')}
              </th>
              <th scope="col" class="end">
                {t('logins.at')}
              </th>
            </tr>
          </thead>
          <tbody>
            {run.deliveries.map((one) => (
              <tr key={one.id}>
                <td class="number">{one.attempt}</td>
                <td>
                  <State tone={one.delivered ? 'good' : 'bad'}>
                    {t(one.delivered ? 'run.delivery.delivered' : 'run.delivery.failed')}
                  </State>
                </td>
                <td class="wide-only">{one.channel}</td>
                <td class="break">{one.detail}</td>
                <td class="end number wide-only">
                  {Date.parse(one.finishedAt) - Date.parse(one.startedAt)} ms
                </td>
                <td class="end">
                  <At at={one.startedAt} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {run.nextDeliveryAt !== null && (
        <p class="soft">
          {t('run.nextDelivery')} <At at={run.nextDeliveryAt} />
        </p>
      )}
    </section>
  );
}
