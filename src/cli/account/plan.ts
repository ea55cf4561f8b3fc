// `pulsegate account renew` and `account upgrade`: apply a plan to accounts.
import type { PlanLimits } from '../../core/accounts/plans/plans.js';
import type { Answer, ItemOf } from '../shared/api.js';
import { CommandError, notFound, wrongUsage } from '../shared/command.js';
import type { AddCommands } from '../shared/group.js';
import { limitWords } from '../shared/options.js';
import { param } from '../shared/params.js';
import type { Run } from '../shared/run.js';
import { countOf, printTable } from '../shared/table.js';
import { ACCOUNTS } from './find.js';
import { expiryWords } from './show.js';

const DRY_RUN = { dryRun: '--dry-run  show what would change without writing anything' } as const;
const NEW_PLAN = { plan: param('--plan <name>  name of the new plan').required() };
/** Most accounts of which one preview shows the change. */
const SHOWN = 100;

export const addRenewAndUpgrade: AddCommands = (account) =>
  account
    .command(
      'renew',
      'add the days of a plan to the later of now and the expiry, and set its limits; a quota that never resets is added to the remaining traffic',
      ACCOUNTS,
      { plan: "--plan <name>  plan name (default: each account's own plan)" },
      DRY_RUN,
    )
    .asks()
    .runs((run, given) => usePlan(run, 'renew', given))

    .command('upgrade', 'set the limits of another plan; the expiry stays', ACCOUNTS, NEW_PLAN, DRY_RUN)
    .asks()
    .runs((run, given) => usePlan(run, 'upgrade', given));

interface Given {
  readonly accounts: readonly ItemOf<'GET /accounts'>[];
  readonly plan?: string;
  readonly dryRun?: boolean;
}

async function usePlan(run: Run, use: 'renew' | 'upgrade', given: Given): Promise<string> {
  const { plan = null } = given;
  const plans = new Map(given.accounts.map(({ id, plan: own }) => [id, own]));
  const refusals = plan === null ? {} : { 'body.action.plan': notFound('plan', plan) };
  const apply = (ids: readonly string[], dryRun: boolean) =>
    run.call('POST /accounts/bulk', { body: { ids, action: { type: 'plan', use, plan }, dryRun } }, refusals);
  const preview = async () => {
    const previews = [];
    for (let rest = [...plans.keys()]; rest.length > 0; rest = rest.slice(SHOWN))
      previews.push(await apply(rest.slice(0, SHOWN), true));
    return {
      changes: previews.flatMap((each) => each.changes),
      skipped: previews.flatMap((each) => each.skipped),
    };
  };
  const { changes, skipped } = await preview();
  for (const { id, username, reason } of skipped) {
    const own = plans.get(id ?? '');
    if (reason === 'no-plan' && own) throw notFound('plan', own);
    if (reason === 'no-plan') throw wrongUsage(`${username} has no plan. Give one with --plan.`);
    run.print(
      `${username} ${reason === 'already-so' ? 'already has these terms' : `is left out: ${reason}`}.`,
    );
  }
  if (changes.length === 0) return 'Nothing was changed.';
  printTable(run.io, changes, [
    { 'USER NAME': 'username', PLAN: ({ after }) => termsOf(after).plan },
    { EXPIRES: ({ before }) => expiryWords(termsOf(before)) },
    { 'NEW EXPIRY': ({ after }) => expiryWords(termsOf(after)) },
    { 'NEW LIMITS': ({ after }) => limitWords(termsOf(after)) },
  ]);
  if (given.dryRun) return 'Nothing was written.';
  await run.confirm(`${countOf(changes.length, 'account')} will be changed as shown.`);
  const now = new Map((await preview()).changes.map(({ id, before }) => [id, JSON.stringify(before)]));
  for (const { id, username, before } of changes)
    if (now.get(id) !== JSON.stringify(before))
      throw new CommandError(
        `Nothing was changed, because ${username} has changed since. Run the command again.`,
      );
  const ids = changes.map(({ id }) => id);
  if ((await apply(ids, false)).count < ids.length)
    throw new CommandError('Some of the accounts no longer exist; the others were changed.');
  return `${countOf(ids.length, 'account')} changed.`;
}

/** What a change by a plan says of an account before and after. */
const termsOf = (said: Readonly<Record<string, unknown>> | null) =>
  said as unknown as PlanLimits &
    Pick<Answer<'GET /accounts/{id}'>, 'expiresAt' | 'daysFromFirstLogin'> & { plan: string };
