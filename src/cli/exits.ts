// `pulsegate exit` and `pulsegate node`: the named ways out of this machine, and the daemons that share the database.
import { EXIT_FAMILIES, MAX_MARK } from '../core/exits/exit.js';
import { nodeNameOf } from '../parts/database/node.js';
import { type Answer, type Api, type ItemOf, worded } from './shared/api.js';
import { CommandError, found, notFound } from './shared/command.js';
import { type AddCommands, type ValuesOf, YES_OPTION } from './shared/group.js';
import { NONE, textOrNone } from './shared/options.js';

const EXIT = { '<name>': 'name of the exit' } as const;
const FIELDS = {
  '--address <address...>': 'source addresses, or IPv6 networks such as 2001:db8::/64',
  '--choose <by>': { help: 'each has one address', choices: ['account', 'session'] },
  '--interface <name>': {
    help: 'network interface that sockets are bound to; none removes it',
    read: textOrNone,
  },
  '--mark <n>': {
    help: 'mark of packets, for routes by policy (CAP_NET_ADMIN); 0 removes it',
    read: readMark,
  },
  '--family <family>': { help: 'address family', choices: [...EXIT_FAMILIES, NONE] },
  '--upstream <proxy...>':
    '[SCHEME://][USER[:PASSWORD]@]host:port in order; SCHEME: socks5, http, with TLS socks5s, https; none: no',
  '--names <where>': { help: 'where --upstream resolves names', choices: ['here', 'proxy'] },
  '--seller <name...>': 'sellers whose accounts may use it; none: no seller',
  '--default': 'for accounts without an exit',
  '--no-default': 'not for accounts without an exit',
} as const;

export const addExitCommands: AddCommands = (program) => {
  const exit = program
    .group('exit', 'manage exits: the source addresses or proxies by which sessions leave')
    .examples(
      'exit add jp --address 192.0.2.7 192.0.2.8',
      'exit set jp --choose session',
      'exit test jp',
      'account update player --exit jp',
    );

  exit
    .command('list', 'list exits')
    .lists('No exits: sessions leave as the system chooses. See: pulsegate exit add --help', 'GET /exits', [
      { NAME: ({ name, isDefault }) => (isDefault ? `${name} (default)` : name), 'LEAVES BY': leavesBy },
      { STATE: 'state', ACCOUNTS: 'accounts', SESSIONS: 'sessions', UP: 'bytesUp', DOWN: 'bytesDown' },
      { FAILURES: 'failures' },
      { 'CONNECT P50': ({ connectMs: { p50 } }) => (p50 === null ? '' : `${p50} ms`) },
    ]);

  exit
    .command('add', 'add an exit, for sessions that begin from now on', { ...EXIT, ...FIELDS })
    .answers(async ({ call }, { name, ...given }) => {
      const added = await worded(call('POST /exits', { body: { name, ...(await fieldsOf(given, call)) } }), {
        'body.name': 'The name must be 1 to 64 letters, digits, dots, dashes and underscores.',
      });
      return [added, `${name}: ${leavesBy(added)}.`];
    });

  exit
    .command('set', 'change an exit; values you do not give stay as they are', { ...EXIT, ...FIELDS })
    .answers(async ({ call }, { name, ...given }) => {
      const body = await fieldsOf(given, call);
      const shown = await worded(call('PATCH /exits/{name}', { params: { name }, body }), NO_EXIT);
      return [shown, `${name}: ${leavesBy(shown)}.`];
    });

  exit
    .command('remove', 'remove an exit that no account uses; its live sessions go on', {
      ...EXIT,
      ...YES_OPTION,
    })
    .runs(async ({ call, confirm }, { name }) => {
      await confirm(`The exit ${name} will be removed.`);
      await worded(call('DELETE /exits/{name}', { params: { name } }), NO_EXIT);
      return `Removed ${name}.`;
    });

  exit
    .command('test', 'connect out through an exit to the server of egress.exitTest; needs the daemon', EXIT)
    .answers(async ({ call, print }, { name }) => {
      const tested = await worded(call('POST /exits/{name}/test', { params: { name } }), NO_EXIT);
      if (!tested.ok) process.exitCode = 1;
      const show = () => {
        if (!tested.ok) throw new CommandError(`The test failed: ${tested.reason}.`);
        const seen = tested.seen ?? 'an address that its answer does not contain';
        print(`Connected in ${tested.connectMs} ms from ${tested.local}; the other side sees ${seen}.`);
      };
      return [tested, show];
    });
};

const withoutNone = (texts: readonly string[] | undefined) => texts?.filter((text) => text !== NONE);

/** Undefined fields are not changed. */
async function fieldsOf(given: ValuesOf<typeof FIELDS>, call: Api['call']) {
  const { choose, interface: device, mark, family, names } = given;
  const sellers = withoutNone(given.seller);
  return {
    ...{ choose, interface: device, mark, names },
    addresses: withoutNone(given.address),
    family: family === NONE ? null : family,
    upstreams: withoutNone(given.upstream)?.map(readUpstream),
    isDefault: given.default,
    sellers: sellers && (await idsOfSellers(sellers, call)),
  };
}

async function idsOfSellers(names: readonly string[], call: Api['call']): Promise<string[]> {
  const operators = names.length === 0 ? [] : (await call('GET /operators')).items;
  return names.map((name) => {
    const seller = operators.find((each) => each.role === 'seller' && each.name === name);
    return found(seller, 'operator', name, 'seller').id;
  });
}

/** Without a password: the stored one of the same proxy and user name. */
function readUpstream(text: string) {
  const parts = /^(\w+:\/\/)?(?:([^:@]+)(?::(.*))?@)?([^@]+)$/.exec(text);
  if (parts === null) throw new CommandError('--upstream must be [SCHEME://][USER[:PASSWORD]@]host:port.', 2);
  const [, scheme = '', username, password, where = ''] = parts;
  return {
    proxy: scheme + where,
    username: username ?? null,
    password: username === undefined ? null : password,
  };
}

function readMark(text: string): number | null {
  if (/^\d{1,10}$/.test(text) && Number(text) <= MAX_MARK) return Number(text) || null;
  throw new CommandError(`--mark must be a whole number from 0 to ${MAX_MARK}.`, 2);
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

const NO_EXIT = { 'no-exit': 'No such exit. See: pulsegate exit list' };

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
    .lists('No nodes found: no daemon has used this database.', 'GET /nodes', [
      { NAME: 'name', STATE: stateOf, VERSION: 'version', SESSIONS: 'sessions' },
      { 'UP/S': 'bytesPerSecondUp', 'DOWN/S': 'bytesPerSecondDown' },
      { CPU: ({ cpuPercent }) => `${Math.round(cpuPercent)} %` },
      { DATABASE: ({ databaseDelayMs }) => (databaseDelayMs === null ? '' : `${databaseDelayMs} ms`) },
      { SEEN: 'renewedAt', 'LISTENS ON': ({ addresses }) => addresses.socks.join(' ') },
    ]);

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

const stateOf = ({ state, isDrained }: ItemOf<'GET /nodes'>): string =>
  isDrained && (state === 'lost' || state === 'stopped') ? `${state}, drained` : state;
