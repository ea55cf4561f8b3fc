// The account service. The API, the console, the command line and imports make every change of accounts, limits and quota resets
// through it. It writes a change to the database in one transaction, then updates the directory, which notifies its listeners, and
// then returns.

import type { Actor } from '../audit/audit.js';
import { type Clock, DAY_MS } from '../clock.js';
import { createTurns, inTurnOfAll } from '../turns.js';
import { toWireDate } from '../wire-date.js';
import { type Account, type AccountUpdate, isValidUsername } from './account.js';
import {
  type AccountChange,
  type AccountPatch,
  type AddRefusal,
  accountOf,
  type ChangedAccount,
  type HasEgressClass,
  inOne,
  isBlank,
  type NewAccount,
  type RenameRefusal,
  refuseChange,
  refuseNew,
  toUpdate,
  type UpdateRefusal,
} from './account-input.js';
import { type AccountStore, AddressTaken, UsernameTaken } from './account-store.js';
import { type AccountUsage, trafficOf } from './account-usage.js';
import {
  type AddressRefusal,
  explainAddressRefusal,
  readAuthorizedAddresses,
} from './authorized-addresses.js';
import type { AccountDirectory } from './directory.js';
import { type CountedTraffic, NO_LIMITS, type TrafficOfDay } from './limits.js';

/** An account with figures from the heartbeat pool. */
export interface AccountView {
  readonly account: Account;
  /** Number of entries in the pool. */
  readonly dataCount: number;
  /** GameID of the newest entry that has one. */
  readonly latestGameId: string | null;
}

export type AddResult = Done | Refused<AddRefusal>;
export type UpdateResult = Done | Refused<UpdateRefusal>;
export type RemoveResult = Done | Refused<'not-found'>;
export type PatchResult = Done | Refused<UpdateRefusal | RenameRefusal | 'changed-meanwhile'>;

export interface AddManyResult {
  readonly added: readonly { readonly index: number; readonly account: Account }[];
  readonly refused: readonly { readonly index: number; readonly reason: AddRefusal }[];
}

interface Done {
  readonly ok: true;
  /** The account after the change, or before its removal. */
  readonly account: Account;
}
interface Refused<Reason> {
  readonly ok: false;
  readonly reason: Reason;
  /** Of 'invalid-addresses' and 'address-taken', for people. */
  readonly explanation?: string;
}

/** An imported account with its usage on another server. */
export interface ImportedAccount {
  readonly account: Account;
  readonly used?: CountedTraffic | undefined;
}

export interface ImportedChange {
  readonly id: string;
  readonly change: AccountChange;
  /** The usage on another server; ignored for an account with traffic on this server. */
  readonly used?: CountedTraffic | undefined;
}

/** The part of the heartbeat pool that accounts need. */
export interface AccountPool {
  count(accountId: string): number;
  latestGameId(accountId: string): string | null;
  /** Forgets every entry of the account. */
  remove(accountId: string): void;
}

/** Every change rejects, and changes nothing, when the database cannot be written. */
export interface Accounts {
  /** Creates an account, with its limits if any. */
  add(input: NewAccount, by?: Actor): Promise<AddResult>;
  /** Overwrites every field except the limits. Ends live sessions when the account is disabled or the password changes. */
  update(id: string, input: ChangedAccount, by?: Actor): Promise<UpdateResult>;
  /** Removes an account with its heartbeat data, and ends its live sessions. */
  remove(id: string, by?: Actor): Promise<RemoveResult>;
  /**
   * Creates accounts in one transaction; use at most some hundreds per call. Returns the index of each refused account; the others
   * are created.
   */
  addMany(inputs: readonly NewAccount[], by: Actor): Promise<AddManyResult>;
  /** Adds imported accounts in one transaction. Returns the added accounts; the names of the others are taken. */
  takeIn(accounts: readonly ImportedAccount[], by: Actor): Promise<Account[]>;
  /**
   * Changes only the given fields and limits. `isCurrent` can refuse the change after a look at the current account.
   * A new user name ends live sessions; the account keeps its heartbeats and history.
   */
  patch(
    id: string,
    change: AccountPatch,
    by: Actor,
    isCurrent?: (account: Account) => boolean,
  ): Promise<PatchResult>;
  /**
   * Changes accounts in one transaction, and merges several changes of one account. The result omits accounts that do not exist and
   * accounts whose change is refused.
   */
  patchMany(changes: readonly ImportedChange[], by: Actor): Promise<Account[]>;
  /** Counts the days of an account that waits for its first login from `at` on; otherwise nothing. */
  firstLogin(id: string, at: number): Promise<void>;
  /** Resets the usage of the quota period; false when the account does not exist. */
  resetUsage(id: string, by: Actor): Promise<boolean>;
  /** Removes accounts in one transaction; returns those that existed. */
  removeMany(ids: readonly string[], by: Actor): Promise<Account[]>;
  /** Reloads accounts that another process changed, added or removed. */
  refresh(ids: readonly string[]): Promise<void>;
  /** Every account in the order of creation. */
  list(): AccountView[];
  count(): number;
  get(id: string): AccountView | null;
  getByUsername(username: string): AccountView | null;
  readonly hasEgressClass: HasEgressClass;
}

/**
 * Creates the service for a loaded `directory`. Reads come from memory; writes go to `store` first.
 * `newId` returns a fresh lower-case GUID.
 */
export function createAccounts(uses: {
  readonly store: AccountStore;
  readonly directory: AccountDirectory;
  readonly usage: Pick<AccountUsage, 'afterWriting' | 'read' | 'countFrom' | 'hasUsed'>;
  readonly pool: AccountPool;
  /** Names of the configured egress classes. */
  readonly egressClasses: readonly string[];
  /** Of one account. */
  readonly maxAuthorizedAddresses: number;
  readonly now: Clock;
  readonly newId: () => string;
}): Accounts {
  const { store, directory, usage, pool, now } = uses;
  // Change an account one at a time, so that the directory is updated in the order of the writes.
  const inTurn = createTurns();
  const hasEgressClass: HasEgressClass = (name) => name === null || uses.egressClasses.includes(name);

  /** The list as it is kept, or why it is not. @param id of the account that is to have it; undefined: a new one */
  function readAddresses(
    entries: readonly string[] | undefined,
    id?: string,
  ): { readonly ok: true; readonly addresses: readonly string[] | undefined } | Refused<AddressReason> {
    if (entries === undefined) return { ok: true, addresses: undefined };
    const read = readAuthorizedAddresses(entries, uses.maxAuthorizedAddresses);
    if (!read.ok) return refusedAddress(read);
    for (const entry of read.addresses) {
      const other = directory.byAuthorizedAddress(entry, id);
      if (other) return refusedAddress({ kind: 'taken', entry, username: other.username });
    }
    return read;
  }

  function refuseRenaming(before: Account, username = before.username): RenameRefusal | null {
    if (username === before.username) return null;
    if (!isValidUsername(username)) return 'invalid-username';
    return directory.byUsername(username) ? 'username-taken' : null;
  }

  /** What a change that another one overtook is answered. */
  function refuseTaken(error: unknown): Refused<AddressReason> {
    if (!(error instanceof AddressTaken)) throw error;
    const username = directory.byId(error.accountId)?.username ?? error.accountId;
    return refusedAddress({ kind: 'taken', entry: error.entry, username });
  }

  async function takeIn(entries: readonly ImportedAccount[], by?: Actor): Promise<Account[]> {
    if (entries.length === 0) return [];
    const moved = entries.flatMap(({ account, used }) =>
      hasMoved(used) ? [trafficOf(account, used, now())] : [],
    );
    const stored = new Map(moved.map(({ sums }) => [sums.accountId, sums]));
    const write = async (): Promise<Account[]> => {
      const accounts = entries.map(({ account }) => account);
      const days = moved.flatMap((each) => each.days);
      const added = await store.addMany(accounts, by, days);
      const taken = accounts.filter(({ id }) => added.has(id));
      for (const account of taken) if (stored.has(account.id)) usage.countFrom(account, stored);
      return put(taken);
    };
    return moved.length === 0 ? write() : usage.afterWriting(write);
  }

  /** Writes updates in one transaction and updates the directory. Call it within `inTurn`. */
  async function write(
    updates: readonly { id: string; fields: AccountUpdate; used?: CountedTraffic | undefined }[],
    by?: Actor,
  ): Promise<Account[]> {
    if (updates.length === 0) return [];
    const recounted = updates.flatMap(({ id, fields, used }) => {
      const before = directory.byId(id);
      if (!before) return [];
      const limits = { ...before.limits, ...fields.limits };
      const isOtherPeriod = limits.quotaPeriod !== before.limits.quotaPeriod;
      if (!isOtherPeriod && !hasMoved(used)) return [];
      return [{ id, limits, quotaReset: before.quotaReset, used }];
    });
    if (recounted.length === 0) return put(await store.updateMany(updates, by));
    return usage.afterWriting(async () => {
      const stored = new Map(await usage.read(recounted));
      const traffic: TrafficOfDay[] = [];
      for (const { used, ...account } of recounted) {
        if (!hasMoved(used) || usage.hasUsed(account.id)) continue;
        const { days, sums } = trafficOf(account, used, now());
        traffic.push(...days);
        stored.set(account.id, sums);
      }
      const changed = await store.updateMany(updates, by, traffic);
      const ids = new Set(recounted.map(({ id }) => id));
      for (const account of changed) if (ids.has(account.id)) usage.countFrom(account, stored);
      return put(changed);
    });
  }

  function put(accounts: Account[]): Account[] {
    for (const account of accounts) directory.put(account);
    return accounts;
  }

  function forget(id: string): void {
    directory.remove(id);
    pool.remove(id);
  }

  const view = (account: Account): AccountView => ({
    account,
    dataCount: pool.count(account.id),
    latestGameId: pool.latestGameId(account.id),
  });
  const found = (account: Account | undefined): AccountView | null => (account ? view(account) : null);

  async function changeOne(id: string, fields: AccountUpdate, by?: Actor): Promise<UpdateResult> {
    try {
      const [account] = await write([{ id, fields }], by);
      return account ? { ok: true, account } : refused('not-found');
    } catch (error) {
      return refuseTaken(error);
    }
  }

  async function addMany(inputs: readonly NewAccount[], by?: Actor): Promise<AddManyResult> {
    const checked = inputs.map((input, index) => ({
      index,
      input,
      reason: refuseNew(input, hasEgressClass),
    }));
    const wanted = checked.flatMap(({ index, input, reason }) =>
      reason === null ? [{ index, account: accountOf(input, uses.newId(), now()) }] : [],
    );
    const added = new Set(await takeIn(wanted, by));
    const byRule = checked.flatMap(({ index, reason }) => (reason === null ? [] : [{ index, reason }]));
    const taken = wanted.filter(({ account }) => !added.has(account));
    return {
      added: wanted.filter(({ account }) => added.has(account)),
      refused: [...byRule, ...taken.map(({ index }) => ({ index, reason: 'username-taken' as const }))].sort(
        (a, b) => a.index - b.index,
      ),
    };
  }

  return {
    hasEgressClass,
    addMany,
    takeIn,

    async add(input, by) {
      const addresses = readAddresses(input.authorizedAddresses);
      if (!addresses.ok) return addresses;
      try {
        const authorizedAddresses = addresses.addresses;
        const { added, refused: turnedAway } = await addMany([{ ...input, authorizedAddresses }], by);
        const [done] = added;
        if (done) return { ok: true, account: done.account };
        return refused(turnedAway[0]?.reason ?? 'username-taken');
      } catch (error) {
        return refuseTaken(error);
      }
    },

    async update(id, input, by) {
      const change = { ...input, password: isBlank(input.password) ? undefined : input.password };
      const limits = directory.byId(id)?.limits ?? NO_LIMITS;
      const refusal = refuseChange(change, limits, hasEgressClass);
      if (refusal) return refused(refusal);
      const { isEnabled, remarks, expiresAt, password } = change;
      const fields = toUpdate({ isEnabled, remarks, expiresAt, password });
      return inTurn(id, () => changeOne(id, fields, by));
    },

    patch: (id, change, by, isCurrent = () => true) =>
      inTurn(id, async () => {
        const before = directory.byId(id);
        if (!before) return refused('not-found');
        const refusal = refuseChange(change, before.limits, hasEgressClass);
        if (refusal) return refused(refusal);
        if (!isCurrent(before)) return refused('changed-meanwhile');
        const renaming = refuseRenaming(before, change.username);
        if (renaming) return refused(renaming);
        const addresses = readAddresses(change.authorizedAddresses, id);
        if (!addresses.ok) return addresses;
        const fields = toUpdate({ ...change, authorizedAddresses: addresses.addresses });
        // Another process may have just added the account: ask the database.
        return changeOne(id, fields, by).catch((error: unknown) => {
          if (error instanceof UsernameTaken) return refused('username-taken');
          throw error;
        });
      }),

    patchMany: (changes, by) =>
      inTurnOfAll(
        inTurn,
        changes.map(({ id }) => id),
        () => {
          const updates = inOne(changes).flatMap(({ id, change, used }) => {
            const before = directory.byId(id);
            if (!before || refuseChange(change, before.limits, hasEgressClass) !== null) return [];
            return [{ id, fields: toUpdate(change), used }];
          });
          return write(updates, by);
        },
      ),

    firstLogin: (id, at) =>
      inTurn(id, async () => {
        const days = directory.byId(id)?.daysFromFirstLogin ?? null;
        if (days === null) return;
        const expiresAt = toWireDate(at + days * DAY_MS);
        await write([{ id, fields: { expiresAt, daysFromFirstLogin: null } }]);
      }),

    resetUsage: (id, by) =>
      inTurn(id, () =>
        usage.afterWriting(async () => {
          const before = directory.byId(id);
          if (!before) return false;
          const stored = await usage.read([before]);
          const { bytesUp = 0, bytesDown = 0 } = stored.get(id) ?? {};
          const quotaReset = { at: now(), totalBytes: bytesUp + bytesDown };
          const [account] = await store.updateMany([{ id, fields: { quotaReset } }], by);
          if (!account) return false;
          usage.countFrom(account, stored);
          directory.put(account);
          return true;
        }),
      ),

    removeMany: (ids, by) =>
      inTurnOfAll(inTurn, ids, async () => {
        const removed = await store.removeMany(ids, by);
        for (const { id } of removed) forget(id);
        return removed;
      }),

    remove: (id, by) =>
      inTurn(id, async () => {
        const account = await store.remove(id, by);
        if (!account) return refused('not-found');
        forget(id);
        return { ok: true, account };
      }),

    refresh: (ids) =>
      inTurnOfAll(inTurn, ids, () =>
        usage.afterWriting(async () => {
          const accounts = new Map((await store.getMany(ids)).map((account) => [account.id, account]));
          const stored = await usage.read([...accounts.values()]);
          for (const id of ids) {
            const account = accounts.get(id);
            if (!account) {
              forget(id);
              continue;
            }
            usage.countFrom(account, stored);
            directory.put(account);
          }
        }),
      ),

    count: () => directory.size,
    list: () => Array.from(directory.all(), view),
    get: (id) => found(directory.byId(id)),
    getByUsername: (username) => found(directory.byUsername(username)),
  };
}

function hasMoved(used: CountedTraffic | undefined): used is CountedTraffic {
  return used !== undefined && used.totalBytesUp + used.totalBytesDown > 0;
}

type AddressReason = 'invalid-addresses' | 'address-taken';

function refusedAddress(refusal: AddressRefusal): Refused<AddressReason> {
  const reason = refusal.kind === 'taken' ? 'address-taken' : 'invalid-addresses';
  return { ok: false, reason, explanation: explainAddressRefusal(refusal) };
}

function refused<Reason>(reason: Reason): Refused<Reason> {
  return { ok: false, reason };
}
