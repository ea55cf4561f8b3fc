// All accounts, and which worker has the sessions of which account. They are in memory that the workers read too; each worker is told the
// places of all.
import { AccountIndex, NO_PLACE, type Place } from '../memory/account-memory.js';
import { workerOf } from '../memory/hash.js';
import { keyOf, packAccount, packedAccounts } from '../memory/packed-account.js';
import type { AccountRecord, ProxySettings } from '../plane-settings.js';
import { AccountWriter } from './account-writer.js';
import type { SessionAccount } from './sessions.js';
import type { PlaneWorker } from './worker-handle.js';

/** Maximum number of accounts in one message, so that logins are handled between messages. */
const ACCOUNTS_PER_MESSAGE = 1_000;

/** An account that has had sessions under its present name in its present worker. Its strings are those of all these sessions. */
interface UsedAccount extends SessionAccount {
  /** Bytes of these sessions, as far as they are counted. */
  counted: number;
  /** Of which `counted` bytes are used; null: no quota. */
  allowance: number | null;
}

export class PlaneAccounts {
  readonly #hasSuffix: boolean;
  readonly #writer: AccountWriter;
  readonly #byId: AccountIndex;
  /** By account id. */
  readonly #used = new Map<string, UsedAccount>();
  /** To be sent, unless they have changed again or are gone. */
  #changed: Place[] = [];
  #isSending = false;

  /**
   * @param workers those that run now, by index; of `workerCount`
   * @param handed by another process (PlaneState)
   */
  constructor(
    private readonly workers: readonly PlaneWorker[],
    private readonly workerCount: number,
    { exitSuffix }: Pick<ProxySettings, 'exitSuffix'>,
    handed: string,
  ) {
    this.#hasSuffix = exitSuffix.length > 0;
    this.#writer = new AccountWriter((chunk, memory) => {
      for (const worker of this.#served()) worker.send({ kind: 'account-chunk', chunk, memory });
    });
    this.#byId = new AccountIndex(this.#writer.memory, 'id');
    for (const packed of packedAccounts(Buffer.from(handed, 'base64'))) this.#write(packed, NO_PLACE);
  }

  /** Sends an account's present state. Its worker receives it before any promise that is awaited after this call resolves. */
  put(changed: AccountRecord): void {
    const { id } = changed;
    const used = this.#used.get(id);
    const isRenamed = used !== undefined && used.username !== changed.username;
    if (isRenamed) this.#used.delete(id);
    this.#store({ ...changed, quotaCounted: isRenamed ? 0 : (used?.counted ?? 0) });
  }

  /** The sessions of another process continue here, and their bytes so far have been counted: no quota that was handed over contains them. */
  resumedAll(): void {
    for (const [id, { counted }] of this.#used) {
      const record = this.#get(id);
      if (record) this.#store({ ...record, quotaCounted: counted });
    }
  }

  /** For another process: what is left of each quota now. All bytes must have been counted. */
  handOver(): string {
    const used = new Map<Place, Buffer>();
    for (const [id, { counted }] of this.#used) {
      const record = this.#get(id);
      const present = record && { ...record, quotaLeft: leftOf(record, counted), quotaCounted: 0 };
      if (present) used.set(this.#placeOf(id), packAccount(present));
    }
    const { memory } = this.#writer;
    const packed = Array.from(this.#byId.places(), (place) => used.get(place) ?? memory.bytes(place));
    return Buffer.concat(packed).toString('base64');
  }

  has(id: string): boolean {
    return this.#placeOf(id) !== NO_PLACE;
  }

  replace(records: Iterable<AccountRecord>): void {
    const gone = new Set(Array.from(this.#byId.places(), (place) => this.#writer.memory.read(place).id));
    for (const record of records) {
      gone.delete(record.id);
      this.put(record);
    }
    for (const id of gone) this.remove(id);
  }

  /** More bytes of a session are counted: what is left of a quota from now on is less by them. */
  counted({ accountId, username }: SessionAccount, bytes: number): void {
    const used = this.#used.get(accountId);
    if (used?.username === username) used.counted += bytes;
  }

  /** Sends what is left of the quota, unless the worker has counted down to it by itself. */
  setQuotaLeft(id: string, left: number | null): void {
    const used = this.#used.get(id);
    if (used && left !== null && left + used.counted === used.allowance) return;
    const record = this.#get(id);
    if (!record || left === leftOf(record, used?.counted ?? 0)) return;
    this.put({ ...record, quotaLeft: left });
  }

  remove(id: string): void {
    const place = this.#placeOf(id);
    if (place !== NO_PLACE) {
      this.#byId.remove(place);
      this.#writer.free(place);
    }
    this.#used.delete(id);
    for (const worker of this.workers) worker.send({ kind: 'account-removed', id });
    this.#sendSoon();
  }

  /** Sends a worker that has just started all accounts. */
  sendAll(worker: PlaneWorker): void {
    this.#countAnew(worker);
    for (const [chunk, memory] of this.#writer.chunks())
      worker.send({ kind: 'account-chunk', chunk, memory });
    send(worker, [...this.#byId.places()]);
  }

  /** Returns the strings of an account that are kept here, to replace the copies that came with a message. */
  stringsOf(account: SessionAccount): SessionAccount {
    const { accountId, username } = account;
    const known = this.#used.get(accountId);
    if (known?.username === username) return known;
    const record = this.#get(accountId);
    if (record?.username !== username) return account;
    const used = {
      accountId: record.id,
      username: record.username,
      counted: 0,
      allowance: allowanceOf(record),
    };
    this.#used.set(accountId, used);
    return used;
  }

  /** A worker that has just started has transferred nothing. */
  #countAnew({ index }: PlaneWorker): void {
    for (const [id, { username, counted }] of this.#used) {
      if (this.workerOf(username) !== index) continue;
      this.#used.delete(id);
      const record = this.#get(id);
      if (record) this.#store({ ...record, quotaLeft: leftOf(record, counted), quotaCounted: 0 });
    }
  }

  /** The others get all accounts when they have started. */
  #served(): readonly PlaneWorker[] {
    return this.workers.filter(({ isStarted }) => isStarted);
  }

  #placeOf(id: string): Place {
    return this.#byId.get(Buffer.from(id));
  }

  #get(id: string): AccountRecord | undefined {
    const place = this.#placeOf(id);
    return place === NO_PLACE ? undefined : this.#writer.memory.read(place);
  }

  #store(record: AccountRecord): void {
    const { id } = record;
    const used = this.#used.get(id);
    if (used) used.allowance = allowanceOf(record);
    const packed = packAccount(record);
    const before = this.#placeOf(id);
    if (before !== NO_PLACE && this.#writer.memory.bytes(before).equals(packed)) return;
    this.#changed.push(this.#write(packed, before));
    this.#sendSoon();
  }

  #write(packed: Buffer, before: Place): Place {
    const place = this.#writer.add(packed);
    this.#byId.set(place);
    if (before !== NO_PLACE) this.#writer.free(before);
    return place;
  }

  #isPresent(place: Place): boolean {
    return this.#byId.get(keyOf(this.#writer.memory.bytes(place), 'id')) === place;
  }

  #sendSoon(): void {
    if (this.#isSending) return;
    this.#isSending = true;
    queueMicrotask(() => {
      this.#isSending = false;
      this.#sendChanged();
      this.#moveSparse();
    });
  }

  #sendChanged(): void {
    const served = this.#served();
    const changed = served.length === 0 ? [] : this.#changed.filter((place) => this.#isPresent(place));
    this.#changed = [];
    for (const worker of served) send(worker, changed);
  }

  /** Frees the memory of earlier states of accounts, when it is more than that of the present ones. */
  #moveSparse(): void {
    for (const [chunk, places] of this.#writer.sparse()) {
      const present = places.filter((place) => this.#isPresent(place));
      const moved = present.map((place) => this.#write(this.#writer.memory.bytes(place), place));
      for (const worker of this.#served()) send(worker, moved);
      this.#writer.drop(chunk);
    }
  }

  /** The worker that an account of this name belongs to. */
  workerOf(username: string): number {
    return this.workerCount === 1 ? 0 : workerOf(Buffer.from(username), this.workerCount, this.#hasSuffix);
  }
}

function send(worker: PlaneWorker, places: readonly Place[]): void {
  for (let from = 0; from < places.length; from += ACCOUNTS_PER_MESSAGE)
    worker.send({ kind: 'accounts', places: places.slice(from, from + ACCOUNTS_PER_MESSAGE) });
}

const allowanceOf = ({ quotaLeft, quotaCounted }: AccountRecord): number | null =>
  quotaLeft === null ? null : quotaLeft + quotaCounted;

/** What is left of the quota when `counted` bytes are counted. */
function leftOf(record: AccountRecord, counted: number): number | null {
  const allowance = allowanceOf(record);
  return allowance === null ? null : allowance - counted;
}
