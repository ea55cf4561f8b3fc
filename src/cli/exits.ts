// `pulsegate exit` and `pulsegate node`: the named ways out of this machine, and the daemons that share the database.
import { EXIT_FAMILIES, MAX_MARK } from '../core/exits/exit.js';
import { nodeNameOf } from '../parts/database/node.js';
import type { Answer, Api, ItemOf } from './shared/api.js';
import { CommandError, found, notFound, wrongUsage } from './shared/command.js';
import type { AddCommands } from './shared/group.js';
import { NONE, nameOrNone } from './shared/options.js';
import { choice, type Described, madeOf, param, repeated, toggle } from './shared/params.js';

const EXIT = { name: '<name>  name of the exit' } as const;
const list = <Item>(described: Described, read: (text: string) => Item) =>
  repeated(described, (text) => (text === NONE ? [] : [read(text)]));
const FIELDS = {
  addresses: list('--address <address...>  source addresses, or IPv6 networks such as 2001:db8::/64', String),
  choose: choice('--choose <by>  each has one address', ['account', 'session']),
  interface: nameOrNone('--interface <name>  network interface that sockets are bound to; none removes it'),
  mark: param('--mark <n>  mark of packets, for routes by policy (CAP_NET_ADMIN); 0 removes it', readMark),
  family: choice('--family <family>  address family', [...EXIT_FAMILIES, NONE]).finds(async (_, family) =>
    family === NONE ? null : family,
  ),
  upstreams: list(
    '--upstream <proxy...>  [SCHEME://][USER[:PASSWORD]@]host:port in order; SCHEME: socks5, http, with TLS socks5s, https; none: no',
    readUpstream,
  ),
  names: choice('--names <where>  where --upstream resolves names', ['here', 'proxy']),
  sellers: list('--seller <name...>  sellers whose accounts may use it; none: no seller', String).finds(
    idOfSeller,
  ),
  isDefault: toggle(
    '--default  for accounts without an exit',
    '--no-default  not for accounts without an exit',
  ),
};
const REFUSALS = {
  'body.name': 'The name must be 1 to 64 letters, digits, dots, dashes and underscores.',
  'no-exit': 'No such exit. See: pulsegate exit list',
};

export const addExitCommands: AddCommands = (program) =>
  program
    .group('exit', 'manage exits: the source addresses or proxies by which sessions leave', REFUSALS)
    .examples(
      'exit add jp --address 192.0.2.7 192.0.2.8',
      'exit set jp --choose session',
      'exit test jp',
      'account update player --exit jp',
    )

    .command('list', 'list exits')
    .lists('No exits: sessions leave as the system chooses. See: pulsegate exit add --help', 'GET /exits', [
      { NAME: ({ name, isDefault }) => (isDefault ? `${name} (default)` : name), 'LEAVES BY': leavesBy },
      { STATE: 'state', ACCOUNTS: 'accounts', SESSIONS: 'sessions', UP: 'bytesUp', DOWN: 'bytesDown' },
      { FAILURES: 'failures' },
      { 'CONNECT P50': ({ connectMs: { p50 } }) => (p50 === null ? '' : `${p50} ms`) },
    ])

    .command('add', 'add an exit, for sessions that begin from now on', EXIT, FIELDS)
    .calls('POST /exits', ({ name }, added) => `${name}: ${leavesBy(added)}.`)

    .command('set', 'change an exit; values you do not give stay as they are', EXIT, FIELDS)
    .calls('PATCH /exits/{name}', ({ name }, changed) => `${name}: ${leavesBy(changed)}.`)

    .command('remove', 'remove an exit that no account uses; its live sessions go on', EXIT)
    .asks(({ name }) => `The exit ${name} will be removed.`)
    .does('DELETE /exits/{name}', ({ name }) => `Removed ${name}.`)

    .command('test', 'connect out through an exit to the server of egress.exitTest; needs the daemon', EXIT)
    .calls('POST /exits/{name}/test', (_, tested) => {
      if (!tested.ok) process.exitCode = 1;
      return () => {
        if (!tested.ok) throw new CommandError(`The test failed: ${tested.reason}.`);
        const seen = tested.seen ?? 'an address that its answer does not contain';
        return `Connected in ${tested.connectMs} ms from ${tested.local}; the other side sees ${seen}.`;
      };
    });

async function idOfSeller({ call }: Api, name: string): Promise<string> {
  const { items } = await call('GET /operators');
  const seller = items.find((each) => each.role === 'seller' && each.name === name);
  return found(seller, 'operator', name, 'seller').id;
}

/** Without a password: the stored one of the same proxy and user name. */
function readUpstream(text: string) {
  const parts = /^(\w+:\/\/)?(?:([^:@]+)(?::(.*))?@)?([^@]+)$/.exec(text);
  if (parts === null) throw wrongUsage('--upstream must be [SCHEME://][USER[:PASSWORD]@]host:port.');
  const [, scheme = '', username, password, where = ''] = parts;
  return {
    proxy: scheme + where,
    username: username ?? null,
    password: username === undefined ? null : password,
  };
}

function readMark(text: string): number | null {
  if (/^\d{1,10}$/.test(text) && Number(text) <= MAX_MARK) return Number(text) || null;
  throw wrongUsage(`--mark must be a whole number from 0 to ${MAX_MARK}.`);
}

function leavesBy(exit: Answer<'GET /exits/{name}'>): string {
  const { addresses, interface: device, mark, upstreams, family } = exit;
  const parts = [
    upstreams.map(({ proxy, isUp }) => (isUp === false ? `${proxy} (down)` : proxy)).join(', then '),
    addresses.join(', '),
    device === null ? '' : `interface ${device}`,
    mark === null ? '' : `mark ${mark}`,
    family ?? '',
  ];
  return parts.filter((part) => part !== '').join('; ') || 'as the system chooses';
}

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
    )

    .command('list', 'list nodes with their state and load')
    .lists('No nodes found: no daemon has used this database.', 'GET /nodes', [
      { NAME: 'name', STATE: stateOf, VERSION: 'version', SESSIONS: 'sessions' },
      { 'UP/S': 'bytesPerSecondUp', 'DOWN/S': 'bytesPerSecondDown' },
      { CPU: ({ cpuPercent }) => `${Math.round(cpuPercent)} %` },
      { DATABASE: ({ databaseDelayMs }) => (databaseDelayMs === null ? '' : `${databaseDelayMs} ms`) },
      { SEEN: 'renewedAt', 'LISTENS ON': ({ addresses }) => addresses.socks.join(' ') },
    ]);

  for (const verb of ['drain', 'undrain'] as const)
    node
      .command(verb, CHANGES[verb].does, {
        name: madeOf(
          { given: '[name]  node name (default: the node of this configuration)' },
          async ({ given }, { load }) => given ?? nodeNameOf((await load()).config),
        ),
      })
      .refuses(({ name }) => {
        const missing = notFound('node', name);
        if (name === '') throw missing;
        return { 'no-node': missing, 'path.name': missing };
      })
      .does(`POST /nodes/{name}/${verb}`, ({ name }) => CHANGES[verb].done.replace('NAME', () => name));
};

const stateOf = ({ state, isDrained }: ItemOf<'GET /nodes'>): string =>
  isDrained && (state === 'lost' || state === 'stopped') ? `${state}, drained` : state;
