// `pulsegate node`: the daemons that share the database, and taking them out of service.
import { setDrained } from '../core/nodes/drain.js';
import { presentNode } from '../http/v1/nodes.js';
import { nodeNameOf } from '../parts/node.js';
import { cliActor } from './actor.js';
import { type AddCommands, CommandError, load, printJson, printLine } from './command.js';
import { withCore } from './store.js';
import { formatBytes, formatMoment, printTable } from './table.js';

export const addNodeCommands: AddCommands = (program, around) => {
  const node = program
    .command('node')
    .description('the daemons that share the database')
    .addHelpText(
      'after',
      '\nExamples:\n  pulsegate node list\n  pulsegate node drain gate-2     (then stop it when it has no sessions)\n  pulsegate node undrain gate-2',
    );

  node
    .command('list')
    .description('nodes by name: what each does, and whether it is there')
    .option('--json', 'as JSON')
    .action(async (options: { json?: true }, command) => {
      const loaded = await load(command, around);
      await withCore(loaded, async ({ store }) => {
        const nodes = await store.nodes.list();
        const own = nodeNameOf(loaded.config);
        if (options.json)
          return printJson(
            around,
            nodes.map((each) => presentNode(each, own)),
          );
        if (nodes.length === 0) return printLine(around.stderr, 'No daemon has run on this database yet.');
        printTable(
          around,
          ['NAME', 'STATE', 'VERSION', 'SESSIONS', 'UP/S', 'DOWN/S', 'CPU', 'DATABASE', 'SEEN', 'LISTENS ON'],
          nodes.map(({ name, state, isDrained, version, load: now, renewedAt, addresses }) => [
            name,
            isDrained && (state === 'lost' || state === 'stopped') ? `${state}, drained` : state,
            version,
            String(now.sessions),
            formatBytes(now.bytesPerSecondUp),
            formatBytes(now.bytesPerSecondDown),
            `${Math.round(now.cpuPercent)} %`,
            now.databaseDelayMs === null ? '' : `${now.databaseDelayMs} ms`,
            formatMoment(renewedAt, ''),
            addresses.socks.join(' '),
          ]),
        );
      });
    });

  const change = (verb: 'drain' | 'undrain', description: string, done: string) =>
    node
      .command(verb)
      .argument('[name]', 'as `node list` prints it; this machine’s if left out')
      .description(description)
      .action(async (given: string | undefined, _options, command) => {
        const loaded = await load(command, around);
        const name = given ?? nodeNameOf(loaded.config);
        await withCore(loaded, async ({ store }) => {
          if (!(await setDrained(store.nodes, name, verb === 'drain', cliActor())))
            throw new CommandError(`There is no node ${JSON.stringify(name)}. See: pulsegate node list`);
          printLine(
            around.stdout,
            done.replace('NAME', () => name),
          );
        });
      });

  change(
    'drain',
    'take no new connections; sessions go on, and /readyz is 503',
    'NAME is drained: it takes no new connections once the load balancer had time to notice, also after a restart. Its sessions go on.',
  );
  change('undrain', 'take connections again', 'NAME takes connections again.');
};
