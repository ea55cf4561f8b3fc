// The account service: every change of an account, of its limits and of what counts as used goes through here, by the API,
// the console, the command line or an import. A change is written to the database first, in one transaction, then put into
// the directory, which tells everybody, and only then answered.

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

/** An account with what the heartbeat pool knows of it. */
export interface AccountView {
  readonly account: Account;
  /** Entries now in the pool. */
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
  /** As it is now; after a removal, as it last was. */
  readonly account: Account;
}
interface Refused<Reason> {
  readonly ok: false;
  readonly reason: Reason;
  /** Of 'invalid-addresses' and 'address-taken', for people. */
  readonly explanation?: string;
}

/** An account as an import brings it, with what it has used elsewhere. */
export interface ImportedAccount {
  readonly account: Account;
  readonly used?: CountedTraffic | undefined;
}

export interface ImportedChange {
  readonly id: string;
  readonly change: AccountChange;
  /** What it has used elsewhere; passed over for an account that has used something here. */
  readonly used?: CountedTraffic | undefined;
}

/** The part of the heartbeat pool that accounts need. */
export interface AccountPool {
  count(accountId: string): number;
  latestGameId(accountId: string): string | null;
  /** Forgets every entry of the account. */
  remove(accountId: string): void;
}

/** Every call that changes something rejects when the database cannot be written; nothing has changed then. */
export interface Accounts {
  /** Creates an account, with its limits if any. */
  add(input: NewAccount, by?: Actor): Promise<AddResult>;
  /** Overwrites every field of an account but its limits. Ends its live sessions if it was disabled or its password changed. */
  update(id: string, input: ChangedAccount, by?: Actor): Promise<UpdateResult>;
  /** Removes an account and its heartbeat data, and ends its live sessions. */
  remove(id: string, by?: Actor): Promise<RemoveResult>;
  /**
   * Creates many accounts in one transaction; keep a call to some hundreds. Refused ones are named by their index, the
   * others are created.
   */
  addMany(inputs: readonly NewAccount[], by: Actor): Promise<AddManyResult>;
  /** Adds accounts as an import brings them, in one transaction; returns those that were added, the names of the others are taken. */
  takeIn(accounts: readonly ImportedAccount[], by: Actor): Promise<Account[]>;
  /**
   * Changes only the fields and limits given. `isCurrent` may refuse on what the account is at the moment of the change.
   * A new user name ends its live sessions; heartbeats and history stay with the account.
   */
  patch(
    id: string,
    change: AccountPatch,
    by: Actor,
    isCurrent?: (account: Account) => boolean,
  ): Promise<PatchResult>;
  /**
   * Changes many in one transaction; several changes of one account are joined. Those that no longer exist, and those
   * whose change is refused, are left out of the answer.
   */
  patchMany(changes: readonly ImportedChange[], by: Actor): Promise<Account[]>;
  /** Counts the days of an account that waits for its first login from `at` on; otherwise nothing. */
  firstLogin(id: string, at: number): Promise<void>;
  /** Starts the quota period again from nothing; false when there is no such account. */
  resetUsage(id: string, by: Actor): Promise<boolean>;
  /** Removes many in one transaction; returns those that there were. */
  removeMany(ids: readonly string[], by: Actor): Promise<Account[]>;
  /** Takes over accounts as the database has them, after another process changed, added or removed them. */
  refresh(ids: readonly string[]): Promise<void>;
  /** Every account in the order of creation. */
  list(): AccountView[];
  count(): number;
  get(id: string): AccountView | null;
  getByUsername(username: string): AccountView | null;
  readonly hasEgressClass: HasEgressClass;
}

/**
 * Builds the service over a loaded `directory`: reads come from memory, writes go to `store` first.
 * `newId` returns a fresh lower-case GUID.
 */
export function createAccounts(uses: {
  readonly store: AccountStore;
  readonly directory: AccountDirectory;
  readonly usage: Pick<AccountUsage, 'afterWriting' | 'read' | 'countFrom' | 'hasUsed'>;
  readonly pool: AccountPool;
  /** Names of the egress classes that the configuration has. */
  readonly egressClasses: readonly string[];
  /** Of one account. */
  readonly maxAuthorizedAddresses: number;
  readonly now: Clock;
  readonly newId: () => string;
}): Accounts {
  const { store, directory, usage, pool, now } = uses;
  // One change of an account at a time: the directory must take in the answers in the order of the writes.
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

  /** Writes updates in one transaction and takes them in. To be called in turn. */
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
        // The database knows of accounts that another process has just added.
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
