// Imports the accounts of a file, or reports what an import would do (dry run).
import { setImmediate as nextTurn } from 'node:timers/promises';
import { addressTaken } from '../core/accounts/access/address-list.js';
import type { Account } from '../core/accounts/account.js';
import { type AccountChange, changed } from '../core/accounts/account-input.js';
import { AddressTaken } from '../core/accounts/account-store.js';
import type { Accounts } from '../core/accounts/accounts.js';
import { type Change, OverBudget } from '../core/accounts/plans/budget.js';
import { type Actor, type AuditStore, auditRecord } from '../core/audit/audit.js';
import type { ImportedLine, Item, ItemDeps, ToAdd, ToChange } from './import-items.js';
import { createItems, missingLimits } from './import-items.js';
import { createOutgoing, type Outgoing, type OutgoingDeps } from './outgoing.js';
import { because, type Reason, reasonText } from './reasons.js';
import type { FileRecord } from './record.js';

export interface ImportDeps extends Omit<ItemDeps, 'isExitToAdd'>, OutgoingDeps {
  readonly accounts: ItemDeps['accounts'] & Pick<Accounts, 'addImported' | 'patchMany'>;
  readonly dryRun: boolean;
  /** Called in a dry run with changes that would be charged to a seller's budget. */
  readonly onChanges?: (changes: readonly Change[]) => Promise<void>;
  readonly by: Actor;
  readonly audit: Pick<AuditStore, 'begin' | 'revise'>;
  /** For the audit log; null when it is not known. */
  readonly fileName: string | null;
  /** Called with the error when the database could not be written. */
  readonly onError: (error: unknown) => void;
}

/** Number of accounts per transaction. Logins and other writes run between two transactions. */
const SLICE = 200;
/** How often the entry of the import in the audit log gets new counts, in ms: each time is a transaction. */
const REVISE_MS = 1_000;
/** Number of lines after which other work of the daemon has its turn: a line can have hundreds of addresses. */
const LINES_PER_TURN = 20;

/**
 * Imports records in order and yields the outcome of each. With `dryRun`, writes nothing.
 * When a database write fails, this and all later lines are `failed`; earlier lines stay imported. When lines that are written
 * together exceed a seller's budget, only these are `failed`. Rejects when the first write fails or exceeds the budget, and when the
 * records cannot be read.
 * The audit log gets one entry for the import, and one for each account.
 */
export async function* importAccounts(
  records: AsyncIterable<FileRecord>,
  deps: ImportDeps,
): AsyncGenerator<ImportedLine> {
  const outgoing = createOutgoing(deps);
  const itemOf = createItems({ ...deps, isExitToAdd: outgoing.isToAdd });
  const writer = createWriter(deps, outgoing);
  let slice: Item[] = [];
  for await (const record of records) {
    slice.push(itemOf(await outgoing.withExit(record)));
    if (slice.length % LINES_PER_TURN === 0) await nextTurn();
    if (slice.length < SLICE) continue;
    yield* deps.dryRun ? await preview(slice, deps, outgoing) : await writer.write(slice);
    slice = [];
  }
  yield* deps.dryRun ? await preview(slice, deps, outgoing) : await writer.write(slice);
  await writer.end();
}

async function preview(
  items: readonly Item[],
  { onChanges }: ImportDeps,
  outgoing: Outgoing,
): Promise<ImportedLine[]> {
  await outgoing.add(exitsOf(items), null);
  await onChanges?.(items.flatMap((item) => (item.kind === 'settled' ? [] : [changeOfItem(item)])));
  return items.map(({ line }) => line);
}

const exitOf = (item: Item) => (item.kind === 'settled' ? null : item.from.exit);
const exitsOf = (items: readonly Item[]) => new Set(items.flatMap((item) => exitOf(item) ?? []));

/** Returns the import of a line as a seller's budget is charged for it. */
function changeOfItem(item: ToAdd | ToChange): Change {
  if (item.kind === 'add') return { before: null, after: item.account };
  // A new password costs nothing, and its digest takes time.
  const { password: _, ...change } = changeOf(item, item.account);
  return { before: item.account, after: changed(item.account, change) };
}

/** One transaction of a slice. */
interface Step<P extends ToAdd | ToChange> {
  readonly items: readonly P[];
  readonly work: (items: readonly P[]) => Promise<readonly Account[]>;
  /** The reason for accounts that were not written. */
  readonly refused: Reason;
  /** The reason when the database write failed. */
  readonly failed: (item: P) => Reason;
}

function createWriter(deps: ImportDeps, outgoing: Outgoing) {
  const { accounts } = deps;
  const entry = createImportEntry(deps);
  let { by } = deps;
  let hasWritten = false;
  let hasFailed = false;

  const adding = (items: readonly Item[]): Step<ToAdd> => ({
    items: items.filter((item) => item.kind === 'add'),
    refused: because('taken-meanwhile'),
    failed: () => because('not-added'),
    work: (added) =>
      accounts.addImported(
        added.map(({ account, from }) => ({ account, used: from.usage })),
        by,
      ),
  });

  const changing = (items: readonly Item[]): Step<ToChange> => ({
    items: items.filter(
      (item): item is ToChange =>
        item.kind === 'replace' || (item.kind === 'keep' && (hasUsed(item) || hasLimits(item))),
    ),
    refused: because('removed-meanwhile'),
    failed: ({ kind }) => because(kind === 'keep' ? 'not-completed' : 'not-replaced'),
    work: (changed) =>
      accounts.patchMany(
        changed.map((item) => ({
          id: item.account.id,
          changeOf: (stored) => changeOf(item, stored),
          used: item.from.usage,
        })),
        by,
      ),
  });

  /** Returns null when the database write fails. Later calls fail at once, because each attempt may take the whole busy timeout. */
  async function attempt<T>(work: () => Promise<T>): Promise<T | null> {
    if (hasFailed) return null;
    try {
      const done = await work();
      hasWritten = true;
      return done;
    } catch (error) {
      if (!hasWritten || error instanceof AddressTaken || error instanceof OverBudget) throw error;
      hasFailed = true;
      deps.onError(error);
      return null;
    }
  }

  /** Adds the exits that items name and nobody has added. Returns the names of those that could not be added. */
  async function addExits(items: readonly Item[]): Promise<ReadonlySet<string>> {
    const names = exitsOf(items);
    return (outgoing.mustAdd(names) && (await attempt(() => outgoing.add(names, by)))) || new Set();
  }

  async function unwritten<P extends ToAdd | ToChange>(step: Step<P>): Promise<(readonly [Item, Reason])[]> {
    const { items, work, refused, failed } = step;
    try {
      const done = await attempt(() => work(items));
      if (!done) return items.map((item) => [item, failed(item)]);
      const ids = new Set(done.map(({ id }) => id));
      return items.filter(({ account }) => !ids.has(account.id)).map((item) => [item, refused]);
    } catch (error) {
      if (!hasWritten || !(error instanceof OverBudget)) throw error;
      const reason = overBudget(error);
      return items.map((item) => [item, reason]);
    }
  }

  async function run<P extends ToAdd | ToChange>(step: Step<P>, reasons: Map<Item, Reason>): Promise<void> {
    const { items } = step;
    if (items.length === 0) return;
    try {
      for (const [item, reason] of await unwritten(step)) reasons.set(item, reason);
    } catch (error) {
      // Another account got an address after the line was decided: write the others without this line.
      const holder = items.find(
        ({ from: { authorizedAddresses } }) =>
          error instanceof AddressTaken && authorizedAddresses?.includes(error.entry),
      );
      if (!(error instanceof AddressTaken) || !holder) throw error;
      const other = accounts.get(error.accountId)?.account.username ?? error.accountId;
      reasons.set(holder, addressTaken(error.entry, other));
      await run({ ...step, items: items.filter((item) => item !== holder) }, reasons);
    }
  }

  return {
    async write(items: readonly Item[]): Promise<ImportedLine[]> {
      if (items.some(({ kind }) => kind !== 'settled')) by = await entry.begin();
      const reasons = new Map<Item, Reason>();
      const missing = await addExits(items);
      const isRefused = (item: Item) => missing.has(exitOf(item) ?? '');
      for (const item of items) if (isRefused(item)) reasons.set(item, because('no-exit'));
      const rest = items.filter((item) => !isRefused(item));
      // Changes come first: an added account may have an address that they free.
      await run(changing(rest), reasons);
      await run(adding(rest), reasons);
      const written = items.map((item): ImportedLine => {
        const reason = reasons.get(item);
        if (!reason) return item.line;
        return { ...item.line, outcome: 'failed', message: reasonText(reason), reason, account: null };
      });
      entry.count(written);
      if (entry.isRevisionDue()) await attempt(entry.revise);
      return written;
    },

    async end(): Promise<void> {
      if (by.importId !== undefined) await attempt(entry.revise);
    },
  };
}

/** The audit entry of the import. It is created before the first account is written, and its counts are updated from time to time. */
function createImportEntry({ audit, by, fileName, now }: ImportDeps) {
  let importId: string | undefined;
  let isRevised = true;
  let revisedAt = now();
  const counts = { read: 0, added: 0, replaced: 0, kept: 0, skipped: 0, failed: 0 };
  const after = () => Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
  return {
    /** Creates the entry once. Returns the actor for the audit entries of the accounts. */
    async begin(): Promise<Actor> {
      const object = { type: 'import', id: null, name: fileName } as const;
      importId ??= await audit.begin(
        // The key of the request is stored with the first change.
        auditRecord({ ...by, requestKey: undefined }, 'account.import', object, null, after()),
      );
      return { ...by, importId };
    },

    count(lines: readonly ImportedLine[]): void {
      for (const { outcome } of lines) {
        counts.read += 1;
        counts[outcome] += 1;
      }
      isRevised = false;
    },

    isRevisionDue: (): boolean => importId !== undefined && Math.abs(now() - revisedAt) >= REVISE_MS,

    revise: async (): Promise<void> => {
      revisedAt = now();
      if (importId !== undefined && !isRevised) await audit.revise(importId, after());
      isRevised = true;
    },
  };
}

function overBudget({ what, left }: OverBudget): Reason {
  return because(`over-budget-${what}`, { left: String(Math.floor(left * 100) / 100) });
}

function changeOf({ kind, from }: ToChange, present: Account): AccountChange {
  const limits = missingLimits(from.limits, present.limits, kind);
  if (kind === 'keep') return { limits };
  // The account may have got another name since the line was decided.
  const { username: _, ...change } = from;
  return { ...change, limits };
}

function hasLimits({ from, account, kind }: ToChange): boolean {
  return Object.keys(missingLimits(from.limits, account.limits, kind)).length > 0;
}

function hasUsed({ from: { usage } }: ToChange): boolean {
  return usage !== undefined && usage.totalBytesUp + usage.totalBytesDown > 0;
}
