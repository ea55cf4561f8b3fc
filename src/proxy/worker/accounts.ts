// The accounts as a worker sees them: which logins are valid, which limits apply, and which live sessions end after a change. All are
// in memory that the threads share; those that somebody has asked for are here too.
// An account's sessions are all in one worker, so its counts are exact without locks.
import { AddressIndex, includesAddress } from '../../core/accounts/access/address-list.js';
import { type AccessRules, clientRefusal } from '../../core/accounts/access/login.js';
import { isExpired, isSuspended } from '../../core/accounts/account.js';
import type { LimitRefusal } from '../../core/accounts/usage/limits.js';
import type { Geo } from '../../core/addresses/geo.js';
import { parseIp } from '../../core/addresses/ip.js';
import type { EgressPolicy } from '../../core/egress/egress.js';
import type { SessionEnd } from '../../core/sessions/session.js';
import type { Io } from '../io/io.js';
import { createSharedRate, Quota } from '../io/rates.js';
import { AccountIndex, AccountMemory, NO_PLACE, type Place } from '../memory/account-memory.js';
import { keyOf, mayHaveAddresses, unpackAccount } from '../memory/packed-account.js';
import { placesOf } from '../memory/places.js';
import type { AccountRecord } from '../plane-settings.js';
import type { AccountSession, WorkerAccount } from './account.js';

/** Every `WorkerAccount` is an entry. Only `WorkerAccounts` changes it, so the others see it read-only. */
type Entry = { -readonly [Name in keyof WorkerAccount]: WorkerAccount[Name] } & {
  endedBytes: number;
  sessions: Set<AccountSession>;
};

/** Most accounts have no session: they share this. */
const NO_SESSIONS: ReadonlySet<AccountSession> = new Set();

export interface WorkerAccountsOptions extends AccessRules {
  readonly io: Pick<Io, 'now' | 'timer'>;
  /** The policy of an egress class; null: the configuration has no such class. */
  readonly egressOf: (egressClass: string | null) => EgressPolicy | null;
  /** Called when the number of places of the account that has most changes. */
  readonly onMost: (places: number) => void;
}

export class WorkerAccounts {
  readonly #memory = new AccountMemory();
  readonly #placesByName = new AccountIndex(this.#memory, 'username');
  readonly #placesById = new AccountIndex(this.#memory, 'id');
  /** Ids by authorized addresses. */
  readonly #byAddress = new AddressIndex<string>();
  /** Those that somebody has asked for. */
  readonly #byName = new Map<string, Entry>();
  readonly #byId = new Map<string, Entry>();
  /** Those with a live session. */
  readonly #active = new Set<Entry>();
  /** The number of accounts by how many places they have, and the largest such number. */
  readonly #withPlaces: number[] = [];
  #most = 0;

  constructor(private readonly options: WorkerAccountsOptions) {}

  byUsername(username: string): WorkerAccount | undefined {
    return this.#byName.get(username) ?? this.#entryAt(this.#placesByName.get(Buffer.from(username)));
  }

  byId(id: string): WorkerAccount | undefined {
    return this.#byId.get(id) ?? this.#entryAt(this.#placesById.get(Buffer.from(id)));
  }

  /** The account whose clients from this address need no credentials. */
  byAddress(address: string): WorkerAccount | undefined {
    const id = this.#byAddress.find(address);
    return id === undefined ? undefined : this.byId(id);
  }

  setChunk(chunk: number, memory: SharedArrayBuffer | null): void {
    this.#memory.setChunk(chunk, memory);
  }

  /**
   * Adds or replaces the account at this place, and ends sessions that are no longer allowed.
   * @param now by the wall clock, in ms
   */
  put(place: Place, now: number): void {
    const packed = this.#memory.bytes(place);
    const id = keyOf(packed, 'id');
    this.#removePlace(this.#placesById.get(id));
    this.#placesById.set(place);
    this.#placesByName.set(place);
    if (mayHaveAddresses(packed))
      this.#byAddress.add(id.toString(), unpackAccount(packed).authorizedAddresses);
    const entry = this.#byId.get(id.toString());
    if (entry) this.#change(entry, this.#memory.read(place), now);
  }

  #change(entry: Entry, record: AccountRecord, now: number): void {
    const before = entry.record;
    if (before.username !== record.username) return this.#replace(entry, record, 'account-renamed');
    if (!record.isEnabled && before.isEnabled) return this.#replace(entry, record, 'account-disabled');
    if (before.passwordVersion !== record.passwordVersion)
      return this.#replace(entry, record, 'password-changed');
    entry.record = record;
    this.#endIfPast(entry, now);
    endRefusedClients(entry, this.options.geo);
    this.#applyLimits(entry, before);
    if (record.needsPermit && !before.needsPermit) for (const session of entry.sessions) session.holdPermit();
  }

  #entryAt(place: Place): Entry | undefined {
    return place === NO_PLACE ? undefined : this.#add(this.#memory.read(place), 0);
  }

  #add(record: AccountRecord, endedBytes: number): Entry {
    const sessions = NO_SESSIONS as Set<AccountSession>;
    const entry: Entry = { record, rates: null, quota: null, endedBytes, sessions, places: 0 };
    this.#byId.set(record.id, entry);
    this.#byName.set(record.username, entry);
    this.#setRates(entry);
    this.#setQuota(entry);
    return entry;
  }

  /** Ends old logins, also connections between login and request: their account object is no longer current. */
  #replace(entry: Entry, record: AccountRecord, reason: SessionEnd): void {
    this.#forget(entry, reason);
    // The control plane counts anew for another name, which may belong to another worker.
    this.#add(record, reason === 'account-renamed' ? 0 : entry.endedBytes);
  }

  /** Replaces an imported hash by a salted hash of the same password; sessions continue. */
  rehashed(account: WorkerAccount, passwordHash: string): void {
    const entry = this.#byId.get(account.record.id);
    if (entry) entry.record = { ...entry.record, passwordHash };
  }

  remove(id: string): void {
    this.#removePlace(this.#placesById.get(Buffer.from(id)));
    const entry = this.#byId.get(id);
    if (entry) this.#forget(entry, 'account-removed');
  }

  #removePlace(place: Place): void {
    if (place === NO_PLACE) return;
    const packed = this.#memory.bytes(place);
    if (mayHaveAddresses(packed)) {
      const { id, authorizedAddresses } = unpackAccount(packed);
      this.#byAddress.remove(id, authorizedAddresses);
    }
    this.#placesById.remove(place);
    this.#placesByName.remove(place);
  }

  #forget(entry: Entry, reason: SessionEnd): void {
    this.#byId.delete(entry.record.id);
    // Another account may already have this name.
    if (this.#byName.get(entry.record.username) === entry) this.#byName.delete(entry.record.username);
    endAll(entry, reason);
  }

  end(id: string, reason: SessionEnd): void {
    const entry = this.#byId.get(id);
    if (entry) endAll(entry, reason);
  }

  /**
   * Why an account may have no further session from this address now, by the sessions of this worker; null: it may. The limits are
   * the same as in `HeldPermits.refusal`, which counts permits.
   */
  refusal({ record, quota, sessions }: WorkerAccount, clientAddress: string): LimitRefusal | null {
    const { maxSessions, maxClientAddresses } = record.limits;
    if (quota !== null && quota.left <= 0) return 'over-quota';
    if (maxSessions !== null && sessions.size >= maxSessions) return 'too-many-sessions';
    if (maxClientAddresses === null || sessions.size === 0) return null;
    const addresses = new Set<string>();
    for (const { client } of sessions) addresses.add(client.address);
    return addresses.size >= maxClientAddresses && !addresses.has(clientAddress)
      ? 'too-many-addresses'
      : null;
  }

  /** Ends the association of the account that has been idle longest, when it has `max` of them. */
  makeRoomForAssociation({ sessions }: WorkerAccount, max: number): void {
    if (sessions.size < max) return;
    const associations = [...sessions].filter(({ command }) => command === 'udp-associate');
    if (associations.length >= max) longestIdle(associations, this.options.io.now())?.end('made-room');
  }

  sessionOpened(account: WorkerAccount, session: AccountSession): void {
    const entry = account as Entry;
    if (entry.sessions === NO_SESSIONS) entry.sessions = new Set();
    entry.sessions.add(session);
    this.#active.add(entry);
    this.#addPlaces(entry, placesOf(session.command));
  }

  sessionOver(account: WorkerAccount, session: AccountSession): void {
    const entry = account as Entry;
    if (entry.sessions.delete(session)) entry.endedBytes += session.bytes;
    this.#addPlaces(entry, -placesOf(session.command));
    if (entry.sessions.size > 0) return;
    entry.sessions = NO_SESSIONS as Set<AccountSession>;
    this.#active.delete(entry);
  }

  #addPlaces(entry: Entry, by: number): void {
    const counts = this.#withPlaces;
    counts[entry.places] = (counts[entry.places] ?? 0) - 1;
    entry.places += by;
    counts[entry.places] = (counts[entry.places] ?? 0) + 1;
    let most = Math.max(this.#most, entry.places);
    while (most > 0 && (counts[most] ?? 0) === 0) most -= 1;
    if (most === this.#most) return;
    this.#most = most;
    this.options.onMost(most);
  }

  /** Ends the longest idle session of the account that has most places; false: there is none. */
  endLongestIdleOfMost(): boolean {
    for (const entry of this.#active) if (entry.places === this.#most) return this.endLongestIdle(entry, 0);
    return false;
  }

  /** Ends the session of an account that has been idle longest, and for `minIdleMs`; false: there is none. */
  endLongestIdle({ sessions }: Pick<WorkerAccount, 'sessions'>, minIdleMs: number): boolean {
    const nowMs = this.options.io.now();
    const found = longestIdle(sessions, nowMs);
    if (found === null || found.idleMs(nowMs) < minIdleMs) return false;
    found.end('made-room');
    return true;
  }

  /** Ends the sessions of expired accounts and of those outside their schedule. Call it about once a second, with the wall clock. */
  endPast(now: number): void {
    for (const entry of [...this.#active]) this.#endIfPast(entry, now);
  }

  #endIfPast(entry: Entry, now: number): void {
    if (entry.sessions.size === 0) return;
    if (isSuspended(entry.record, now)) endAll(entry, 'account-suspended');
    else if (isExpired(entry.record, now)) endAll(entry, 'account-expired');
    else if (!this.options.schedules.isOpen(entry.record.schedule, now)) endAll(entry, 'outside-schedule');
  }

  /**
   * Ends live sessions beyond the present limits. The oldest sessions and addresses stay. Sessions with permits count over
   * all nodes: there the control plane revokes the permits beyond the limit.
   */
  #applyLimits(entry: Entry, { limits: before, needsPermit: havePermits }: AccountRecord): void {
    this.#setRates(entry);
    this.#setQuota(entry);
    const { limits, needsPermit } = entry.record;
    if (limits === before || entry.sessions.size === 0) return;
    const isClassChanged = limits.egressClass !== before.egressClass;
    const policy = isClassChanged ? this.options.egressOf(limits.egressClass) : null;
    const isCounted = !(needsPermit && havePermits);
    const addresses = new Set<string>();
    let count = 0;
    for (const session of [...entry.sessions]) {
      const isNewAddress = !addresses.has(session.client.address);
      const isTooMany =
        count >= (limits.maxSessions ?? Number.POSITIVE_INFINITY) ||
        (isNewAddress && addresses.size >= (limits.maxClientAddresses ?? Number.POSITIVE_INFINITY));
      if ((isCounted && isTooMany) || (isClassChanged && !isPermitted(session, policy))) {
        session.end('limits-changed');
        continue;
      }
      count += 1;
      addresses.add(session.client.address);
    }
  }

  /** The control plane may have counted less than has been transferred here: only the difference to its count matters. */
  #setQuota(entry: Entry): void {
    const { quotaLeft, quotaCounted } = entry.record;
    let left = (quotaLeft ?? 0) + quotaCounted - entry.endedBytes;
    for (const { bytes } of entry.sessions) left -= bytes;
    // The sessions do not end within the transfer that uses it up.
    const onUsedUp = (): void => void this.options.io.timer(0, () => endAll(entry, 'over-quota'));
    entry.quota = quotaLeft === null ? null : new Quota(left, onUsedUp);
    if (quotaLeft !== null && left <= 0) endAll(entry, 'over-quota');
  }

  #setRates(entry: Entry): void {
    const { limits, otherNodes } = entry.record;
    // Each node where the account is active has the same share.
    const nodes = 1 + otherNodes;
    const up = (limits.bytesPerSecondUp ?? Number.POSITIVE_INFINITY) / nodes;
    const down = (limits.bytesPerSecondDown ?? Number.POSITIVE_INFINITY) / nodes;
    if (entry.rates) {
      entry.rates.up.setRate(up);
      entry.rates.down.setRate(down);
      return;
    }
    if (up === Number.POSITIVE_INFINITY && down === Number.POSITIVE_INFINITY) return;
    const { io } = this.options;
    entry.rates = { up: createSharedRate(up, io), down: createSharedRate(down, io) };
    for (const session of entry.sessions) session.setRates(entry.rates);
  }
}

/** Ends sessions of clients whose address the account no longer allows, or no longer has without credentials, or whose link is gone. */
function endRefusedClients({ record, sessions }: WorkerAccount, geo: Geo): void {
  for (const session of [...sessions]) {
    const { isByAddress, linkHash, client } = session;
    const refusal = clientRefusal(record, client.address, geo);
    if (refusal !== null) session.end(refusal);
    else if (isByAddress && !includesAddress(record.authorizedAddresses, client.address))
      session.end('address-removed');
    else if (linkHash !== null && linkHash !== record.link?.hash) session.end('link-revoked');
  }
}

/** Of equals the oldest. */
function longestIdle(sessions: Iterable<AccountSession>, nowMs: number): AccountSession | null {
  let found: AccountSession | null = null;
  let idleMs = -1;
  for (const session of sessions) {
    const each = session.idleMs(nowMs);
    if (each <= idleMs) continue;
    found = session;
    idleMs = each;
  }
  return found;
}

function endAll({ sessions }: WorkerAccount, reason: SessionEnd): void {
  for (const session of [...sessions]) session.end(reason);
}

/** Whether `policy` permits a live session's destination. An association has many: it must check each again. */
function isPermitted(session: AccountSession, policy: EgressPolicy | null): boolean {
  if (!policy || session.command !== 'connect') return false;
  const { host, address, port } = session.destination;
  const ip = parseIp(address);
  return ip !== null && policy.judge({ host: parseIp(host) ? null : host, ip, port }).ok;
}
