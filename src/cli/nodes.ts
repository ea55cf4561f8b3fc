// `pulsegate node`: lists and drains the daemons that share the database.
import { nodeNameOf } from '../parts/database/node.js';
import { worded } from './shared/api.js';
import { notFound } from './shared/command.js';
import type { AddCommands } from './shared/group.js';
import { formatBytes, formatIso } from './shared/table.js';

const CHANGES = {
  drain: {
    does: 'stop accepting new connections; live sessions continue and /readyz returns 503',
    done: 'Draining NAME: it stops accepting connections when the load balancer had time to notice, and stays drained after a restart. Live sessions continue.',
  },
  undrain: { does: 'accept new connections again', done: 'NAME accepts connections again.' },
} as const;

export const addNodeCommands: AddCommands = (program) => {
  const node = program
    .group('node', 'list and drain the daemons that share the database')
    .examples(
      'node list',
      'node drain gate-2     (then stop it when it has no sessions)',
      'node undrain gate-2',
    );

  node
    .command('list', 'list nodes with their state and load')
    .lists(
      'No nodes found: no daemon has used this database.',
      async ({ call }) => (await call('GET /nodes')).items,
      {
        NAME: ({ name }) => name,
        STATE: ({ state, isDrained }) =>
          isDrained && (state === 'lost' || state === 'stopped') ? `${state}, drained` : state,
        VERSION: ({ version }) => version,
        SESSIONS: ({ sessions }) => String(sessions),
        'UP/S': ({ bytesPerSecondUp }) => formatBytes(bytesPerSecondUp),
        'DOWN/S': ({ bytesPerSecondDown }) => formatBytes(bytesPerSecondDown),
        CPU: ({ cpuPercent }) => `${Math.round(cpuPercent)} %`,
        DATABASE: ({ databaseDelayMs }) => (databaseDelayMs === null ? '' : `${databaseDelayMs} ms`),
        SEEN: ({ renewedAt }) => formatIso(renewedAt, ''),
        'LISTENS ON': ({ addresses }) => addresses.socks.join(' '),
      },
    );

  for (const verb of ['drain', 'undrain'] as const)
    node
      .command(verb, CHANGES[verb].does, { '[name]': 'node name (default: the node of this configuration)' })
      .runs(async ({ call, load }, { name: given }) => {
        const name = given ?? nodeNameOf((await load()).config);
        const missing = notFound('node', name);
        if (name === '') throw missing;
        const changed = call(`POST /nodes/{name}/${verb}`, { params: { name } });
        await worded(changed, { 'no-node': missing, 'path.name': missing });
        return CHANGES[verb].done.replace('NAME', () => name);
      });
};
