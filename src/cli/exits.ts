// `pulsegate exit`: manages the named ways out of this machine.
import { type Command, Option } from 'commander';
import { EXIT_FAMILIES, MAX_MARK } from '../core/exits/exit.js';
import { type Answer, worded } from './shared/api.js';
import { apiCommand } from './shared/api-command.js';
import { type AddCommands, CommandError, printJson, printLine } from './shared/command.js';
import { NONE } from './shared/limit-options.js';
import { confirm } from './shared/prompt.js';
import { formatBytes } from './shared/table.js';

interface FieldOptions {
  address?: string[];
  choose?: 'account' | 'session';
  interface?: string;
  mark?: number;
  family?: (typeof EXIT_FAMILIES)[number] | typeof NONE;
  upstream?: string[];
  names?: 'here' | 'proxy';
  default?: boolean;
  json?: true;
}

const withFields = <Of extends Command>(command: Of): Of =>
  command
    .option('--address <address...>', 'source addresses, or IPv6 networks such as 2001:db8::/64')
    .addOption(new Option('--choose <by>', 'each has one address').choices(['account', 'session']))
    .option('--interface <name>', 'network interface that sockets are bound to; none removes it')
    .option('--mark <n>', 'mark of packets, for routes by policy (CAP_NET_ADMIN); 0 removes it', readMark)
    .addOption(new Option('--family <family>', 'address family').choices([...EXIT_FAMILIES, NONE]))
    .option('--upstream <proxy...>', '[socks5://|http://][USER[:PASSWORD]@]host:port in order; none: no')
    .addOption(new Option('--names <where>', 'where --upstream resolves names').choices(['here', 'proxy']))
    .option('--default', 'for accounts without an exit')
    .option('--no-default', 'not for accounts without an exit')
    .option('--json', 'print JSON');

export const addExitCommands: AddCommands = (program, io) => {
  const print = ({ json }: { readonly json?: true }, shown: Exit): void =>
    json ? printJson(io, shown) : printLine(io.stdout, `${shown.name}: ${leavesBy(shown)}.`);
  const exit = apiCommand(program, io, 'exit')
    .description('manage exits: the source addresses or proxies by which sessions leave')
    .addHelpText(
      'after',
      '\nExamples:\n  pulsegate exit add jp --address 192.0.2.7 192.0.2.8\n  pulsegate exit set jp --choose session\n  pulsegate exit test jp\n  pulsegate account update player --exit jp',
    );

  exit
    .command('list')
    .description('list exits')
    .lists(
      'No exits: sessions leave as the system chooses. See: pulsegate exit add --help',
      async ({ call }) => (await call('GET /exits')).items,
      {
        NAME: ({ name, isDefault }) => (isDefault ? `${name} (default)` : name),
        'LEAVES BY': leavesBy,
        STATE: ({ state }) => state ?? '',
        ACCOUNTS: ({ accounts }) => String(accounts),
        SESSIONS: ({ sessions }) => String(sessions),
        UP: ({ bytesUp }) => formatBytes(bytesUp),
        DOWN: ({ bytesDown }) => formatBytes(bytesDown),
        FAILURES: ({ failures }) => String(failures),
        'CONNECT P50': ({ connectMs: { p50 } }) => (p50 === null ? '' : `${p50} ms`),
      },
    );

  withFields(exit.command('add').argument('<name>', 'name of the exit'))
    .description('add an exit, for sessions that begin from now on')
    .calls(async ({ call }, name: string, options: FieldOptions) => {
      const added = call('POST /exits', { body: { name, ...fieldsOf(options) } });
      print(options, await worded(added, REFUSALS));
    });

  withFields(exit.command('set').argument('<name>', 'name of the exit'))
    .description('change an exit; values you do not give stay as they are')
    .calls(async ({ call }, name: string, options: FieldOptions) => {
      const changed = call('PATCH /exits/{name}', { params: { name }, body: fieldsOf(options) });
      print(options, await worded(changed, REFUSALS));
    });

  exit
    .command('remove')
    .argument('<name>', 'name of the exit')
    .description('remove an exit that no account uses; its live sessions go on')
    .option('--yes', 'skip the confirmation')
    .calls(async ({ call }, name: string, options: { yes?: true }) => {
      await confirm(io, options.yes ?? false, `The exit ${name} will be removed.`);
      await worded(call('DELETE /exits/{name}', { params: { name } }), REFUSALS);
      printLine(io.stdout, `Removed ${name}.`);
    });

  exit
    .command('test')
    .argument('<name>', 'name of the exit')
    .description('connect out through an exit to the server of egress.exitTest; needs the daemon')
    .option('--json', 'print JSON')
    .calls(async ({ call }, name: string, options: { json?: true }) => {
      const tested = await worded(call('POST /exits/{name}/test', { params: { name } }), REFUSALS);
      if (options.json) printJson(io, tested);
      if (!tested.ok) throw new CommandError(`The test failed: ${tested.reason}.`);
      if (!options.json)
        printLine(
          io.stdout,
          `Connected in ${tested.connectMs} ms from ${tested.local}; the other side sees ${tested.seen ?? 'an address that its answer does not contain'}.`,
        );
    });
};

/** Undefined fields are not changed. */
function fieldsOf(options: FieldOptions) {
  const { address, interface: device, mark, family, upstream, names } = options;
  return {
    addresses: address?.filter((each) => each !== NONE),
    choose: options.choose,
    interface: device === NONE ? null : device,
    mark: mark === 0 ? null : mark,
    family: family === NONE ? null : family,
    upstreams: upstream?.filter((each) => each !== NONE).map(readUpstream),
    names,
    isDefault: options.default,
  };
}

/** Without a password: the stored one of the same proxy and user name. */
function readUpstream(text: string) {
  const parts = /^(\w+:\/\/)?(?:([^:@]+)(?::(.*))?@)?([^@]+)$/.exec(text);
  if (parts === null)
    throw new CommandError('--upstream must be [socks5://|http://][USER[:PASSWORD]@]host:port.', 2);
  const [, scheme = '', username, password, where = ''] = parts;
  return {
    proxy: scheme + where,
    username: username ?? null,
    password: username === undefined ? null : password,
  };
}

function readMark(text: string): number {
  if (/^\d{1,10}$/.test(text) && Number(text) <= MAX_MARK) return Number(text);
  throw new CommandError(`--mark must be a whole number from 0 to ${MAX_MARK}.`, 2);
}

type Exit = Answer<'GET /exits/{name}'>;

function leavesBy(exit: Exit): string {
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

const REFUSALS = {
  'no-exit': 'No such exit. See: pulsegate exit list',
  'body.name': 'The name must be 1 to 64 letters, digits, dots, dashes and underscores.',
};
