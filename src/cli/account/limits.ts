// `pulsegate account limits`: an account's limits and usage.
import { type Answer, withApi, worded } from '../shared/api.js';
import type { ApiCommand } from '../shared/api-command.js';
import { CommandError, type CommandIo, load, printJson, printLine } from '../shared/command.js';
import { type LimitOptions, limitLines, toLimits, withLimitOptions } from '../shared/limit-options.js';
import { confirm } from '../shared/prompt.js';
import { formatBytes, formatIso, printFields } from '../shared/table.js';
import { findAccount } from './find.js';

export function addLimitCommands(account: ApiCommand, io: CommandIo): void {
  const limits = account
    .command('limits')
    .description("show and change an account's limits and usage")
    .addHelpText(
      'after',
      '\nExamples:\n  pulsegate account limits set player --max-sessions 4 --rate-down 1MiB/s --quota 50GiB --quota-period month\n  pulsegate account limits set player --quota none',
    );

  limits
    .command('show')
    .argument('<account>', 'user name or id')
    .description('show limits and usage')
    .option('--json', 'print JSON')
    .calls(async (api, nameOrId: string, options: { json?: true }) => {
      const { id } = await findAccount(api, nameOrId);
      const shown = await api.call('GET /accounts/{id}/limits', { params: { id } });
      if (options.json) printJson(io, shown);
      else printLimits(io, shown.limits, shown.usage);
    });

  addSet(limits, io);

  limits
    .command('reset-usage')
    .argument('<account>', 'user name or id')
    .description('reset the usage of the quota period to zero; keeps the daily history')
    .option('--yes', 'skip the confirmation')
    .calls(async (api, nameOrId: string, options: { yes?: true }) => {
      const { id, username, usage } = await findAccount(api, nameOrId);
      const used = formatBytes(usage.periodBytes);
      await confirm(io, options.yes, `The usage of ${username} (${used}) will be reset to zero.`);
      const reset = api.call('POST /accounts/{id}/usage/reset', { params: { id } });
      await worded(reset, { 'no-account': NO_LONGER });
      printLine(io.stdout, `Usage of ${username} reset.`);
    });
}

function addSet(limits: ApiCommand, io: CommandIo): void {
  withLimitOptions(limits.command('set'), 'accounts')
    .argument('<account>', 'user name or id')
    .description(
      'set limits, also for live sessions; limits you do not give stay as they are; none removes a limit',
    )
    .option('--json', 'print JSON')
    .action(
      async (nameOrId: string, { json, ...options }: LimitOptions & { json?: true }, command: ApiCommand) => {
        const change = toLimits(options);
        if (Object.keys(change).length === 0)
          throw new CommandError('No limit given. See: pulsegate account limits set --help', 2);
        const loaded = await load(command, io);
        const known = Object.keys(loaded.config.egress.classes).join(', ') || 'none';
        const unknownClass = `Unknown egress class ${JSON.stringify(change.egressClass)}. Configured classes: ${known}.`;
        await withApi(loaded, async (api) => {
          const { id } = await findAccount(api, nameOrId);
          const changing = api.call('PATCH /accounts/{id}/limits', { params: { id }, body: change });
          const changed = await worded(changing, {
            'body.egressClass': new CommandError(unknownClass, 2),
            'no-account': NO_LONGER,
          });
          if (json) printJson(io, changed);
          else printLimits(io, changed.limits, null);
        });
      },
    );
}

const NO_LONGER = 'The account no longer exists.';

type Shown = Answer<'GET /accounts/{id}/limits'>;

function printLimits(io: CommandIo, limits: Shown['limits'], usage: Shown['usage'] | null): void {
  const until = usage?.periodEndsAt ? `, resets ${formatIso(usage.periodEndsAt, '')}` : '';
  const notes = usage && {
    maxSessions: `now ${usage.sessions}`,
    maxClientAddresses: `now ${usage.clientAddresses}`,
    quotaBytes: `used ${formatBytes(usage.periodBytes)}${until}`,
  };
  const total = usage && `${formatBytes(usage.totalBytesUp)} up, ${formatBytes(usage.totalBytesDown)} down`;
  printFields(io, [...limitLines(limits, notes ?? {}), ...(total ? [['total usage', total] as const] : [])]);
}
