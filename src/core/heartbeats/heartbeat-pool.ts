// The heartbeat pool in memory: totals of the stored entries of each account, and the entries not yet written. Counts and GameIDs of
// accounts come from the pool, so that a list of accounts never reads entries from the database.
import type { Heartbeat, HeartbeatTotals } from './heartbeat.js';
import { HeartbeatQueue } from './heartbeat-queue.js';

export interface HeartbeatPoolOptions {
  /** Most entries that may wait to be written, those in the batch being written included. */
  readonly maxPending: number;
  /** Entries kept per account; retention enforces it when a batch is written, `count` shows it at once. */
  readonly maxPerAccount: number;
}

interface AccountEntries {
  /** Entries in the database, as of the last write or trim. */
  stored: number;
  /** Entries waiting in the queue. */
  queued: number;
  /** Of those, entries with a GameID: while there are any, the database does not know the latest one. */
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

  constructor(options: HeartbeatPoolOptions) {
    this.#maxPending = options.maxPending;
    this.#maxPerAccount = options.maxPerAccount;
  }

  /** Retention was changed: `count` shows it at once. */
  setMaxPerAccount(maxPerAccount: number): void {
    this.#maxPerAccount = maxPerAccount;
  }

  /** Fills the pool at start from what the database holds. */
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
    if (this.pendingSize > this.#maxPending) this.#giveUpOne();
  }

  /** Entries of the account now in the pool, written or not; never more than retention will leave. */
  count(accountId: string): number {
    const account = this.#accounts.get(accountId);
    if (!account) return 0;
    return Math.min(account.stored + account.queued + account.writing, this.#maxPerAccount);
  }

  /** GameID of the account's newest entry that has one. */
  latestGameId(accountId: string): string | null {
    return this.#accounts.get(accountId)?.latestGameId ?? null;
  }

  /** Entries of all accounts now in the pool. */
  get size(): number {
    let size = 0;
    for (const { stored, queued, writing } of this.#accounts.values()) size += stored + queued + writing;
    return size;
  }

  /** Entries not yet written, those in the batch being written included. */
  get pendingSize(): number {
    return this.#queue.size + (this.#batch?.length ?? 0);
  }

  /** Entries given up since the start because the pool was full. */
  get dropped(): number {
    return this.#dropped;
  }

  /**
   * Forgets an account: its totals and its waiting entries. Entries of it in the batch being written are forgotten
   * too: neither `written` nor `failed` brings the account back.
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

  /** The batch is in the database, and `totals` is what it says of the batch's accounts. */
  written(batch: readonly Heartbeat[], totals: readonly HeartbeatTotals[]): void {
    this.#endBatch(batch);
    // An account that was removed while the batch was being written has `writing` 0 here, or is not here at all:
    // what the database said of it is from before the removal.
    this.update(totals.filter(({ accountId }) => (this.#accounts.get(accountId)?.writing ?? 0) > 0));
    for (const { accountId } of batch) {
      const account = this.#accounts.get(accountId);
      if (!account) continue;
      account.writing = 0;
      this.#forgetIfEmpty(accountId, account);
    }
  }

  /** The batch could not be written: its entries wait again, before all others. */
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

  /** Takes over what the database says now of these accounts, after a trim. Accounts the pool does not know stay unknown. */
  update(totals: readonly HeartbeatTotals[]): void {
    for (const { accountId, count, latestGameId } of totals) {
      const account = this.#accounts.get(accountId);
      if (!account) continue;
      account.stored = count;
      if (account.queuedGames === 0) account.latestGameId = latestGameId;
      this.#forgetIfEmpty(accountId, account);
    }
  }

  /** The same after other nodes have written entries, also of accounts that the pool does not know. */
  updateElsewhere(totals: readonly HeartbeatTotals[]): void {
    for (const { accountId, count } of totals) if (count > 0) this.#of(accountId);
    this.update(totals);
  }

  #of(accountId: string): AccountEntries {
    const known = this.#accounts.get(accountId);
    if (known) return known;
    const fresh = { stored: 0, queued: 0, queuedGames: 0, writing: 0, latestGameId: null };
    this.#accounts.set(accountId, fresh);
    return fresh;
  }

  #unqueued(entry: Heartbeat): AccountEntries {
    const account = this.#of(entry.accountId);
    account.queued -= 1;
    if (entry.gameId !== null) account.queuedGames -= 1;
    return account;
  }

  #giveUpOne(): void {
    const entry = this.#queue.shiftLeastWorth();
    if (entry === undefined) return;
    // Its GameID stays the latest one collected until the database says otherwise.
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
