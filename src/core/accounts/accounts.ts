// The account service. The API, the console, the command line and imports make every change of accounts, limits and quota resets
// through it. It writes a change to the database in one transaction, then updates the directory, which notifies its listeners, and
// then returns.

import type { Actor } from '../audit/audit.js';
import { DAY_MS } from '../clock.js';
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
  isBlank,
  mergeChanges,
  type NewAccount,
  type RenameRefusal,
  refuseChange,
  refuseNew,
  toUpdate,
  type UpdateRefusal,
} from './account-input.js';
import { ChangedMeanwhile, type IsCurrent, UsernameTaken } from './account-store.js';
import { type AccountViews, createAccountViews } from './account-views.js';
import {
  type AccountWriteDeps,
  createAccountWrites,
  type Imported,
  type ImportedAccount,
} from './account-writes.js';
import { createAddressCheck } from './address-check.js';
import type { AddressRefusal } from './address-list.js';
import { NO_LIMITS } from './limits.js';

export type AddResult = Done | Refused<AddRefusal>;
export type UpdateResult = Done | Refused<UpdateRefusal>;
export type RemoveResult = Done | Refused<'not-found' | 'changed-meanwhile'>;
export type PatchResult = Done | Refused<UpdateRefusal | RenameRefusal | 'changed-meanwhile'>;

export interface AddManyResult {
  readonly added: readonly { readonly index: number; readonly account: Account }[];
  readonly refused: readonly { readonly index: number; readonly reason: AddRefusal }[];
}

/** A change of an account among many; by an import with its usage on another server. */
export interface ImportedChange extends Imported {
  readonly id: string;
  readonly change: AccountChange;
  readonly isCurrent?: IsCurrent;
}

interface Done {
  readonly ok: true;
  /** The account after the change, or before its removal. */
  readonly account: Account;
}
interface Refused<Reason> {
  readonly ok: false;
  readonly reason: Reason;
  /** Set for 'invalid-addresses', 'invalid-allowed-clients' and 'address-taken'. */
  readonly address?: AddressRefusal;
}

/** Every change rejects, and changes nothing, when the database cannot be written. */
export interface Accounts extends AccountViews {
  /** Creates an account, with its limits if any. */
  add(input: NewAccount, by?: Actor): Promise<AddResult>;
  /** Overwrites every field except the limits. Ends live sessions when the account is disabled or the password changes. */
  update(id: string, input: ChangedAccount, by?: Actor): Promise<UpdateResult>;
  /**
   * Removes an account with its heartbeat data, and ends its live sessions; refused with 'changed-meanwhile' when `isCurrent` returns
   * false for the stored account.
   */
  remove(id: string, by?: Actor, isCurrent?: IsCurrent): Promise<RemoveResult>;
  /**
   * Creates accounts in one transaction; use at most some hundreds per call. Returns the index of each refused account; the others
   * are created.
   */
  addMany(inputs: readonly NewAccount[], by: Actor): Promise<AddManyResult>;
  /**
   * Adds imported accounts in one transaction. Returns the added accounts; the names of the others are taken. Rejects with
   * AddressTaken, and adds none, when another account has one of their authorized addresses.
   */
  addImported(accounts: readonly ImportedAccount[], by: Actor): Promise<Account[]>;
  /**
   * Changes only the given fields and limits. When `isCurrent` returns false for the stored account, the change is refused with
   * 'changed-meanwhile'.
   * A new user name ends live sessions; the account keeps its heartbeats and history.
   */
  patch(id: string, change: AccountPatch, by: Actor, isCurrent?: IsCurrent): Promise<PatchResult>;
  /**
   * Changes accounts in one transaction, and merges several changes of one account. The result omits accounts that do not exist and
   * accounts whose change is refused. Rejects with AddressTaken, and changes none, when another account has one of the authorized
   * addresses, which `readAuthorizedAddresses` must have read, and with ChangedMeanwhile when an `isCurrent` returns false for the
   * stored account.
   */
  patchMany(changes: readonly ImportedChange[], by: Actor): Promise<Account[]>;
  /**
   * Sets the expiry of an account that waits for its first login, which was at `at` (ms since the epoch). Does nothing for other
   * accounts.
   */
  firstLogin(id: string, at: number): Promise<void>;
  /** Resets the usage of the quota period; false when the account does not exist. */
  resetUsage(id: string, by: Actor): Promise<boolean>;
  /** Removes accounts in one transaction; returns those that existed. */
  removeMany(ids: readonly string[], by: Actor): Promise<Account[]>;
  /** Reloads accounts that another process changed, added or removed; their usage follows a moment later. */
  refresh(ids: readonly string[]): Promise<void>;
  readonly hasEgressClass: HasEgressClass;
  /** Per account. */
  readonly maxAuthorizedAddresses: number;
  readonly maxAllowedClients: number;
}

/**
 * Creates the service for a loaded `directory`. Reads come from memory; writes go to `store` first.
 * `newId` returns a fresh lower-case GUID.
 */
export function createAccounts(
  deps: AccountWriteDeps & {
    /** Names of the configured egress classes. */
    readonly egressClasses: readonly string[];
    /** Per account. */
    readonly maxAuthorizedAddresses: number;
    readonly maxAllowedClients: number;
    readonly newId: () => string;
  },
): Accounts {
  const { directory, pool, now } = deps;
  const writes = createAccountWrites(deps);
  // Change an account one at a time, so that the directory is updated in the order of the writes.
  const inTurn = createTurns();
  const addressCheck = createAddressCheck(deps);
  const hasEgressClass: HasEgressClass = (name) => name === null || deps.egressClasses.includes(name);

  function refuseRenaming(before: Account, username = before.username): RenameRefusal | null {
    if (username === before.username) return null;
    if (!isValidUsername(username)) return 'invalid-username';
    return directory.byUsername(username) ? 'username-taken' : null;
  }

  async function changeOne(
    id: string,
    fields: AccountUpdate,
    by?: Actor,
    isCurrent?: IsCurrent,
  ): Promise<UpdateResult> {
    try {
      const [account] = await writes.update([{ id, fields, isCurrent }], by);
      return account ? { ok: true, account } : refused('not-found');
    } catch (error) {
      return addressCheck.refuseTaken(error);
    }
  }

  async function addMany(inputs: readonly NewAccount[], by?: Actor): Promise<AddManyResult> {
    const checked = inputs.map((input, index) => ({
      index,
      input,
      reason: refuseNew(input, hasEgressClass),
    }));
    const wanted = checked.flatMap(({ index, input, reason }) =>
      reason === null ? [{ index, account: accountOf(input, deps.newId(), now()) }] : [],
    );
    const added = new Set(await writes.add(wanted, by));
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
    ...createAccountViews(directory, pool),
    hasEgressClass,
    maxAuthorizedAddresses: deps.maxAuthorizedAddresses,
    maxAllowedClients: deps.maxAllowedClients,
    addMany,
    addImported: writes.add,

    async add(input, by) {
      const addresses = addressCheck.read(input);
      if (!addresses.ok) return addresses;
      try {
        const { added, refused: refusals } = await addMany([{ ...input, ...addresses.lists }], by);
        const [done] = added;
        if (done) return { ok: true, account: done.account };
        return refused(refusals[0]?.reason ?? 'username-taken');
      } catch (error) {
        return addressCheck.refuseTaken(error);
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

    patch: (id, change, by, isCurrent) =>
      inTurn(id, async () => {
        const before = directory.byId(id);
        if (!before) return refused('not-found');
        const refusal = refuseChange(change, before.limits, hasEgressClass);
        if (refusal) return refused(refusal);
        const renaming = refuseRenaming(before, change.username);
        if (renaming) return refused(renaming);
        const addresses = addressCheck.read(change, id);
        if (!addresses.ok) return addresses;
        const fields = toUpdate({ ...change, ...addresses.lists });
        // Another process may have just added the account: ask the database.
        return changeOne(id, fields, by, isCurrent).catch((error: unknown) => {
          if (error instanceof UsernameTaken) return refused('username-taken');
          if (error instanceof ChangedMeanwhile) return refused('changed-meanwhile');
          throw error;
        });
      }),

    patchMany: (changes, by) =>
      inTurnOfAll(
        inTurn,
        changes.map(({ id }) => id),
        () => {
          const updates = mergeChanges(changes).flatMap(({ id, change, used, isCurrent }) => {
            const before = directory.byId(id);
            if (!before || refuseChange(change, before.limits, hasEgressClass) !== null) return [];
            return [{ id, fields: toUpdate(change), used, isCurrent }];
          });
          return writes.update(updates, by);
        },
      ),

    firstLogin: (id, at) =>
      inTurn(id, async () => {
        for (;;) {
          const days = directory.byId(id)?.daysFromFirstLogin ?? null;
          if (days === null) return;
          const expiresAt = toWireDate(at + days * DAY_MS);
          const isCurrent: IsCurrent = (stored) => stored.daysFromFirstLogin === days;
          const fields = { expiresAt, daysFromFirstLogin: null };
          try {
            return void (await writes.update([{ id, fields, isCurrent }]));
          } catch (error) {
            if (!(error instanceof ChangedMeanwhile)) throw error;
            // Another process has set the days or the expiry, for example at a login to another node.
            await writes.refresh([id]);
          }
        }
      }),

    resetUsage: (id, by) => inTurn(id, () => writes.resetUsage(id, by)),
    removeMany: (ids, by) => inTurnOfAll(inTurn, ids, () => writes.removeMany(ids, by)),

    remove: (id, by, isCurrent) =>
      inTurn(id, async () => {
        try {
          const account = await writes.remove(id, by, isCurrent);
          return account ? { ok: true, account } : refused('not-found');
        } catch (error) {
          if (error instanceof ChangedMeanwhile) return refused('changed-meanwhile');
          throw error;
        }
      }),

    refresh: (ids) => inTurnOfAll(inTurn, ids, () => writes.refresh(ids)),
  };
}

function refused<Reason>(reason: Reason): Refused<Reason> {
  return { ok: false, reason };
}
