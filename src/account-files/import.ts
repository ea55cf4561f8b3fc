// Takes the accounts of a file into the database, or only says what would happen.
import type { Account } from '../core/account.js';
import type { Clock } from '../core/clock.js';
import { hashPassword } from '../core/password.js';
import type { AccountStore } from '../core/ports.js';
import type { FileAccount, FileRecord } from './record.js';

/** What happens to an account that exists: `replace` overwrites the fields the file has; the others leave it alone. */
export type OnExisting = 'keep' | 'replace' | 'skip';

export interface ImportedLine {
  /** 1 is the first line of the file. */
  readonly line: number;
  readonly username: string | null;
  readonly outcome: 'added' | 'replaced' | 'kept' | 'skipped' | 'failed';
  /** Why, for `skipped` and `failed`. */
  readonly message: string | null;
}

/**
 * Imports records in their order and yields what became of each. With `dryRun` nothing is written.
 * Rejects when the database cannot be written; what was yielded until then is done.
 */
export async function* importAccounts(
  records: AsyncIterable<FileRecord>,
  uses: {
    readonly store: AccountStore;
    readonly existing: OnExisting;
    readonly dryRun: boolean;
    readonly now: Clock;
    readonly newId: () => string;
  },
): AsyncGenerator<ImportedLine> {
  const { store, existing, dryRun } = uses;
  const known = await store.all();
  const byName = new Map(known.map((account) => [account.username, account]));
  const ids = new Set(known.map(({ id }) => id));
  const seen = new Set<string>();

  async function add(from: FileAccount): Promise<ImportedLine['outcome'] | string> {
    const passwordHash = from.password === undefined ? from.passwordHash : hashPassword(from.password);
    if (passwordHash === undefined) return 'a new account needs a password or a passwordHash';
    const account: Account = {
      id: from.id !== undefined && !ids.has(from.id) ? from.id : uses.newId(),
      username: from.username,
      passwordHash,
      isEnabled: from.isEnabled ?? true,
      remarks: from.remarks ?? null,
      createdAt: from.createdAt ?? uses.now(),
      lastLoginAt: null,
      expiresAt: from.expiresAt ?? null,
    };
    if (!dryRun && (await store.add(account)) === 'username-taken')
      return 'the user name was taken meanwhile';
    ids.add(account.id);
    return 'added';
  }

  async function replace(from: FileAccount, before: Account): Promise<ImportedLine['outcome'] | string> {
    const updated =
      dryRun ||
      (await store.update(before.id, {
        passwordHash: from.password === undefined ? from.passwordHash : hashPassword(from.password),
        isEnabled: from.isEnabled ?? before.isEnabled,
        remarks: from.remarks === undefined ? before.remarks : from.remarks,
        expiresAt: from.expiresAt === undefined ? before.expiresAt : from.expiresAt,
      }));
    return updated ? 'replaced' : 'the account was removed meanwhile';
  }

  async function take(from: FileAccount): Promise<ImportedLine['outcome'] | string> {
    if (seen.has(from.username)) return 'the file has this user name twice';
    seen.add(from.username);
    const before = byName.get(from.username);
    if (!before) return add(from);
    if (existing === 'replace') return replace(from, before);
    return existing === 'keep' ? 'kept' : 'skipped';
  }

  for await (const record of records) {
    const { line } = record;
    if ('fault' in record) {
      yield { line, username: record.username, outcome: 'failed', message: record.fault };
      continue;
    }
    const { username } = record.account;
    const result = await take(record.account);
    if (isOutcome(result))
      yield { line, username, outcome: result, message: result === 'skipped' ? 'it exists already' : null };
    else yield { line, username, outcome: 'failed', message: result };
  }
}

function isOutcome(text: string): text is ImportedLine['outcome'] {
  return ['added', 'replaced', 'kept', 'skipped'].includes(text);
}
