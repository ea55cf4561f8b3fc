// The account service. The API, the console, the command line and imports make every change of accounts, limits and quota resets
// through it. It writes a change to the database in one transaction, then updates the directory, which notifies its listeners, and
// then returns.

import type { Actor } from '../audit/audit.js';
import { DAY_MS } from '../clock.js';
import { type Refuse, refuseNone } from '../settings/setting.js';
import { createTurns, inTurnOfAll } from '../turns.js';
import { toWireDate } from '../wire-date.js';
import { createAddressCheck } from './access/address-check.js';
import type { AddressRefusal } from './access/address-list.js';
import { type Account, type AccountUpdate, isValidUsername } from './account.js';
import {
  type AccountChange,
  type AccountPatch,
  type AddRefusal,
  accountOf,
  type ChangedAccount,
  type HasEgressClass,
  isBlank,
  type NewAccount,
  type RenameRefusal,
  refuseChange,
  refuseNew,
  toUpdate,
  type UpdateRefusal,
} from './account-input.js';
import { UsernameTaken } from './account-store.js';
import { type AccountViews, createAccountViews } from './account-views.js';
import {
  type AccountWriteDeps,
  createAccountWrites,
  type Imported,
  type ImportedAccount,
} from './account-writes.js';
import { NO_LIMITS } from './usage/limits.js';

export type AddResult = Done | Refused<AddRefusal>;
export type UpdateResult = Done | Refused<UpdateRefusal>;
export type RemoveResult = Done | Refused<'not-found' | 'changed-meanwhile'>;
export type PatchRefusal = UpdateRefusal | RenameRefusal | 'changed-meanwhile';
export type PatchResult = Done | Refused<PatchRefusal>;

export interface AddManyResult {
  readonly added: readonly { readonly index: number; readonly account: Account }[];
  readonly refused: readonly { readonly index: number; readonly reason: AddRefusal }[];
}

/**
 * Returns the change of a stored account, or why it is refused. Runs in the transaction that writes the change, while the account is
 * locked, and again when the transaction is repeated.
 */
export type ChangeOf = (stored: Account) => AccountPatch | Refused<PatchRefusal>;

/** A change of an account among many; by an import with its usage on another server. */
export interface ImportedChange extends Imported {
  readonly id: string;
  /** As `ChangeOf`; null: the account stays as it is. An exception of it rolls back the changes of all accounts. */
  readonly changeOf: (stored: Account) => AccountChange | null;
}

interface Done {
  readonly ok: true;
  /** The account after the change, or before its removal. */
  readonly account: Account;
}
export interface Refused<Reason> {
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
  /** Removes an account with its heartbeat data, and ends its live sessions, unless `refuse` returns a refusal for the stored account. */
  remove(id: string, by?: Actor, refuse?: Refuse<Account, 'changed-meanwhile'>): Promise<RemoveResult>;
  /**
   * Creates accounts in one transaction; use at most some hundreds per call. Returns the index of each refused account; the others
   * are created.
   */
  addMany(inputs: readonly NewAccount[], by: Actor): Promise<AddManyResult>;
  /**
   * Adds imported accounts in one transaction. Returns the added accounts; the names of the others are taken. Rejects with
   * AddressTaken, and adds none, when another account has one of their authorized addresses.
   */
  addImported(accounts: readonly ImportedAccount[], by: Actor): Promise<readonly Account[]>;
  /**
   * Changes only the given fields and limits. A new user name ends live sessions; the account keeps its heartbeats and history.
   */
  patch(id: string, changeOf: ChangeOf, by: Actor): Promise<PatchResult>;
  /**
   * Changes accounts in one transaction, each at most once. The result omits accounts that do not exist, stay as they are, or whose
   * change is refused. Rejects with AddressTaken, and changes none, when another account has one of the authorized addresses, which
   * `readAuthorizedAddresses` must have read.
   */
  patchMany(changes: readonly ImportedChange[], by: Actor): Promise<readonly Account[]>;
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

  /** Returns the fields of a change to write, or why the stored account cannot be changed in this way. */
  function fieldsOf(stored: Account, change: ReturnType<ChangeOf>): AccountUpdate | Refused<PatchRefusal> {
    if ('ok' in change) return change;
    const refusal =
      refuseChange(change, stored.limits, hasEgressClass) ?? refuseRenaming(stored, change.username);
    if (refusal) return refused(refusal);
    const addresses = addressCheck.read(change, stored.id);
    return addresses.ok ? toUpdate({ ...change, ...addresses.lists }) : addresses;
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
      const refusal = refuseChange(change, NO_LIMITS, hasEgressClass);
      if (refusal) return refused(refusal);
      const { isEnabled, remarks, expiresAt, password } = change;
      const fields = toUpdate({ isEnabled, remarks, expiresAt, password });
      return inTurn(id, async () => {
        const [account] = await writes.update([{ id, fieldsOf: () => fields }], by);
        return account ? { ok: true, account } : refused('not-found');
      });
    },

    patch: (id, changeOf, by) =>
      inTurn(id, async () => {
        if (!directory.byId(id)) return refused('not-found');
        const outcome: { refusal: Refused<PatchRefusal> } = { refusal: refused('not-found') };
        const update = (stored: Account): AccountUpdate | null => {
          const fields = fieldsOf(stored, changeOf(stored));
          if (!('ok' in fields)) return fields;
          outcome.refusal = fields;
          return null;
        };
        try {
          const [account] = await writes.update([{ id, fieldsOf: update }], by);
          return account ? { ok: true, account } : outcome.refusal;
        } catch (error) {
          // Another process may have just given the name or an address to another account.
          if (error instanceof UsernameTaken) return refused('username-taken');
          return addressCheck.refuseTaken(error);
        }
      }),

    patchMany: (changes, by) =>
      inTurnOfAll(
        inTurn,
        changes.map(({ id }) => id),
        () => {
          const updates = changes.map(({ id, changeOf, used }) => ({
            ...{ id, used },
            fieldsOf(stored: Account) {
              const change = changeOf(stored);
              const isRefused =
                change === null || refuseChange(change, stored.limits, hasEgressClass) !== null;
              return isRefused ? null : toUpdate(change);
            },
          }));
          return writes.update(updates, by);
        },
      ),

    firstLogin: (id, at) =>
      inTurn(id, async () => {
        if (directory.byId(id)?.daysFromFirstLogin == null) return;
        const fieldsOf = ({ daysFromFirstLogin: days }: Account): AccountUpdate | null =>
          days === null ? null : { expiresAt: toWireDate(at + days * DAY_MS), daysFromFirstLogin: null };
        const [changed] = await writes.update([{ id, fieldsOf }]);
        // Another process has set the expiry, for example at a login to another node.
        if (!changed) await writes.refresh([id]);
      }),

    resetUsage: (id, by) => inTurn(id, () => writes.resetUsage(id, by)),
    removeMany: (ids, by) => inTurnOfAll(inTurn, ids, () => writes.removeMany(ids, by)),

    remove: (id, by, refuse = refuseNone) =>
      inTurn(id, async () => {
        const removed = await writes.remove(id, by, refuse);
        if (typeof removed === 'string') return refused(removed);
        return removed ? { ok: true, account: removed } : refused('not-found');
      }),

    refresh: (ids) => inTurnOfAll(inTurn, ids, () => writes.refresh(ids)),
  };
}

export function refused<Reason>(reason: Reason): Refused<Reason> {
  return { ok: false, reason };
}
