// Takes the accounts of a file in, or only says what would happen.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AccountLimitsService } from '../core/accounts/account-limits.js';
import type { AccountChange, Accounts } from '../core/accounts/accounts.js';
import { NO_LIMITS } from '../core/accounts/limits.js';
import type { Actor } from '../core/operator/audit.js';
import {
  createPlanner,
  type ImportedLine,
  type Plan,
  type PlanUses,
  type ToAdd,
  type ToChange,
} from './import-plan.js';
import type { FileAccount, FileRecord } from './record.js';

export interface ImportUses extends PlanUses {
  readonly accounts: PlanUses['accounts'] & Pick<Accounts, 'takeIn' | 'patchMany'>;
  readonly limits: PlanUses['limits'] & Pick<AccountLimitsService, 'adopt' | 'changeMany' | 'takeIn'>;
  readonly dryRun: boolean;
  readonly by: Actor;
  /** Told why the database could not be written, when lines say that it could not. */
  readonly onError: (error: unknown) => void;
}

/** Accounts in one transaction: logins and other writers come in between two. */
const SLICE = 200;

/**
 * Imports records in their order and yields what became of each. With `dryRun` nothing is written.
 * When the database cannot be written, every line from there on is `failed` and says what is missing; what was yielded
 * until then is done. Rejects when that happens before anything was written, and when the records cannot be read.
 */
export async function* importAccounts(
  records: AsyncIterable<FileRecord>,
  uses: ImportUses,
): AsyncGenerator<ImportedLine> {
  const planOf = createPlanner(uses);
  const writer = createWriter(uses);
  let slice: Plan[] = [];
  for await (const record of records) {
    slice.push(planOf(record));
    if (slice.length < SLICE) continue;
    yield* uses.dryRun ? lines(slice) : await writer.write(slice);
    slice = [];
    await nextTurn();
  }
  yield* uses.dryRun ? lines(slice) : await writer.write(slice);
}

function lines(plans: readonly Plan[]): ImportedLine[] {
  return plans.map(({ line }) => line);
}

type Due = ToAdd | ToChange;

/** A part of the work on a slice, in a transaction of its own. */
interface Step {
  readonly plans: readonly Due[];
  /** Returns the ids of the accounts that it was done for. */
  readonly work: (due: readonly Due[]) => Promise<ReadonlySet<string>>;
  /** What a line says that it was not done for. */
  readonly refused: string;
  /** What a line says when the database could not be written. */
  readonly failed: string;
}

function createWriter(uses: ImportUses): { write(plans: readonly Plan[]): Promise<ImportedLine[]> } {
  const { accounts, limits, by } = uses;
  let hasWritten = false;
  let hasFailed = false;

  function stepsOf(plans: readonly Plan[]): Step[] {
    const added = plans.filter((plan) => plan.kind === 'add');
    const changed = plans.filter((plan): plan is ToChange => plan.kind === 'replace' || plan.kind === 'keep');
    return [
      {
        plans: added,
        refused: 'the user name was taken meanwhile',
        failed: 'not added: the database could not be written',
        work: async () => new Set(await add(added)),
      },
      {
        plans: changed.filter(({ kind }) => kind === 'replace'),
        refused: 'the account was removed meanwhile',
        failed: 'not replaced: the database could not be written',
        async work(due) {
          const changes = due.map(({ account, from }) => ({ id: account.id, change: changeOf(from) }));
          return new Set((await accounts.patchMany(changes, by)).map(({ id }) => id));
        },
      },
      {
        plans: changed.filter((plan) => Object.keys(plan.limits).length > 0),
        refused: 'its limits could not be changed',
        failed: 'its limits are missing: the database could not be written',
        work: (due) =>
          limits.changeMany(
            due.map((plan) => ({ accountId: plan.account.id, change: plan.limits })),
            by,
          ),
      },
      {
        plans: [...added, ...changed].filter(({ from }) => hasUsed(from)),
        refused: '',
        failed: 'its usage is missing: the database could not be written',
        async work(due) {
          await limits.takeIn(
            due.flatMap(({ account, from }) =>
              from.usage ? [{ accountId: account.id, used: from.usage }] : [],
            ),
          );
          return new Set(due.map(({ account }) => account.id));
        },
      },
    ];
  }

  /** The accounts and their limits are written as one. */
  async function add(plans: readonly ToAdd[]): Promise<string[]> {
    const limited = plans.filter((plan) => Object.keys(plan.limits).length > 0);
    const given = new Map(limited.map((plan) => [plan.account.id, { ...NO_LIMITS, ...plan.limits }]));
    const added = await accounts.takeIn(
      plans.map(({ account }) => account),
      by,
      given,
    );
    for (const { id } of added) {
      const its = given.get(id);
      if (its) limits.adopt(id, its);
    }
    return added.map(({ id }) => id);
  }

  /** null: the database could not be written. From then on nothing is tried: each try may take its whole busy timeout. */
  async function attempt(work: () => Promise<ReadonlySet<string>>): Promise<ReadonlySet<string> | null> {
    if (hasFailed) return null;
    try {
      const done = await work();
      hasWritten = true;
      return done;
    } catch (error) {
      if (!hasWritten) throw error;
      hasFailed = true;
      uses.onError(error);
      return null;
    }
  }

  return {
    async write(plans) {
      const reasons = new Map<Plan, string>();
      for (const { plans: of, work, refused, failed } of stepsOf(plans)) {
        const due = of.filter((plan) => !reasons.has(plan));
        if (due.length === 0) continue;
        const done = await attempt(() => work(due));
        for (const plan of due) {
          if (!done) reasons.set(plan, failed);
          else if (!done.has(plan.account.id)) reasons.set(plan, refused);
        }
      }
      return plans.map((plan) => {
        const message = reasons.get(plan);
        return message === undefined ? plan.line : { ...plan.line, outcome: 'failed', message };
      });
    },
  };
}

function changeOf(from: FileAccount): AccountChange {
  const { password, passwordHash, isEnabled, remarks, expiresAt } = from;
  return { password, passwordHash, isEnabled, remarks, expiresAt };
}

function hasUsed({ usage }: FileAccount): boolean {
  return usage !== undefined && usage.totalBytesUp + usage.totalBytesDown > 0;
}
