// `pulsegate account renew` and `account upgrade`: apply a plan to accounts.
import type { Account } from '../../core/accounts/account.js';
import { type AccountChange, changed } from '../../core/accounts/account-input.js';
import { type PlanUse, planFor } from '../../core/accounts/plans/plans.js';
import type { Core } from '../../parts/core.js';
import { cliActor } from '../shared/actor.js';
import { untilDaemonHas } from '../shared/api.js';
import { CommandError, found } from '../shared/command.js';
import { type Group, type Run, YES_OPTION } from '../shared/group.js';
import { limitWords } from '../shared/limit-options.js';
import { countOf, printTable } from '../shared/table.js';
import { findStored } from './find.js';
import { storedExpiryWords } from './show.js';

const ACCOUNTS = { '<account...>': 'user names or ids' } as const;
const QUESTIONS = { '--dry-run': 'show what would change without writing anything', ...YES_OPTION } as const;

export function addRenewAndUpgrade(account: Group): void {
  account
    .command(
      'renew',
      'add the days of a plan to the later of now and the expiry, and set its limits; a quota that never resets is added to the remaining traffic',
      { ...ACCOUNTS, '--plan <name>': "plan name (default: each account's own plan)", ...QUESTIONS },
    )
    .runs((run, given) => usePlan(run, 'renew', given));
  account
    .command('upgrade', 'set the limits of another plan; the expiry stays', {
      ...ACCOUNTS,
      '--plan <name>': { help: 'name of the new plan', isRequired: true },
      ...QUESTIONS,
    })
    .runs((run, given) => usePlan(run, 'upgrade', given));
}

interface Given {
  readonly account: readonly string[];
  readonly plan: string | undefined;
  readonly dryRun: boolean | undefined;
}

async function usePlan(run: Run, use: PlanUse, { account: names, plan, dryRun }: Given): Promise<string> {
  const core = await run.core();
  await core.usage.load();
  const accounts = new Set(names.map((name) => findStored(core, name)));
  const changes = [...accounts].map((account) => changeOf(core, account, use, plan));
  printTable(run.io, changes, {
    'USER NAME': ({ before }) => before.username,
    PLAN: ({ change }) => change.plan ?? '',
    EXPIRES: ({ before }) => storedExpiryWords(before),
    'NEW EXPIRY': ({ before, change }) => storedExpiryWords(changed(before, change)),
    'NEW LIMITS': ({ before, change }) => limitWords(changed(before, change).limits),
  });
  if (dryRun) return 'Nothing was written.';
  await run.confirm(`${countOf(changes.length, 'account')} will be changed as shown.`);
  const done = await core.accounts.patchMany(
    changes.map(({ before, change }) => ({
      id: before.id,
      changeOf(stored) {
        if (hasSameTerms(before, stored)) return change;
        throw new CommandError(
          `Nothing was changed, because ${before.username} has changed since. Run the command again.`,
        );
      },
    })),
    cliActor(),
  );
  const last = changes.at(-1)?.before.id;
  if (last !== undefined) await untilDaemonHas(last, run, await run.load());
  if (done.length < changes.length)
    throw new CommandError('Some of the accounts no longer exist; the others were changed.');
  return `${countOf(done.length, 'account')} changed.`;
}

/** Whether the account still has what its change was computed from. */
function hasSameTerms(before: Account, stored: Account): boolean {
  const termsOf = ({ expiresAt, daysFromFirstLogin, plan, limits, quotaReset, exit }: Account) =>
    JSON.stringify([expiresAt, daysFromFirstLogin, plan, limits, quotaReset, exit]);
  return termsOf(before) === termsOf(stored);
}

interface Change {
  readonly before: Account;
  readonly change: AccountChange;
}

function changeOf(core: Core, before: Account, use: PlanUse, name: string | undefined): Change {
  const wanted = name ?? before.plan;
  if (wanted === null) throw new CommandError(`${before.username} has no plan. Give one with --plan.`, 2);
  const plan = found(core.plans.byName(wanted), 'plan', wanted);
  return { before, change: planFor(before, plan, use, core.usage.view(before), Date.now()) };
}
