// `pulsegate node`: lists and drains the daemons that share the database.
import { nodeNameOf } from '../parts/database/node.js';
import { withApi, worded } from './shared/api.js';
import { type AddCommands, load, printJson, printLine } from './shared/command.js';
import { formatBytes, formatIso, printTable } from './shared/table.js';

export const addNodeCommands: AddCommands = (program, io) => {
  const node = program
    .command('node')
    .description('list and drain the daemons that share the database')
    .addHelpText(
      'after',
      '\nExamples:\n  pulsegate node list\n  pulsegate node drain gate-2     (then stop it when it has no sessions)\n  pulsegate node undrain gate-2',
    );

  node
    .command('list')
    .description('list nodes with their state and load')
    .option('--json', 'print JSON')
    .action(async (options: { json?: true }, command) => {
      await withApi(await load(command, io), async ({ call }) => {
        const { items: nodes } = await call('GET /nodes');
        if (options.json) return printJson(io, nodes);
        if (nodes.length === 0)
          return printLine(io.stderr, 'No nodes found: no daemon has used this database.');
        printTable(
          io,
          ['NAME', 'STATE', 'VERSION', 'SESSIONS', 'UP/S', 'DOWN/S', 'CPU', 'DATABASE', 'SEEN', 'LISTENS ON'],
          nodes.map(({ name, state, isDrained, version, renewedAt, addresses, ...now }) => [
            name,
            isDrained && (state === 'lost' || state === 'stopped') ? `${state}, drained` : state,
            version,
            String(now.sessions),
            formatBytes(now.bytesPerSecondUp),
            formatBytes(now.bytesPerSecondDown),
            `${Math.round(now.cpuPercent)} %`,
            now.databaseDelayMs === null ? '' : `${now.databaseDelayMs} ms`,
            formatIso(renewedAt, ''),
            addresses.socks.join(' '),
          ]),
        );
      });
    });

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
