// `pulsegate plan`: the plans by which accounts are created, renewed and upgraded.
import { InvalidArgumentError } from 'commander';
import {
  isPlanName,
  MAX_PLAN_DAYS,
  MAX_PLAN_NAME,
  MAX_PLANS,
  NO_PLAN_LIMITS,
  type Plan,
} from '../core/accounts/plans/plans.js';
import { etagOf } from '../http/api/route.js';
import { type Api, unlessChangedMeanwhile } from './shared/api.js';
import { CommandError, notFound, wrongUsage } from './shared/command.js';
import type { AddCommands } from './shared/group.js';
import { limitWords, nameOrNone, PLAN_LIMITS } from './shared/options.js';
import { param, toggle } from './shared/params.js';
import { type Columns, printTable } from './shared/table.js';

export const addPlanCommands: AddCommands = (program) =>
  program
    .group('plan', 'manage the plans by which accounts are created, renewed and upgraded')
    .examples(
      'plan set month --days 30 --quota 50GiB --max-addresses 2 --rate-down 3MiB/s',
      'account add player --generate --plan month',
      'account renew player',
    )

    .command('list', 'list plans in the order in which they are offered')
    .answers(async (run) => {
      const plans = await readPlans(run);
      return [plans, () => printTable(run.io, plans, COLUMNS, 'No plans. See: pulsegate plan set --help')];
    })

    .command(
      'set',
      'create or change a plan; values you do not give stay as they are; none removes a limit',
      { name: '<name>  plan name' },
      TERMS,
    )
    .runs(async (api, { name, limits, ...terms }) => {
      if (!isPlanName(name)) throw wrongUsage(`The name must be 1 to ${MAX_PLAN_NAME} characters.`);
      const saved = await save(api, (list) => {
        const at = list.findIndex((each) => each.name === name);
        const old = list[at] ?? { name, ...NEW_PLAN };
        const next = { ...old, ...terms, limits: { ...old.limits, ...limits } };
        if (at >= 0) return list.with(at, next);
        if (list.length < MAX_PLANS) return [...list, next];
        throw new CommandError(`The limit of ${MAX_PLANS} plans is reached. Remove a plan first.`);
      });
      const { days, limits: set } = saved.find((each) => each.name === name) ?? NEW_PLAN;
      return `${name}: ${days === null ? 'forever' : `${days} days`}, ${limitWords(set)}`;
    })

    .command('remove', 'remove a plan; accounts keep their expiry and limits', {
      name: param('<name>  plan name').finds(findPlan),
    })
    .asks(({ name }) => `The plan ${name} will be removed. Accounts keep their expiry and limits.`)
    .runs(async (run, { name }) => {
      await save(run, (list) => list.filter((each) => each.name !== name));
      return `Removed ${name}.`;
    });

const COLUMNS: Columns<Plan> = [
  { NAME: 'name', DAYS: ({ days }) => (days === null ? 'forever' : String(days)) },
  { 'COUNTED FROM': ({ startsAtFirstLogin }) => (startsAtFirstLogin ? 'first login' : 'creation') },
  { LIMITS: ({ limits }) => limitWords(limits), EXIT: 'exit' },
];

const TERMS = {
  limits: PLAN_LIMITS,
  days: param('--days <n>  duration in days, or forever', readDays),
  startsAtFirstLogin: toggle(
    '--from-first-login  count the days of new accounts from their first login',
    '--no-from-first-login  count the days of new accounts from their creation',
  ),
  exit: nameOrNone('--exit <name>  exit that accounts of the plan get; none: theirs stays'),
};

const NEW_PLAN = { days: 30, startsAtFirstLogin: false, limits: NO_PLAN_LIMITS, exit: null };

const readPlans = async ({ call }: Api): Promise<Plan[]> => (await call('GET /settings/plans')).plans;

async function findPlan(api: Api, name: string): Promise<string> {
  if ((await readPlans(api)).some((each) => each.name === name)) return name;
  throw notFound('plan', name);
}

/** Saves what `change` makes of the stored plans. */
const save = (api: Api, change: (list: Plan[]) => Plan[]): Promise<Plan[]> =>
  unlessChangedMeanwhile(async () => {
    const plans = await readPlans(api);
    const body = { plans: change(plans) };
    return (await api.call('PUT /settings/plans', { body, ifMatch: etagOf(plans) })).plans;
  });

function readDays(text: string): number | null {
  if (text === 'forever') return null;
  const days = Number(text);
  if (/^\d+$/.test(text) && days >= 1 && days <= MAX_PLAN_DAYS) return days;
  throw new InvalidArgumentError(`Use a whole number from 1 to ${MAX_PLAN_DAYS}, or forever.`);
}
