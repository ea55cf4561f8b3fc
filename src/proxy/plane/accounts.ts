// The accounts that the workers must have, and which worker has which account.
import type { AuthorizedAccount } from '../connection/authorized-clients.js';
import type { HandedSession } from '../handover/state.js';
import { workerOf } from '../memory/hash.js';
import type { AccountRecord, ProxySettings } from '../plane-settings.js';
import type { SessionAccount } from './sessions.js';
import type { PlaneWorker } from './worker-handle.js';

/** Maximum number of accounts in one message, so that logins are handled between messages. */
const RECORDS_PER_MESSAGE = 1_000;

export class PlaneAccounts {
  readonly #hasSuffix: boolean;
  readonly #records: Map<string, AccountRecord>;
  /** Bytes of each account's sessions under its present name in its present worker, as far as they are counted, by account id. */
  readonly #counted = new Map<string, number>();
  /** To be sent. */
  #changed = new Map<string, AccountRecord>();
  /** Those of them whose authorized addresses have changed. */
  #readdressed = new Set<string>();

  /** @param workers those that run now, by index; of `workerCount` */
  constructor(
    private readonly workers: readonly PlaneWorker[],
    private readonly workerCount: number,
    { exitSuffix }: Pick<ProxySettings, 'exitSuffix'>,
    records: Iterable<AccountRecord>,
  ) {
    this.#hasSuffix = exitSuffix.length > 0;
    this.#records = new Map(Array.from(records, (record) => [record.id, record]));
  }

  /** Sends an account's present state. Its worker receives it before any promise that is awaited after this call resolves. */
  put(changed: AccountRecord): void {
    const { id } = changed;
    const before = this.#records.get(id);
    if (before && before.username !== changed.username) {
      this.#counted.delete(id);
      this.#removeFromOldWorker(before, changed);
    }
    const record = { ...changed, quotaCounted: this.#counted.get(id) ?? 0 };
    if (isReaddressed(before, record)) this.#readdressed.add(id);
    this.#records.set(id, record);
    if (this.#changed.size === 0) queueMicrotask(() => this.#sendChanged());
    this.#changed.set(id, record);
  }

  /** A session of another process continues in the worker of its account. Call `resumedAll` after the last one. */
  resumed({ accountId: id, bytesUp, bytesDown }: HandedSession): void {
    this.#counted.set(id, (this.#counted.get(id) ?? 0) + bytesUp + bytesDown);
  }

  /** What is left of quotas is known without the bytes of resumed sessions so far; from now on they are counted. */
  resumedAll(): void {
    for (const [id, quotaCounted] of this.#counted) {
      const record = this.#records.get(id);
      if (record) this.#records.set(id, { ...record, quotaCounted });
    }
  }

  /** For another process: what is left of each quota now. All bytes must have been counted. */
  handOver(): AccountRecord[] {
    return Array.from(this.#records.values(), (record) => {
      const counted = this.#counted.get(record.id) ?? 0;
      const left = record.quotaLeft === null ? null : record.quotaLeft + record.quotaCounted - counted;
      return { ...record, quotaLeft: left, quotaCounted: 0 };
    });
  }

  has(id: string): boolean {
    return this.#records.has(id);
  }

  replace(records: Iterable<AccountRecord>): void {
    const gone = new Set(this.#records.keys());
    for (const record of records) {
      gone.delete(record.id);
      this.put(record);
    }
    for (const id of gone) this.remove(id);
  }

  /** More bytes of a session are counted: what is left of a quota from now on is less by them. */
  counted({ accountId: id, username }: SessionAccount, bytes: number): void {
    if (this.#records.get(id)?.username === username)
      this.#counted.set(id, (this.#counted.get(id) ?? 0) + bytes);
  }

  /** Sends what is left of the quota, unless the worker has counted down to it by itself. */
  setQuotaLeft(id: string, left: number | null): void {
    const record = this.#records.get(id);
    if (!record || (left === null && record.quotaLeft === null)) return;
    const isKnown =
      left !== null &&
      record.quotaLeft !== null &&
      left + (this.#counted.get(id) ?? 0) === record.quotaLeft + record.quotaCounted;
    if (!isKnown) this.put({ ...record, quotaLeft: left });
  }

  remove(id: string): void {
    this.#records.delete(id);
    this.#changed.delete(id);
    this.#counted.delete(id);
    for (const worker of this.workers)
      worker.send({ kind: 'account-removed', id, reason: 'account-removed' });
  }

  /** A worker has replaced an imported hash: keeps the salted hash for a worker that is started later. */
  rehashed(id: string, before: string, salted: string): void {
    const record = this.#records.get(id);
    if (record?.passwordHash === before) this.#records.set(id, { ...record, passwordHash: salted });
  }

  /** Sends a worker that has just started all of its accounts. */
  sendAll(worker: PlaneWorker): void {
    this.#countAnew(worker);
    this.#send(worker, this.#records.values());
    const accounts = [...this.#records.values()].filter(hasAddresses).map(toAuthorized);
    if (accounts.length > 0) worker.send({ kind: 'authorized', accounts });
  }

  /** Returns the strings of an account that are kept here, to replace the copies that came with a message. */
  stringsOf(account: SessionAccount): SessionAccount {
    const record = this.#records.get(account.accountId);
    if (record?.username !== account.username) return account;
    return { accountId: record.id, username: record.username };
  }

  /** A worker that has just started has transferred nothing. */
  #countAnew({ index }: PlaneWorker): void {
    for (const [id, counted] of this.#counted) {
      const record = this.#records.get(id);
      if (!record || this.workerOf(record.username) !== index) continue;
      const left = record.quotaLeft === null ? null : record.quotaLeft + record.quotaCounted - counted;
      this.#records.set(id, { ...record, quotaLeft: left, quotaCounted: 0 });
      this.#counted.delete(id);
    }
  }

  /** A new name may belong to another worker: then the worker of the old name removes the account. */
  #removeFromOldWorker(before: AccountRecord, { id, username }: AccountRecord): void {
    const worker = this.workers[this.workerOf(before.username)];
    if (worker?.index === this.workerOf(username)) return;
    worker?.send({ kind: 'account-removed', id, reason: 'account-renamed' });
  }

  #sendChanged(): void {
    const changed = [...this.#changed.values()];
    const accounts = changed.filter(({ id }) => this.#readdressed.has(id)).map(toAuthorized);
    this.#changed = new Map();
    this.#readdressed = new Set();
    for (const worker of this.workers) {
      if (accounts.length > 0) worker.send({ kind: 'authorized', accounts });
      this.#send(worker, changed);
    }
  }

  #send(worker: PlaneWorker, records: Iterable<AccountRecord>): void {
    const own = Array.from(records).filter(({ username }) => this.workerOf(username) === worker.index);
    for (let from = 0; from < own.length; from += RECORDS_PER_MESSAGE) {
      worker.send({ kind: 'accounts', records: own.slice(from, from + RECORDS_PER_MESSAGE) });
    }
  }

  /** The worker that an account of this name belongs to. */
  workerOf(username: string): number {
    return this.workerCount === 1 ? 0 : workerOf(Buffer.from(username), this.workerCount, this.#hasSuffix);
  }
}

function hasAddresses({ authorizedAddresses }: AccountRecord): boolean {
  return authorizedAddresses.length > 0;
}

function isReaddressed(before: AccountRecord | undefined, after: AccountRecord): boolean {
  if (before === undefined || before.username !== after.username) return hasAddresses(after);
  return before.authorizedAddresses !== after.authorizedAddresses;
}

function toAuthorized({ id, username, authorizedAddresses }: AccountRecord): AuthorizedAccount {
  return { id, username, addresses: authorizedAddresses };
}
