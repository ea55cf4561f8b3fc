// The runs of agents: their requests, results and durations. One run: the request, the answer, and the state of its delivery.
import type { Run, RunDetail, RunStatus } from '../../api-types.js';
import { useAction } from '../../lib/action.js';
import { call } from '../../lib/api.js';
import { clock } from '../../lib/format.js';
import { t } from '../../lib/i18n.js';
import { useLoad } from '../../lib/load.js';
import { go, href, partsOf, usePlace } from '../../lib/router.js';
import type { Tone } from '../../ui/basics.js';
import { Ago, At, Card, CopyButton, Facts, None, PermittedButton, State, Tag } from '../../ui/basics.js';
import { AskButton } from '../../ui/dialog.js';
import { type Column, column } from '../../ui/list/columns.js';
import { FilterChips, List, SetFilter } from '../../ui/list/list.js';
import { BackLink, Gone, PageHead } from '../../ui/page.js';
import { SmallTable } from '../../ui/small-table.js';
import { Empty, Failure, WhenLoaded } from '../../ui/states.js';
import { notify } from '../../ui/toast.js';

const RUN_TONES: Readonly<Record<RunStatus, Tone>> = {
  queued: 'none',
  running: 'info',
  succeeded: 'good',
  failed: 'bad',
  timeout: 'warn',
  cancelled: 'none',
};
const STATUSES = Object.keys(RUN_TONES) as RunStatus[];

function RunState({ status }: { status: RunStatus }) {
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

function tookText(run: Run): string {
  if (run.startedAt === null) return '—';
  const end = run.finishedAt === null ? Date.now() : Date.parse(run.finishedAt);
  const ms = end - Date.parse(run.startedAt);
  if (run.finishedAt !== null && ms < 10_000) return t('unit.seconds', { n: (ms / 1_000).toFixed(1) });
  return clock(ms);
}

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
