// `pulsegate account limits`: an account's limits and usage.
import type { Command } from 'commander';
import type { Loaded } from '../config.js';
import type { Account } from '../core/accounts/account.js';
import type { LimitUsage } from '../core/accounts/usage/limits.js';
import { isoOrNull } from '../core/clock.js';
import { findAccount } from './account-show.js';
import { cliActor } from './actor.js';
import { CommandError, type CommandIo, load, printJson, printLine } from './command.js';
import { requestDaemonIfRunning } from './daemon.js';
import { type LimitOptions, NONE, toLimits, withLimitOptions } from './limit-options.js';
import { confirm } from './prompt.js';
import { withCore } from './store.js';
import { formatBytes, formatTime, printFields } from './table.js';

export function addLimitCommands(account: Command, io: CommandIo): void {
  const limits = account
    .command('limits')
    .description("show and change an account's limits and usage")
    .addHelpText(
      'after',
      '\nExamples:\n  pulsegate account limits set player --max-sessions 4 --rate-down 1MiB/s --quota 50GiB --quota-period month\n  pulsegate account limits set player --quota none',
    );
  addShow(limits, io);
  addSet(limits, io);
  addReset(limits, io);
}

function addShow(limits: Command, io: CommandIo): void {
  limits
    .command('show')
    .argument('<account>', 'user name or id')
    .description('show limits and usage')
    .option('--json', 'print JSON')
    .action(async (nameOrId: string, options: { json?: true }, command: Command) => {
      const loaded = await load(command, io);
      await withCore(loaded, async (core) => {
        const { account } = findAccount(core, nameOrId);
        await core.usage.load();
        await print(io, loaded, account, core.usage.view(account), options);
      });
    });
}

function addSet(limits: Command, io: CommandIo): void {
  withLimitOptions(limits.command('set'))
    .argument('<account>', 'user name or id')
    .description(
      'set limits, also for live sessions; limits you do not give stay as they are; none removes a limit',
    )
    .option('--egress-class <name>', 'a class of egress.classes in the configuration')
    .option('--json', 'print JSON')
    .action(
      async (nameOrId: string, { json, ...options }: LimitOptions & { json?: true }, command: Command) => {
        const change = toLimits(options);
        if (Object.keys(change).length === 0)
          throw new CommandError('No limit given. See: pulsegate account limits set --help', 2);
        const loaded = await load(command, io);
        await withCore(loaded, async (core) => {
          const { id } = findAccount(core, nameOrId).account;
          const changed = await core.accounts.patch(id, () => ({ limits: change }), cliActor());
          if (!changed.ok && changed.reason === 'unknown-egress-class') {
            const known = Object.keys(loaded.config.egress.classes).join(', ') || 'none';
            throw new CommandError(
              `Unknown egress class ${JSON.stringify(change.egressClass)}. Configured classes: ${known}.`,
              2,
            );
          }
          if (!changed.ok) throw new CommandError('The account no longer exists.');
          if (!json) return printLimits(io, changed.account, null);
          // From the database: the daemon may not have applied the change yet.
          await core.usage.load();
          printJson(io, present(changed.account, core.usage.view(changed.account)));
        });
      },
    );
}

function addReset(limits: Command, io: CommandIo): void {
  limits
    .command('reset-usage')
    .argument('<account>', 'user name or id')
    .description('reset the usage of the quota period to zero; keeps the daily history')
    .option('--yes', 'skip the confirmation')
    .action(async (nameOrId: string, options: { yes?: true }, command: Command) => {
      await withCore(await load(command, io), async (core) => {
        const { account } = findAccount(core, nameOrId);
        const { id, username } = account;
        await core.usage.load();
        const used = formatBytes(core.usage.view(account).periodBytes);
        await confirm(io, options.yes ?? false, `The usage of ${username} (${used}) will be reset to zero.`);
        if (!(await core.accounts.resetUsage(id, cliActor())))
          throw new CommandError('The account no longer exists.');
        printLine(io.stdout, `Usage of ${username} reset.`);
      });
    });
}

/** Prefers the running daemon's figures: they are current and include live sessions. */
async function print(
  io: CommandIo,
  { config }: Loaded,
  account: Account,
  usage: LimitUsage,
  { json }: { json?: true },
): Promise<void> {
  const stored = present(account, usage);
  const live = (await requestDaemonIfRunning(config, { path: `/accounts/${account.id}/limits` })) as
    | ReturnType<typeof present>
    | undefined;
  if (json) return printJson(io, live ?? stored);
  printLimits(io, account, live?.usage ?? stored.usage);
}

function printLimits(
  io: CommandIo,
  { limits }: Account,
  usage: ReturnType<typeof present>['usage'] | null,
): void {
  const of = (value: string, used: string | false | null): string => (used ? `${value}   (${used})` : value);
  const size = (bytes: number | null, per = ''): string => (bytes === null ? NONE : formatBytes(bytes) + per);
  const until = usage?.periodEndsAt ? `, resets ${formatTime(Date.parse(usage.periodEndsAt), '')}` : '';
  printFields(io, [
    ['max sessions', of(String(limits.maxSessions ?? NONE), usage && `now ${usage.sessions}`)],
    ['max addresses', of(String(limits.maxClientAddresses ?? NONE), usage && `now ${usage.clientAddresses}`)],
    ['rate up', size(limits.bytesPerSecondUp, '/s')],
    ['rate down', size(limits.bytesPerSecondDown, '/s')],
    ['quota', of(size(limits.quotaBytes), usage && `used ${formatBytes(usage.periodBytes)}${until}`)],
    ['quota period', limits.quotaPeriod],
    ['egress class', limits.egressClass ?? NONE],
    ...(usage
      ? ([
          ['total usage', `${formatBytes(usage.totalBytesUp)} up, ${formatBytes(usage.totalBytesDown)} down`],
        ] as const)
      : []),
  ]);
}

/** Limits and usage in the form of /api/v1. */
function present({ limits }: Account, { periodStartedAt, periodEndsAt, ...usage }: LimitUsage) {
  return {
    limits,
    usage: { ...usage, periodStartedAt: isoOrNull(periodStartedAt), periodEndsAt: isoOrNull(periodEndsAt) },
  };
}
