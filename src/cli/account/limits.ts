// `pulsegate account limits`: an account's limits and usage.
import { type Answer, worded } from '../shared/api.js';
import { CommandError, type CommandIo } from '../shared/command.js';
import { type Group, YES_OPTION } from '../shared/group.js';
import { ACCOUNT_LIMITS, limitLines, toLimits } from '../shared/limit-options.js';
import { formatBytes, formatIso, printFields } from '../shared/table.js';
import { findAccount } from './find.js';
import { ACCOUNT } from './options.js';

export function addLimitCommands(account: Group): void {
  const limits = account
    .group('limits', "show and change an account's limits and usage")
    .examples(
      'account limits set player --max-sessions 4 --rate-down 1MiB/s --quota 50GiB --quota-period month',
      'account limits set player --quota none',
    );

  limits.command('show', 'show limits and usage', ACCOUNT).answers(async (run, { account: nameOrId }) => {
    const { id } = await findAccount(run, nameOrId);
    const shown = await run.call('GET /accounts/{id}/limits', { params: { id } });
    return [shown, () => printLimits(run.io, shown.limits, shown.usage)];
  });

  limits
    .command(
      'set',
      'set limits, also for live sessions; limits you do not give stay as they are; none removes a limit',
      { ...ACCOUNT_LIMITS, ...ACCOUNT },
    )
    .answers(async (run, { account: nameOrId, ...given }) => {
      const body = toLimits(given);
      if (Object.keys(body).length === 0)
        throw new CommandError('No limit given. See: pulsegate account limits set --help', 2);
      const known = Object.keys((await run.load()).config.egress.classes).join(', ') || 'none';
      const unknownClass = `Unknown egress class ${JSON.stringify(given.egressClass)}. Configured classes: ${known}.`;
      const { id } = await findAccount(run, nameOrId);
      const changed = await worded(run.call('PATCH /accounts/{id}/limits', { params: { id }, body }), {
        'body.egressClass': new CommandError(unknownClass, 2),
      });
      return [changed, () => printLimits(run.io, changed.limits, null)];
    });

  limits
    .command('reset-usage', 'reset the usage of the quota period to zero; keeps the daily history', {
      ...ACCOUNT,
      ...YES_OPTION,
    })
    .runs(async (run, { account: nameOrId }) => {
      const { id, username, usage } = await findAccount(run, nameOrId);
      await run.confirm(
        `The usage of ${username} (${formatBytes(usage.periodBytes)}) will be reset to zero.`,
      );
      await run.call('POST /accounts/{id}/usage/reset', { params: { id } });
      return `Usage of ${username} reset.`;
    });
}

type Shown = Answer<'GET /accounts/{id}/limits'>;

function printLimits(io: CommandIo, limits: Shown['limits'], usage: Shown['usage'] | null): void {
  if (usage === null) return printFields(io, limitLines(limits, {}));
  const until = usage.periodEndsAt ? `, resets ${formatIso(usage.periodEndsAt, '')}` : '';
  const notes = {
    maxSessions: `now ${usage.sessions}`,
    maxClientAddresses: `now ${usage.clientAddresses}`,
    quotaBytes: `used ${formatBytes(usage.periodBytes)}${until}`,
  };
  printFields(io, {
    ...limitLines(limits, notes),
    'total usage': `${formatBytes(usage.totalBytesUp)} up, ${formatBytes(usage.totalBytesDown)} down`,
  });
}
