// `pulsegate plan`: lists, sets and removes plans.
import { InvalidArgumentError } from 'commander';
import {
  isPlanName,
  MAX_PLAN_DAYS,
  MAX_PLAN_NAME,
  MAX_PLANS,
  NO_PLAN_LIMITS,
  type Plan,
  type PlanLimits,
} from '../core/accounts/plans/plans.js';
import { etagOf } from '../http/api/etag.js';
import { type Api, unlessChanged, withApi } from './shared/api.js';
import { type ApiCommand, apiCommand } from './shared/api-command.js';
import { type AddCommands, CommandError, type CommandIo, load, printLine } from './shared/command.js';
import { type LimitOptions, limitWords, NONE, toLimits, withLimitOptions } from './shared/limit-options.js';
import { confirm } from './shared/prompt.js';

export const addPlanCommands: AddCommands = (program, io) => {
  const plan = apiCommand(program, io, 'plan')
    .description('manage the plans by which accounts are created, renewed and upgraded')
    .addHelpText(
      'after',
      '\nExamples:\n  pulsegate plan set month --days 30 --quota 50GiB --max-addresses 2 --rate-down 3MiB/s\n  pulsegate account add player --generate --plan month\n  pulsegate account renew player',
    );

  plan
    .command('list')
    .description('list plans in the order in which they are offered')
    .lists('No plans. See: pulsegate plan set --help', readPlans, {
      NAME: ({ name }) => name,
      DAYS: ({ days }) => (days === null ? 'forever' : String(days)),
      'COUNTED FROM': ({ startsAtFirstLogin }) => (startsAtFirstLogin ? 'first login' : 'creation'),
      LIMITS: ({ limits }) => limitWords(limits),
    });

  addSet(plan, io);

  plan
    .command('remove')
    .argument('<name>', 'plan name')
    .description('remove a plan; accounts keep their expiry and limits')
    .option('--yes', 'skip the confirmation')
    .calls(async (api, name: string, { yes }: { yes?: true }) => {
      if (!(await readPlans(api)).some((each) => each.name === name)) throw noPlan(name);
      await confirm(io, yes, `The plan ${name} will be removed. Accounts keep their expiry and limits.`);
      await save(api, (list) => list.filter((each) => each.name !== name));
      printLine(io.stdout, `Removed ${name}.`);
    });
};

const readPlans = async ({ call }: Api): Promise<Plan[]> => (await call('GET /settings/plans')).plans;

interface SetOptions extends LimitOptions {
  days?: number | null;
  fromFirstLogin?: boolean;
  exit?: string;
}

function addSet(plan: ApiCommand, io: CommandIo): void {
  withLimitOptions(plan.command('set').argument('<name>', 'plan name'), 'plans')
    .description('create or change a plan; values you do not give stay as they are; none removes a limit')
    .option('--days <n>', 'duration in days, or forever', readDays)
    .option('--from-first-login', 'count the days of new accounts from their first login')
    .option('--no-from-first-login', 'count the days of new accounts from their creation')
    .option('--exit <name>', 'exit that accounts of the plan get; none: theirs stays')
    .action(async (name: string, { days, fromFirstLogin, exit, ...limits }: SetOptions, command) => {
      if (!isPlanName(name)) throw new CommandError(`The name must be 1 to ${MAX_PLAN_NAME} characters.`, 2);
      await withApi(await load(command, io), async (api) => {
        const changed = (
          old: Plan = { name, days: 30, startsAtFirstLogin: false, limits: NO_PLAN_LIMITS, exit: null },
        ) => ({
          name,
          days: days === undefined ? old.days : days,
          startsAtFirstLogin: fromFirstLogin ?? old.startsAtFirstLogin,
          exit: exit === undefined ? old.exit : exit === NONE ? null : exit,
          limits: { ...old.limits, ...(toLimits(limits) as Partial<PlanLimits>) },
        });
        const named = (each: Plan): boolean => each.name === name;
        const saved = await save(api, (list) => {
          if (list.some(named)) return list.map((each) => (named(each) ? changed(each) : each));
          if (list.length < MAX_PLANS) return [...list, changed()];
          throw new CommandError(`The limit of ${MAX_PLANS} plans is reached. Remove a plan first.`);
        });
        const next = saved.find(named) ?? changed();
        const length = next.days === null ? 'forever' : `${next.days} days`;
        printLine(io.stdout, `${name}: ${length}, ${limitWords(next.limits)}`);
      });
    });
}

/** Saves what `change` makes of the stored plans; another change in between makes it begin again. */
async function save(api: Api, change: (list: Plan[]) => Plan[]): Promise<Plan[]> {
  for (;;) {
    const plans = await readPlans(api);
    const body = { plans: change(plans) };
    const saved = await api
      .call('PUT /settings/plans', { body, ifMatch: etagOf(plans) })
      .catch(unlessChanged);
    if (saved) return saved.plans;
  }
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
