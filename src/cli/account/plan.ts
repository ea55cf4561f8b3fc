// `pulsegate account renew` and `account upgrade`: apply a plan to accounts.
import type { Command } from 'commander';
import type { Account } from '../../core/accounts/account.js';
import { type AccountChange, changed } from '../../core/accounts/account-input.js';
import { type PlanUse, planFor } from '../../core/accounts/plans/plans.js';
import { isoOrNull } from '../../core/clock.js';
import type { Core } from '../../parts/core.js';
import { noPlan } from '../plans.js';
import { cliActor } from '../shared/actor.js';
import { untilDaemonHas, withDatabase } from '../shared/api.js';
import { CommandError, type CommandIo, load, printLine } from '../shared/command.js';
import { limitWords } from '../shared/limit-options.js';
import { confirm } from '../shared/prompt.js';
import { countOf, printTable } from '../shared/table.js';
import { findStored } from './find.js';
import { expiryWords } from './show.js';

const TEXTS: Readonly<Record<PlanUse, string>> = {
  renew:
    'add the days of a plan to the later of now and the expiry, and set its limits; a quota that never resets is added to the remaining traffic',
  upgrade: 'set the limits of another plan; the expiry stays',
};

export function addRenewAndUpgrade(account: Command, io: CommandIo): void {
  for (const use of ['renew', 'upgrade'] as const) addUse(account, use, io);
}

interface UseOptions {
  plan?: string;
  dryRun?: true;
  yes?: true;
}

function addUse(account: Command, use: PlanUse, io: CommandIo): void {
  const command = account.command(use).argument('<account...>', 'user names or ids').description(TEXTS[use]);
  if (use === 'upgrade') command.requiredOption('--plan <name>', 'name of the new plan');
  else command.option('--plan <name>', "plan name (default: each account's own plan)");
  command
    .option('--dry-run', 'show what would change without writing anything')
    .option('--yes', 'skip the confirmation')
    .action(async (names: string[], options: UseOptions, invoked: Command) => {
      const loaded = await load(invoked, io);
      await withDatabase(loaded, async (api, core) => {
        await core.usage.load();
        const accounts = new Set(names.map((name) => findStored(core, name)));
        const changes = [...accounts].map((account) => changeOf(core, account, use, options.plan));
        show(io, changes);
        if (options.dryRun) return printLine(io.stdout, 'Nothing was written.');
        await confirm(io, options.yes, `${countOf(changes.length, 'account')} will be changed as shown.`);
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
        if (last !== undefined) await untilDaemonHas(last, api, loaded);
        if (done.length < changes.length)
          throw new CommandError('Some of the accounts no longer exist; the others were changed.');
        printLine(io.stdout, `${countOf(done.length, 'account')} changed.`);
      });
    });
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
  const plan = core.plans.byName(wanted);
  if (!plan) throw noPlan(wanted);
  return { before, change: planFor(before, plan, use, core.usage.view(before), Date.now()) };
}

const words = ({ expiresAt, ...rest }: Pick<Account, 'expiresAt' | 'daysFromFirstLogin'>): string =>
  expiryWords({ expiresAt: isoOrNull(expiresAt), ...rest });

function show(io: CommandIo, changes: readonly Change[]): void {
  printTable(
    io,
    ['USER NAME', 'PLAN', 'EXPIRES', 'NEW EXPIRY', 'NEW LIMITS'],
    changes.map(({ before, change }) => {
      const after = changed(before, change);
      return [before.username, change.plan ?? '', words(before), words(after), limitWords(after.limits)];
    }),
  );
}
