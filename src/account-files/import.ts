// Takes the accounts of a file in, or only says what would happen.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Account } from '../core/accounts/account.js';
import type { AccountLimitsService } from '../core/accounts/account-limits.js';
import type { AccountChange, Accounts } from '../core/accounts/accounts.js';
import { hashPassword } from '../core/accounts/password.js';
import type { Clock } from '../core/clock.js';
import type { Actor } from '../core/operator/audit.js';
import type { FileAccount, FileRecord } from './record.js';

/**
 * What happens to an account that exists: `replace` overwrites the fields the file has; `keep` leaves it as it is but
 * gives it the limits and usage it does not have; `skip` leaves it wholly alone.
 */
export type OnExisting = 'keep' | 'replace' | 'skip';

export interface ImportedLine {
  /** 1 is the first line of the file. */
  readonly line: number;
  readonly username: string | null;
  readonly outcome: 'added' | 'replaced' | 'kept' | 'skipped' | 'failed';
  /** Why, for `skipped` and `failed`. */
  readonly message: string | null;
}

export interface ImportUses {
  readonly accounts: Pick<Accounts, 'get' | 'getByUsername' | 'takeIn' | 'patchMany'>;
  readonly limits: Pick<AccountLimitsService, 'change' | 'takeIn' | 'hasEgressClass' | 'glance'>;
  readonly existing: OnExisting;
  readonly dryRun: boolean;
  readonly by: Actor;
  readonly now: Clock;
  readonly newId: () => string;
}

/** Accounts in one transaction: logins and other writers come in between two. */
const SLICE = 200;

/**
 * Imports records in their order and yields what became of each. With `dryRun` nothing is written.
 * Rejects when the database cannot be written; what was yielded until then is done.
 */
export async function* importAccounts(
  records: AsyncIterable<FileRecord>,
  uses: ImportUses,
): AsyncGenerator<ImportedLine> {
  const seen = new Set<string>();
  let slice: FileRecord[] = [];
  for await (const record of records) {
    slice.push(record);
    if (slice.length < SLICE) continue;
    yield* await takeSlice(slice, seen, uses);
    slice = [];
    await nextTurn();
  }
  yield* await takeSlice(slice, seen, uses);
}

type Plan =
  | { readonly kind: 'told'; readonly line: ImportedLine }
  | {
      readonly kind: 'add';
      readonly line: ImportedLine;
      readonly from: FileAccount;
      readonly account: Account;
    }
  | {
      readonly kind: 'replace' | 'keep';
      readonly line: ImportedLine;
      readonly from: FileAccount;
      readonly before: Account;
    };

async function takeSlice(
  records: readonly FileRecord[],
  seen: Set<string>,
  uses: ImportUses,
): Promise<ImportedLine[]> {
  const ids = new Set<string>();
  const plans = records.map((record) => planOf(record, seen, ids, uses));
  if (uses.dryRun) return plans.map(({ line }) => line);

  const news = plans.flatMap((plan) => (plan.kind === 'add' ? [plan.account] : []));
  const added = new Set((await uses.accounts.takeIn(news, uses.by)).map(({ id }) => id));
  const changes = plans.flatMap((plan) =>
    plan.kind === 'replace' ? [{ id: plan.before.id, change: changeOf(plan.from) }] : [],
  );
  const changed = new Set((await uses.accounts.patchMany(changes, uses.by)).map(({ id }) => id));

  const lines: ImportedLine[] = [];
  for (const plan of plans) {
    if (plan.kind === 'told') {
      lines.push(plan.line);
      continue;
    }
    const id = plan.kind === 'add' ? plan.account.id : plan.before.id;
    const isGone = plan.kind === 'replace' ? !changed.has(id) : plan.kind === 'add' && !added.has(id);
    if (isGone) {
      const message =
        plan.kind === 'add' ? 'the user name was taken meanwhile' : 'the account was removed meanwhile';
      lines.push({ ...plan.line, outcome: 'failed', message });
      continue;
    }
    await takeLimits(id, plan.from, plan.kind, uses);
    lines.push(plan.line);
  }
  return lines;
}

function planOf(record: FileRecord, seen: Set<string>, ids: Set<string>, uses: ImportUses): Plan {
  const { line } = record;
  if ('fault' in record) return told(line, record.username, 'failed', record.fault);
  const from = record.account;
  const { username } = from;
  if (seen.has(username)) return told(line, username, 'failed', 'the file has this user name twice');
  seen.add(username);
  const { egressClass } = from.limits;
  if (egressClass !== undefined && !uses.limits.hasEgressClass(egressClass)) {
    return told(line, username, 'failed', 'the configuration has no such egress class');
  }
  const before = uses.accounts.getByUsername(username)?.account;
  if (before) {
    if (uses.existing === 'skip') return told(line, username, 'skipped', 'it exists already');
    const isReplaced = uses.existing === 'replace';
    const outcome = isReplaced ? 'replaced' : 'kept';
    return {
      kind: isReplaced ? 'replace' : 'keep',
      line: { line, username, outcome, message: null },
      from,
      before,
    };
  }
  const passwordHash = from.password === undefined ? from.passwordHash : hashPassword(from.password);
  if (passwordHash === undefined) {
    return told(line, username, 'failed', 'a new account needs a password or a passwordHash');
  }
  const isFree = from.id !== undefined && !ids.has(from.id) && uses.accounts.get(from.id) === null;
  const id = isFree && from.id !== undefined ? from.id : uses.newId();
  ids.add(id);
  const account: Account = {
    id,
    username,
    passwordHash,
    isEnabled: from.isEnabled ?? true,
    remarks: from.remarks ?? null,
    createdAt: from.createdAt ?? uses.now(),
    lastLoginAt: null,
    expiresAt: from.expiresAt ?? null,
  };
  return { kind: 'add', line: { line, username, outcome: 'added', message: null }, from, account };
}

function told(
  line: number,
  username: string | null,
  outcome: ImportedLine['outcome'],
  message: string,
): Plan {
  return { kind: 'told', line: { line, username, outcome, message } };
}

function changeOf(from: FileAccount): AccountChange {
  const { password, passwordHash, isEnabled, remarks, expiresAt } = from;
  return { password, passwordHash, isEnabled, remarks, expiresAt };
}

/** An account that is kept only gets the limits that it has none of; usage is only for one that has used nothing here. */
async function takeLimits(
  id: string,
  { limits, usage }: FileAccount,
  kind: 'add' | 'replace' | 'keep',
  uses: ImportUses,
): Promise<void> {
  const has = uses.limits.glance(id).limits;
  const wanted = Object.fromEntries(
    Object.entries(limits).filter(([name, value]) => {
      const now = has[name as keyof typeof has];
      if (now === value) return false;
      return kind !== 'keep' || now === null || (name === 'quotaPeriod' && has.quotaBytes === null);
    }),
  );
  if (Object.keys(wanted).length > 0) await uses.limits.change(id, wanted, uses.by);
  if (usage && usage.totalBytesUp + usage.totalBytesDown > 0) await uses.limits.takeIn(id, usage);
}
