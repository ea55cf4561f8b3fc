// The version of the daemon, and the configuration in force, key by key. The nodes: the daemons that share the database, the state of
// each, and how to drain one.
import type { EffectiveConfig, Node } from '../../api-types.js';
import { call } from '../../lib/api.js';
import { count, rate } from '../../lib/format.js';
import { t } from '../../lib/i18n.js';
import { useLoad } from '../../lib/load.js';
import { Ago, At, Card, None, PermittedButton, State, Tag, type Tone, Traffic } from '../../ui/basics.js';
import { AskButton } from '../../ui/dialog.js';
import { Icon } from '../../ui/icons.js';
import { type Column, column, Lines } from '../../ui/list/columns.js';
import { Table } from '../../ui/list/table.js';
import { SmallTable } from '../../ui/small-table.js';
import { WhenLoaded } from '../../ui/states.js';
import { notify } from '../../ui/toast.js';

/** Nothing asks the network: what is new is known from the installed files and the calendar. */
function Program({ program }: { program: EffectiveConfig['program'] }) {
  const { version, installedVersion, build, isOld } = program;
  const isOther = installedVersion !== version;
  const notice = isOther
    ? t('program.restart', { installed: installedVersion, running: version })
    : isOld && t('program.old');
  return (
    <Card title={t('program.title')} look="stack">
      <p>
        Pulsegate <strong>{version}</strong>
        {build && (
          <span class="soft">
            {' · '}
            {t('program.build', { commit: build.commit.slice(0, 12) })} <At at={build.date} />
            {' · '}
            <Ago at={build.date} />
          </span>
        )}
      </p>
      {notice && (
        <p class="notice" role="status">
          <Icon name="warn" /> {notice}
        </p>
      )}
    </Card>
  );
}

export function EffectiveSettings() {
  return (
    <WhenLoaded of={useLoad('getEffectiveConfig', {})} rows={12} keeps>
      {(data) => (
        <>
          <Program program={data.program} />
          <Card title={t('settings.effective')} look="stack">
            <p class="soft">
              {t('effective.text')} {data.configFile !== null && <code class="break">{data.configFile}</code>}
            </p>
            <p class="soft">
              {t('effective.startedAt')} <At at={data.startedAt} />
            </p>
            {data.needsRestart.length > 0 && (
              <p class="notice" role="status">
                {t('effective.needsRestart', { keys: data.needsRestart.join(', ') })}
              </p>
            )}
            {data.problem !== null && (
              <p class="notice" role="alert">
                {t('effective.problem', { problem: data.problem })}
              </p>
            )}
            <SmallTable
              look="small stacked"
              rows={data.entries}
              id={({ path }) => path}
              columns={[
                [t('effective.key'), ({ path }) => <code>{path}</code>, 'whole'],
                [
                  t('effective.value'),
                  ({ isSecret, value }) =>
                    isSecret ? <span class="soft">{t('effective.hidden')}</span> : <code>{value}</code>,
                ],
                [
                  t('effective.default'),
                  ({ isSecret, default: standard }) => !isSecret && <code class="faint">{standard}</code>,
                  'break',
                ],
                [
                  t('effective.source'),
                  ({ source }) =>
                    source === 'default' ? (
                      <span class="faint">{t('effective.source.default')}</span>
                    ) : (
                      <Tag>{t(`effective.source.${source}`)}</Tag>
                    ),
                  'whole',
                ],
              ]}
            />
          </Card>
        </>
      )}
    </WhenLoaded>
  );
}

const TONES: Readonly<Record<Node['state'], Tone>> = {
  serving: 'good',
  draining: 'warn',
  drained: 'warn',
  lost: 'bad',
  stopped: 'none',
};

export function NodeSettings() {
  const nodes = useLoad('listNodes', {}, { topics: ['settings'], everyMs: 3_000 });
  return (
    <>
      <p class="soft">{t('nodes.text')}</p>
      <WhenLoaded of={nodes} rows={3} keeps>
        {({ items }) => (
          <Table
            label={t('settings.nodes')}
            rows={items}
            columns={columns(items, nodes.reload)}
            id={(one) => one.name}
          />
        )}
      </WhenLoaded>
    </>
  );
}

function StateOf({ node }: { node: Node }) {
  const isAway = node.state === 'lost' || node.state === 'stopped';
  return (
    <State tone={TONES[node.state]}>
      {t(`nodes.state.${node.state}`)}
      {isAway && node.isDrained && <span class="soft"> · {t('nodes.staysDrained')}</span>}
    </State>
  );
}

interface ChangeProps {
  readonly node: Node;
  readonly nodes: readonly Node[];
  readonly reload: () => void;
}

function Change({ node: { name, isDrained }, nodes, reload }: ChangeProps) {
  const change = async (operation: 'drainNode' | 'undrainNode', done: string) => {
    await call(operation, { params: { name } });
    notify(done);
    reload();
  };
  const undrain = () => change('undrainNode', t('nodes.undrained', { name })).catch(reload);
  if (isDrained)
    return (
      <PermittedButton to="undrainNode" kind="quiet" onClick={() => void undrain()}>
        {t('nodes.undrain')}
      </PermittedButton>
    );
  const isLast = nodes.every((one) => one.name === name || one.state !== 'serving');
  return (
    <AskButton
      right="drainNode"
      kind="quiet"
      text={t('nodes.drain')}
      title={t('nodes.drainTitle', { name })}
      danger
      act={() => change('drainNode', t('nodes.drained', { name }))}
    >
      <p>{t('nodes.drainText')}</p>
      {isLast && <p class="warn-text">{t('nodes.drainOnly')}</p>}
    </AskButton>
  );
}

const onPhone = (one: Node) => (
  <Lines of={[<span class="strong">{one.name}</span>, <StateOf node={one} />]} />
);
const sessionsOnPhone = (one: Node) => (
  <Lines end of={[count(one.sessions), `↓ ${rate(one.bytesPerSecondDown)}`]} />
);

function columns(nodes: readonly Node[], reload: () => void): readonly Column<Node>[] {
  return [
    column('name', 'nodes.name', { phone: { cell: onPhone } }, (one) => (
      <span title={`${one.name} v${one.version}`}>
        <span class="strong">{one.name}</span>{' '}
        <span class="soft">
          v{one.version}
          {one.isThis && ` · ${t('nodes.this')}`}
        </span>
      </span>
    )),
    column('state', 'account.state', { width: 180 }, (one) => <StateOf node={one} />),
    column(
      'sessions',
      'nav.sessions',
      { width: 84, align: 'end', phone: { width: 92, cell: sessionsOnPhone } },
      (one) => count(one.sessions),
    ),
    column('rate', 'sessions.rate', { width: 184, from: 1000, align: 'end' }, (one) => (
      <Traffic up={one.bytesPerSecondUp} down={one.bytesPerSecondDown} perSecond />
    )),
    column('cpu', 'nodes.cpu', { width: 72, from: 900, align: 'end' }, (one) => (
      <span title={t('nodes.cpu.title')}>{Math.round(one.cpuPercent)}%</span>
    )),
    column('database', 'nodes.database', { width: 92, from: 900, align: 'end' }, (one) => (
      <span title={t('nodes.database.title')}>
        {one.databaseDelayMs === null ? <None /> : t('nodes.ms', { n: one.databaseDelayMs })}
      </span>
    )),
    column('addresses', 'nodes.addresses', { from: 1200 }, (one) => (
      <span title={one.addresses.socks.join('\n')}>{one.addresses.socks.join(' ')}</span>
    )),
    column('seen', 'nodes.seen', { width: 104, from: 700 }, (one) => <Ago at={one.renewedAt} />),
    column('drain', '', { width: 96, align: 'end', phone: { width: 92 } }, (one) => (
      <Change node={one} nodes={nodes} reload={reload} />
    )),
  ];
}
