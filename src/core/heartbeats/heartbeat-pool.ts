// The heartbeat pool in memory: totals of the stored entries of each account, and the entries not yet written. Counts and GameIDs of
// accounts come from the pool, so that a list of accounts never reads entries from the database.
import { getOrAdd } from '../maps.js';
import type { Heartbeat, HeartbeatTotals } from './heartbeat.js';
import { HeartbeatQueue } from './heartbeat-queue.js';

interface AccountEntries {
  /** Entries in the database, as of the last write or trim. */
  stored: number;
  queued: number;
  /** Queued entries with a GameID: while there are any, the database does not have the latest GameID. */
  queuedGames: number;
  /** Entries in the batch that is being written. */
  writing: number;
  latestGameId: string | null;
}

export class HeartbeatPool {
  readonly #accounts = new Map<string, AccountEntries>();
  readonly #queue = new HeartbeatQueue();
  readonly #maxPending: number;
  #maxPerAccount: number;
  #batch: readonly Heartbeat[] | null = null;
  #dropped = 0;

  constructor(options: {
    /** Most unwritten entries, including the batch that is being written. */
    readonly maxPending: number;
    /** Entries kept per account; retention enforces it when a batch is written, `count` shows it at once. */
    readonly maxPerAccount: number;
  }) {
    this.#maxPending = options.maxPending;
    this.#maxPerAccount = options.maxPerAccount;
  }

  /** Applies a changed retention. `count` uses it immediately. */
  setMaxPerAccount(maxPerAccount: number): void {
    this.#maxPerAccount = maxPerAccount;
  }

  load(totals: Iterable<HeartbeatTotals>): void {
    for (const { accountId, count, latestGameId } of totals) {
      this.#accounts.set(accountId, { stored: count, queued: 0, queuedGames: 0, writing: 0, latestGameId });
    }
  }

  /** Adds an entry. When the pool is full, drops the oldest waiting `beat`, or else the oldest other entry. */
  record(entry: Heartbeat): void {
    this.#queue.push(entry);
    const account = this.#of(entry.accountId);
    account.queued += 1;
    if (entry.gameId !== null) {
      account.queuedGames += 1;
      account.latestGameId = entry.gameId;
    }
    if (this.pendingSize > this.#maxPending) this.#dropOne();
  }

  /** Entries of the account, written or not; at most as many as retention keeps. */
  count(accountId: string): number {
    const account = this.#accounts.get(accountId);
    if (!account) return 0;
    return Math.min(account.stored + account.queued + account.writing, this.#maxPerAccount);
  }

  /** GameID of the account's newest entry that has one. */
  latestGameId(accountId: string): string | null {
    return this.#accounts.get(accountId)?.latestGameId ?? null;
  }

  /** Entries of all accounts, written or not. */
  get size(): number {
    let size = 0;
    for (const { stored, queued, writing } of this.#accounts.values()) size += stored + queued + writing;
    return size;
  }

  /** Unwritten entries, including the batch that is being written. */
  get pendingSize(): number {
    return this.#queue.size + (this.#batch?.length ?? 0);
  }

  /** Entries dropped since the start because the pool was full. */
  get dropped(): number {
    return this.#dropped;
  }

  /**
   * Removes an account with its totals and waiting entries. Its entries in the batch that is being written no longer count either:
   * neither `written` nor `failed` adds the account again.
   */
  remove(accountId: string): void {
    const account = this.#accounts.get(accountId);
    if (!account) return;
    this.#accounts.delete(accountId);
    if (account.queued > 0) this.#queue.removeAccount(accountId);
  }

  /**
   * Takes at most `max` of the oldest waiting entries, in the order of recording. Call `written` or `failed` for each batch before
   * taking the next one; otherwise it throws.
   */
  takeBatch(max: number): Heartbeat[] {
    if (this.#batch !== null) throw new Error('a heartbeat batch is already being written');
    const batch: Heartbeat[] = [];
    while (batch.length < max) {
      const entry = this.#queue.shift();
      if (entry === undefined) break;
      this.#unqueued(entry).writing += 1;
      batch.push(entry);
    }
    if (batch.length > 0) this.#batch = batch;
    return batch;
  }

  /** Call it when the batch is in the database. `totals` are the new totals of its accounts. */
  written(batch: readonly Heartbeat[], totals: readonly HeartbeatTotals[]): void {
    this.#endBatch(batch);
    // An account that was removed while the batch was being written is unknown or has `writing` 0: its totals were read before
    // the removal.
    this.update(totals.filter(({ accountId }) => (this.#accounts.get(accountId)?.writing ?? 0) > 0));
    for (const { accountId } of batch) {
      const account = this.#accounts.get(accountId);
      if (!account) continue;
      account.writing = 0;
      this.#forgetIfEmpty(accountId, account);
    }
  }

  /** Call it when the batch could not be written. Its entries wait again, before all others. */
  failed(batch: readonly Heartbeat[]): void {
    this.#endBatch(batch);
    for (let i = batch.length - 1; i >= 0; i -= 1) {
      const entry = batch[i];
      const account = entry && this.#accounts.get(entry.accountId);
      if (!account || account.writing === 0) continue;
      account.writing -= 1;
      account.queued += 1;
      if (entry.gameId !== null) account.queuedGames += 1;
      this.#queue.unshift(entry);
    }
  }

  /** Applies totals of the database after a trim. Ignores accounts without entries in the pool. */
  update(totals: readonly HeartbeatTotals[]): void {
    for (const { accountId, count, latestGameId } of totals) {
      const account = this.#accounts.get(accountId);
      if (!account) continue;
      account.stored = count;
      if (account.queuedGames === 0) account.latestGameId = latestGameId;
      this.#forgetIfEmpty(accountId, account);
    }
  }

  /** Applies totals after other nodes have written entries, also of accounts without entries in the pool. */
  updateElsewhere(totals: readonly HeartbeatTotals[]): void {
    for (const { accountId, count } of totals) if (count > 0) this.#of(accountId);
    this.update(totals);
  }

  #of(accountId: string): AccountEntries {
    const fresh = () => ({ stored: 0, queued: 0, queuedGames: 0, writing: 0, latestGameId: null });
    return getOrAdd(this.#accounts, accountId, fresh);
  }

  #unqueued(entry: Heartbeat): AccountEntries {
    const account = this.#of(entry.accountId);
    account.queued -= 1;
    if (entry.gameId !== null) account.queuedGames -= 1;
    return account;
  }

  #dropOne(): void {
    const entry = this.#queue.shiftLeastValuable();
    if (entry === undefined) return;
    // Its GameID stays the latest one until totals of the database replace it.
    this.#forgetIfEmpty(entry.accountId, this.#unqueued(entry));
    this.#dropped += 1;
  }

  #endBatch(batch: readonly Heartbeat[]): void {
    if (batch.length === 0) return;
    if (this.#batch !== batch) throw new Error('not the heartbeat batch that is being written');
    this.#batch = null;
  }

  #forgetIfEmpty(accountId: string, account: AccountEntries): void {
    if (account.stored + account.queued + account.writing === 0) this.#accounts.delete(accountId);
  }
}
