// `pulsegate plan`: lists, sets and removes plans.
import { type Command, InvalidArgumentError } from 'commander';
import {
  isPlanName,
  MAX_PLAN_DAYS,
  MAX_PLAN_NAME,
  MAX_PLANS,
  NO_PLAN_LIMITS,
  type Plan,
  type PlanLimits,
} from '../core/accounts/plans/plans.js';
import { cliActor } from './actor.js';
import { type AddCommands, CommandError, type CommandIo, load, printJson, printLine } from './command.js';
import { type LimitOptions, toLimits, withLimitOptions } from './limit-options.js';
import { confirm } from './prompt.js';
import { withCore } from './store.js';
import { countOf, formatBytes, printTable } from './table.js';

export const addPlanCommands: AddCommands = (program, io) => {
  const plan = program
    .command('plan')
    .description('manage the plans by which accounts are created, renewed and upgraded')
    .addHelpText(
      'after',
      '\nExamples:\n  pulsegate plan set month --days 30 --quota 50GiB --max-addresses 2 --rate-down 3MiB/s\n  pulsegate account add player --generate --plan month\n  pulsegate account renew player',
    );
  addList(plan, io);
  addSet(plan, io);
  addRemove(plan, io);
};

function addList(plan: Command, io: CommandIo): void {
  plan
    .command('list')
    .description('list plans in the order in which they are offered')
    .option('--json', 'print JSON')
    .action(async (options: { json?: true }, command: Command) => {
      await withCore(await load(command, io), async ({ plans }) => {
        const list = plans.list();
        if (options.json) return printJson(io, list);
        if (list.length === 0) return printLine(io.stderr, 'No plans. See: pulsegate plan set --help');
        printTable(
          io,
          ['NAME', 'DAYS', 'COUNTED FROM', 'LIMITS'],
          list.map((each) => [
            each.name,
            each.days === null ? 'forever' : String(each.days),
            each.startsAtFirstLogin ? 'first login' : 'creation',
            limitWords(each.limits),
          ]),
        );
      });
    });
}

interface SetOptions extends LimitOptions {
  days?: number | null;
  fromFirstLogin?: boolean;
}

function addSet(plan: Command, io: CommandIo): void {
  withLimitOptions(plan.command('set').argument('<name>', 'plan name'))
    .description('create or change a plan; values you do not give stay as they are; none removes a limit')
    .option('--days <n>', 'duration in days, or forever', readDays)
    .option('--from-first-login', 'count the days of new accounts from their first login')
    .option('--no-from-first-login', 'count the days of new accounts from their creation')
    .action(async (name: string, { days, fromFirstLogin, ...limits }: SetOptions, command: Command) => {
      if (!isPlanName(name)) throw new CommandError(`The name must be 1 to ${MAX_PLAN_NAME} characters.`, 2);
      await withCore(await load(command, io), async ({ plans }) => {
        const changed = (
          old: Plan = { name, days: 30, startsAtFirstLogin: false, limits: NO_PLAN_LIMITS },
        ) => ({
          name,
          days: days === undefined ? old.days : days,
          startsAtFirstLogin: fromFirstLogin ?? old.startsAtFirstLogin,
          limits: { ...old.limits, ...(toLimits(limits) as Partial<PlanLimits>) },
        });
        const named = (each: Plan): boolean => each.name === name;
        const refused = await plans.save(
          (list) =>
            list.some(named)
              ? list.map((each) => (named(each) ? changed(each) : each))
              : [...list, changed()],
          cliActor(),
          (list) => (list.length >= MAX_PLANS && !list.some(named) ? 'full' : null),
        );
        if (refused)
          throw new CommandError(`The limit of ${MAX_PLANS} plans is reached. Remove a plan first.`);
        const next = plans.byName(name) ?? changed();
        const length = next.days === null ? 'forever' : `${next.days} days`;
        printLine(io.stdout, `${name}: ${length}, ${limitWords(next.limits)}`);
      });
    });
}

function addRemove(plan: Command, io: CommandIo): void {
  plan
    .command('remove')
    .argument('<name>', 'plan name')
    .description('remove a plan; accounts keep their expiry and limits')
    .option('--yes', 'skip the confirmation')
    .action(async (name: string, options: { yes?: true }, command: Command) => {
      await withCore(await load(command, io), async ({ plans }) => {
        if (!plans.byName(name)) throw noPlan(name);
        await confirm(
          io,
          options.yes ?? false,
          `The plan ${name} will be removed. Accounts keep their expiry and limits.`,
        );
        await plans.save((list) => list.filter((each) => each.name !== name), cliActor());
        printLine(io.stdout, `Removed ${name}.`);
      });
    });
}

export function noPlan(name: string): CommandError {
  return new CommandError(`No such plan: ${JSON.stringify(name)}. See: pulsegate plan list`);
}

function readDays(text: string): number | null {
  if (text === 'forever') return null;
  const days = Number(text);
  if (/^\d+$/.test(text) && days >= 1 && days <= MAX_PLAN_DAYS) return days;
  throw new InvalidArgumentError(`Use a whole number from 1 to ${MAX_PLAN_DAYS}, or forever.`);
}

/** `50 GiB per month, 2 addresses, 3 MiB/s down`; `no limits` where there are none. */
export function limitWords(limits: PlanLimits): string {
  const { quotaBytes, quotaPeriod, maxSessions, maxClientAddresses } = limits;
  const period = quotaPeriod === 'never' ? 'in total' : `per ${quotaPeriod}`;
  const words = [
    quotaBytes === null ? null : `${formatBytes(quotaBytes)} ${period}`,
    maxSessions === null ? null : countOf(maxSessions, 'session'),
    maxClientAddresses === null
      ? null
      : `${maxClientAddresses} ${maxClientAddresses === 1 ? 'address' : 'addresses'}`,
    limits.bytesPerSecondDown === null ? null : `${formatBytes(limits.bytesPerSecondDown)}/s down`,
    limits.bytesPerSecondUp === null ? null : `${formatBytes(limits.bytesPerSecondUp)}/s up`,
  ].filter((word) => word !== null);
  return words.length === 0 ? 'no limits' : words.join(', ');
}
