// Nodes: the daemons that share the database, the state of each, and how to drain one.
import { useState } from 'preact/hooks';
import type { Node } from '../../api-types.js';
import { call } from '../../lib/api.js';
import { count, rate } from '../../lib/format.js';
import { t } from '../../lib/i18n.js';
import { useLoad } from '../../lib/load.js';
import { Ago, Button, State, type Tone, Traffic } from '../../ui/basics.js';
import { Confirm } from '../../ui/dialog.js';
import { Permitted } from '../../ui/permitted.js';
import { WhenLoaded } from '../../ui/states.js';
import { type Column, Table } from '../../ui/table.js';
import { notify } from '../../ui/toast.js';

const TONES: Readonly<Record<Node['state'], Tone>> = {
  serving: 'good',
  draining: 'warn',
  drained: 'warn',
  lost: 'bad',
  stopped: 'none',
};

export function NodeSettings() {
  const nodes = useLoad('listNodes', {}, { topics: ['settings'], everyMs: 3_000 });
  const { data, reload } = nodes;
  const [draining, setDraining] = useState<Node | null>(null);
  const isLast =
    draining !== null &&
    data?.items.every((one) => one.name === draining.name || one.state !== 'serving') === true;
  const undrain = async (node: Node) => {
    await call('undrainNode', { params: { name: node.name } });
    notify(t('nodes.undrained', { name: node.name }));
    reload();
  };
  const change = (node: Node) => (node.isDrained ? void undrain(node).catch(reload) : setDraining(node));
  return (
    <>
      <p class="soft">{t('nodes.text')}</p>
      <WhenLoaded of={nodes} rows={3} keeps>
        {({ items }) => (
          <Table label={t('settings.nodes')} rows={items} columns={columns(change)} id={(one) => one.name} />
        )}
      </WhenLoaded>
      {draining && (
        <Confirm
          title={t('nodes.drainTitle', { name: draining.name })}
          action={t('nodes.drain')}
          danger
          onClose={() => setDraining(null)}
          act={async () => {
            await call('drainNode', { params: { name: draining.name } });
            notify(t('nodes.drained', { name: draining.name }));
            reload();
          }}
        >
          <p>{t('nodes.drainText')}</p>
          {isLast && <p class="warn-text">{t('nodes.drainOnly')}</p>}
        </Confirm>
      )}
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

function Change({ node, change }: { node: Node; change: (node: Node) => void }) {
  return (
    <Permitted to={node.isDrained ? 'undrainNode' : 'drainNode'}>
      <Button kind="quiet" onClick={() => change(node)}>
        {t(node.isDrained ? 'nodes.undrain' : 'nodes.drain')}
      </Button>
    </Permitted>
  );
}

function columns(change: (node: Node) => void): readonly Column<Node>[] {
  return [
    {
      key: 'name',
      head: t('nodes.name'),
      cell: (one) => (
        <span title={`${one.name} v${one.version}`}>
          <span class="strong">{one.name}</span>{' '}
          <span class="soft">
            v{one.version}
            {one.isThis && ` · ${t('nodes.this')}`}
          </span>
        </span>
      ),
      phone: {
        cell: (one) => (
          <div class="two-lines">
            <span class="strong">{one.name}</span>
            <StateOf node={one} />
          </div>
        ),
      },
    },
    { key: 'state', head: t('nodes.state'), width: '180px', cell: (one) => <StateOf node={one} /> },
    {
      key: 'sessions',
      head: t('nodes.sessions'),
      width: '84px',
      align: 'end',
      cell: (one) => <span class="number">{count(one.sessions)}</span>,
      phone: {
        width: '92px',
        cell: (one) => (
          <div class="two-lines end number">
            <span>{count(one.sessions)}</span>
            <span class="soft">↓ {rate(one.bytesPerSecondDown)}</span>
          </div>
        ),
      },
    },
    {
      key: 'rate',
      head: t('nodes.rate'),
      width: '184px',
      from: 1000,
      align: 'end',
      cell: (one) => <Traffic up={one.bytesPerSecondUp} down={one.bytesPerSecondDown} perSecond />,
    },
    {
      key: 'cpu',
      head: t('nodes.cpu'),
      width: '72px',
      from: 900,
      align: 'end',
      cell: (one) => (
        <span class="number" title={t('nodes.cpu.title')}>
          {Math.round(one.cpuPercent)}%
        </span>
      ),
    },
    {
      key: 'database',
      head: t('nodes.database'),
      width: '92px',
      from: 900,
      align: 'end',
      cell: (one) => (
        <span class="number" title={t('nodes.database.title')}>
          {one.databaseDelayMs === null ? (
            <span class="faint">—</span>
          ) : (
            t('nodes.ms', { n: one.databaseDelayMs })
          )}
        </span>
      ),
    },
    {
      key: 'addresses',
      head: t('nodes.addresses'),
      from: 1200,
      cell: (one) => <span title={one.addresses.socks.join('\n')}>{one.addresses.socks.join(' ')}</span>,
    },
    {
      key: 'seen',
      head: t('nodes.seen'),
      width: '104px',
      from: 700,
      cell: (one) => <Ago at={one.renewedAt} />,
    },
    {
      key: 'drain',
      head: '',
      width: '96px',
      align: 'end',
      cell: (one) => <Change node={one} change={change} />,
      phone: { width: '92px' },
    },
  ];
}
