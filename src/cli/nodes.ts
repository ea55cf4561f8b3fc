// `pulsegate node`: lists and drains the daemons that share the database.
import { nodeNameOf } from '../parts/database/node.js';
import { withApi, worded } from './shared/api.js';
import { apiCommand } from './shared/api-command.js';
import { type AddCommands, load, printLine } from './shared/command.js';
import { formatBytes, formatIso } from './shared/table.js';

export const addNodeCommands: AddCommands = (program, io) => {
  const node = apiCommand(program, io, 'node')
    .description('list and drain the daemons that share the database')
    .addHelpText(
      'after',
      '\nExamples:\n  pulsegate node list\n  pulsegate node drain gate-2     (then stop it when it has no sessions)\n  pulsegate node undrain gate-2',
    );

  node
    .command('list')
    .description('list nodes with their state and load')
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

  const change = (verb: 'drain' | 'undrain', description: string, done: string) =>
    node
      .command(verb)
      .argument('[name]', 'node name (default: the node of this configuration)')
      .description(description)
      .action(async (given: string | undefined, _options, command) => {
        const loaded = await load(command, io);
        const name = given ?? nodeNameOf(loaded.config);
        await withApi(loaded, async ({ call }) => {
          const changed = call(`POST /nodes/{name}/${verb}`, { params: { name } });
          const missing = `No such node: ${JSON.stringify(name)}. See: pulsegate node list`;
          await worded(changed, { 'no-node': missing, 'path.name': missing });
          printLine(
            io.stdout,
            done.replace('NAME', () => name),
          );
        });
      });

  change(
    'drain',
    'stop accepting new connections; live sessions continue and /readyz returns 503',
    'Draining NAME: it stops accepting connections when the load balancer had time to notice, and stays drained after a restart. Live sessions continue.',
  );
  change('undrain', 'accept new connections again', 'NAME accepts connections again.');
};
