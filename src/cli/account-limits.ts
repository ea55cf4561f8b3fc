// `pulsegate account limits`: what an account may use at most, and what it has used.
import { type Command, InvalidArgumentError, Option } from 'commander';
import { parseSize } from '../config/units.js';
import type { Loaded } from '../config.js';
import type { Account } from '../core/accounts/account.js';
import {
  type AccountLimits,
  type LimitUsage,
  QUOTA_PERIODS,
  type QuotaPeriod,
} from '../core/accounts/limits.js';
import { find } from './account-show.js';
import { cliActor } from './actor.js';
import { CommandError, load, printJson, printLine, type Surroundings } from './command.js';
import { askDaemonIfThere } from './daemon.js';
import { confirm } from './prompt.js';
import { iso } from './runs.js';
import { withCore } from './store.js';
import { formatBytes, formatMoment, printFields } from './table.js';

export function addLimitCommands(account: Command, around: Surroundings): void {
  const limits = account
    .command('limits')
    .description('what an account may use at most, and what it has used')
    .addHelpText(
      'after',
      '\nExamples:\n  pulsegate account limits set player --max-sessions 4 --rate-down 1MiB/s --quota 50GiB --quota-period month\n  pulsegate account limits set player --quota none',
    );
  addShow(limits, around);
  addSet(limits, around);
  addReset(limits, around);
}

function addShow(limits: Command, around: Surroundings): void {
  limits
    .command('show')
    .argument('<account>', 'user name or id')
    .description('limits and usage')
    .option('--json', 'as JSON')
    .action(async (nameOrId: string, options: { json?: true }, command: Command) => {
      const loaded = await load(command, around);
      await withCore(loaded, async (core) => {
        const { account } = find(core, nameOrId);
        await core.usage.load();
        await print(around, loaded, account, core.usage.view(account), options);
      });
    });
}

function addSet(limits: Command, around: Surroundings): void {
  limits
    .command('set')
    .argument('<account>', 'user name or id')
    .description(
      'change limits; what is not given stays, none takes a limit away; live sessions are held to them',
    )
    .option('--max-sessions <n>', 'sessions at once', readCount)
    .option('--max-addresses <n>', 'different client addresses at once', readCount)
    .option('--rate-up <rate>', 'from the client, all its sessions together: 512KiB/s', readRate)
    .option('--rate-down <rate>', 'to the client', readRate)
    .option('--quota <size>', 'up and down together, within a period: 50GiB', readSize)
    .addOption(new Option('--quota-period <period>', 'when it starts again').choices([...QUOTA_PERIODS]))
    .option('--egress-class <name>', 'a name under egress.classes of the configuration')
    .option('--json', 'as JSON')
    .action(async (nameOrId: string, { json, ...options }: SetOptions, command: Command) => {
      const change = toChange(options);
      if (Object.keys(change).length === 0)
        throw new CommandError('Nothing is to be changed. See: pulsegate account limits set --help', 2);
      const loaded = await load(command, around);
      await withCore(loaded, async (core) => {
        const { id } = find(core, nameOrId).account;
        const changed = await core.accounts.patch(id, { limits: change }, cliActor());
        if (!changed.ok && changed.reason === 'unknown-egress-class') {
          const known = Object.keys(loaded.config.egress.classes).join(', ') || 'none';
          throw new CommandError(
            `The configuration has no egress class ${JSON.stringify(change.egressClass)}. There are: ${known}.`,
            2,
          );
        }
        if (!changed.ok) throw new CommandError('The account was removed meanwhile.');
        if (!json) return printLimits(around, changed.account, null);
        // Not the daemon's: it takes the change over within a second.
        await core.usage.load();
        printJson(around, present(changed.account, core.usage.view(changed.account)));
      });
    });
}

function addReset(limits: Command, around: Surroundings): void {
  limits
    .command('reset-usage')
    .argument('<account>', 'user name or id')
    .description('start the quota period again from nothing; the history per day stays')
    .option('--yes', 'do not ask')
    .action(async (nameOrId: string, options: { yes?: true }, command: Command) => {
      const loaded = await load(command, around);
      await withCore(loaded, async (core) => {
        const { account } = find(core, nameOrId);
        const { id, username } = account;
        await core.usage.load();
        const used = formatBytes(core.usage.view(account).periodBytes);
        await confirm(around, options.yes ?? false, `${used} that ${username} has used will not count.`);
        if (!(await core.accounts.resetUsage(id, cliActor())))
          throw new CommandError('The account was removed meanwhile.');
        printLine(around.stdout, `The quota of ${username} starts again.`);
      });
    });
}

/** Takes a limit away. Not null, which commander would take for an empty text. */
const NONE = 'none';

interface SetOptions {
  maxSessions?: number | typeof NONE;
  maxAddresses?: number | typeof NONE;
  rateUp?: number | typeof NONE;
  rateDown?: number | typeof NONE;
  quota?: number | typeof NONE;
  quotaPeriod?: QuotaPeriod;
  egressClass?: string;
  json?: true;
}

/** Null takes a limit away; what was not given is not there. */
function toChange(options: SetOptions): Partial<AccountLimits> {
  const change = {
    maxSessions: options.maxSessions,
    maxClientAddresses: options.maxAddresses,
    bytesPerSecondUp: options.rateUp,
    bytesPerSecondDown: options.rateDown,
    quotaBytes: options.quota,
    quotaPeriod: options.quotaPeriod,
    egressClass: options.egressClass,
  };
  const given = Object.entries(change).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map(([name, value]) => [name, value === NONE ? null : value]));
}

function readCount(text: string): number | typeof NONE {
  if (text === NONE) return NONE;
  const count = Number(text);
  if (/^\d+$/.test(text) && count >= 1 && Number.isSafeInteger(count)) return count;
  throw new InvalidArgumentError('It is a whole number from 1, or none.');
}

function readSize(text: string): number | typeof NONE {
  if (text === NONE) return NONE;
  const bytes = parseSize(text);
  if (bytes !== null && bytes >= 1) return bytes;
  throw new InvalidArgumentError('It is a size such as 500MiB or 50GiB, or none.');
}

function readRate(text: string): number | typeof NONE {
  if (text === NONE) return NONE;
  const bytes = parseSize(text.replace(/\/s$/, ''));
  if (bytes !== null && bytes >= 1) return bytes;
  throw new InvalidArgumentError('It is a rate such as 512KiB/s or 1MiB/s, or none.');
}

/** The running daemon counts by the moment, and knows the sessions; without it there are none. */
async function print(
  around: Surroundings,
  { config }: Loaded,
  account: Account,
  usage: LimitUsage,
  { json }: { json?: true },
): Promise<void> {
  const stored = present(account, usage);
  const live = (await askDaemonIfThere(config, { path: `/accounts/${account.id}/limits` })) as
    | ReturnType<typeof present>
    | undefined;
  if (json) return printJson(around, live ?? stored);
  printLimits(around, account, live?.usage ?? stored.usage);
}

function printLimits(
  around: Surroundings,
  { limits }: Account,
  usage: ReturnType<typeof present>['usage'] | null,
): void {
  const of = (value: string, used: string | false | null): string => (used ? `${value}   (${used})` : value);
  const size = (bytes: number | null, per = ''): string => (bytes === null ? NONE : formatBytes(bytes) + per);
  const until = usage?.periodEndsAt
    ? `, starts again ${formatMoment(Date.parse(usage.periodEndsAt), '')}`
    : '';
  printFields(around, [
    ['sessions at once', of(String(limits.maxSessions ?? NONE), usage && `now ${usage.sessions}`)],
    [
      'addresses at once',
      of(String(limits.maxClientAddresses ?? NONE), usage && `now ${usage.clientAddresses}`),
    ],
    ['rate up', size(limits.bytesPerSecondUp, '/s')],
    ['rate down', size(limits.bytesPerSecondDown, '/s')],
    ['quota', of(size(limits.quotaBytes), usage && `used ${formatBytes(usage.periodBytes)}${until}`)],
    ['quota period', limits.quotaPeriod],
    ['egress class', limits.egressClass ?? NONE],
    ...(usage
      ? ([
          ['used in all', `${formatBytes(usage.totalBytesUp)} up, ${formatBytes(usage.totalBytesDown)} down`],
        ] as const)
      : []),
  ]);
}

/** As the API shows it. */
function present({ limits }: Account, { periodStartedAt, periodEndsAt, ...usage }: LimitUsage) {
  return {
    limits,
    usage: { ...usage, periodStartedAt: iso(periodStartedAt), periodEndsAt: iso(periodEndsAt) },
  };
}
