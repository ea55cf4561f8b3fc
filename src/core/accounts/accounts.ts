// The account service. The API, the console, the command line and imports make every change of accounts, limits and quota resets
// through it. It writes a change to the database in one transaction, then updates the directory, which notifies its listeners, and
// then returns.
import type { Actor } from '../audit/audit.js';
import { noRefusal, type RefusalOf } from '../settings/setting.js';
import { DAY_MS } from '../time/clock.js';
import { createTurns, inTurnOfAll } from '../time/turns.js';
import { toWireDate } from '../time/wire-date.js';
import { type Account, isValidUsername } from './account.js';
import {
  type AccountChange,
  type AddRefusal,
  changed,
  changeRefusal,
  type Named,
  type NewAccount,
  newAccount,
  newAccountRefusal,
  type RenameRefusal,
  type UpdateRefusal,
} from './account-input.js';
import { createAccountViews } from './account-query.js';
import { UsernameTaken } from './account-store.js';
import { type AccountWriteDeps, createAccountWrites, type Imported } from './account-writes.js';
import { createAddressCheck } from './directory.js';
import type { AddressSettings, RefusedAddress } from './fields/account-fields.js';

type AddResult = Done | Refused<AddRefusal>;
type RemoveResult = Done | Refused<'not-found' | 'changed-meanwhile'>;
export type PatchRefusal = UpdateRefusal | RenameRefusal | 'changed-meanwhile';
type PatchResult = Done | Refused<PatchRefusal>;

/**
 * Returns the change of a stored account, or why it is refused. Runs in the transaction that writes the change, while the account is
 * locked, and again when the transaction is repeated.
 */
export type ChangeOf = (stored: Account) => AccountChange | Refused<PatchRefusal>;

interface Done {
  readonly ok: true;
  /** The account after the change, or before its removal. */
  readonly account: Account;
}
export interface Refused<Reason> {
  readonly ok: false;
  readonly reason: Reason;
  /** What is wrong with which list; set for the reasons of a list of addresses. */
  readonly address?: RefusedAddress['address'];
  readonly list?: RefusedAddress['list'];
}

/** Every change rejects, and changes nothing, when the database cannot be written. */
export type Accounts = ReturnType<typeof createAccounts>;

/**
 * Creates the service for a loaded `directory`. Reads come from memory; writes go to `store` first.
 * `newId` returns a fresh lower-case GUID.
 */
export function createAccounts(
  deps: AccountWriteDeps &
    AddressSettings & {
      readonly egressClasses: readonly string[];
      readonly hasExit: (name: string, owner: string | null) => boolean;
      readonly newId: () => string;
    },
) {
  const { directory, pool, now } = deps;
  const writes = createAccountWrites(deps);
  // Change an account one at a time, so that the directory is updated in the order of the writes.
  const inTurn = createTurns();
  const addressCheck = createAddressCheck(deps);
  const named: Named = {
    hasEgressClass: (name) => name === null || deps.egressClasses.includes(name),
    hasExit: (name, owner = null) => name === null || deps.hasExit(name, owner),
  };

  function renameRefusal(before: Account, username = before.username): RenameRefusal | null {
    if (username === before.username) return null;
    if (!isValidUsername(username)) return 'invalid-username';
    return directory.byUsername(username) ? 'username-taken' : null;
  }

  /** Returns the stored account after a change, or why it cannot be changed in this way. */
  function afterChange(stored: Account, change: ReturnType<ChangeOf>): Account | Refused<PatchRefusal> {
    if ('ok' in change) return change;
    const refusal = changeRefusal(change, stored, named) ?? renameRefusal(stored, change.username);
    if (refusal) return refused(refusal);
    const read = addressCheck.read(change, stored.id);
    return read.ok ? changed(stored, read.change) : read;
  }

  async function addMany(inputs: readonly NewAccount[], by?: Actor) {
    const checked = inputs.map((input, index) => ({ index, input, reason: newAccountRefusal(input, named) }));
    const wanted = checked.flatMap(({ index, input, reason }) =>
      reason === null ? [{ index, account: newAccount(input, deps.newId(), now()) }] : [],
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
    ...named,
    maxAuthorizedAddresses: deps.maxAuthorizedAddresses,
    maxAllowedClients: deps.maxAllowedClients,
    geoFiles: deps.geoFiles,
    /**
     * Creates accounts in one transaction; use at most some hundreds per call. Returns the index of each refused account; the others
     * are created.
     */
    addMany,
    /**
     * Adds imported accounts in one transaction. Returns the added accounts; the names of the others are taken. Rejects with
     * AddressTaken, and adds none, when another account has one of their authorized addresses.
     */
    addImported: writes.add,

    async add(input: NewAccount, by?: Actor): Promise<AddResult> {
      const read = addressCheck.read(input);
      if (!read.ok) return read;
      try {
        const { added, refused: refusals } = await addMany([read.change], by);
        const [done] = added;
        if (done) return { ok: true, account: done.account };
        return refused(refusals[0]?.reason ?? 'username-taken');
      } catch (error) {
        return addressCheck.refusalOf(error);
      }
    },

    /**
     * Changes only the given fields and limits. A new user name or password ends live sessions; the account keeps its heartbeats and
     * history.
     */
    patch: (id: string, changeOf: ChangeOf, by: Actor): Promise<PatchResult> =>
      inTurn(id, async () => {
        // Also an account that this process does not know yet: another may have added it a moment ago.
        const outcome: { refusal: Refused<PatchRefusal> } = { refusal: refused('not-found') };
        const after = (stored: Account): Account | null => {
          const account = afterChange(stored, changeOf(stored));
          if (!('ok' in account)) return account;
          outcome.refusal = account;
          return null;
        };
        try {
          const [account] = await writes.change([{ id, after }], by);
          return account ? { ok: true, account } : outcome.refusal;
        } catch (error) {
          // Another process may have just given the name or an address to another account.
          if (error instanceof UsernameTaken) return refused('username-taken');
          return addressCheck.refusalOf(error);
        }
      }),

    /**
     * Changes accounts in one transaction, each at most once, by an import with its usage on another server. Where `changeOf` returns
     * null, the account stays as it is; an exception of it rolls back all changes. The result omits accounts that do not exist, stay as
     * they are, or whose change is refused. Rejects with AddressTaken, and changes none, when another account has one of the
     * authorized addresses, which `readAddressLists` must have read.
     */
    patchMany: (
      changes: readonly (Imported & {
        readonly id: string;
        readonly changeOf: (stored: Account) => AccountChange | null;
      })[],
      by: Actor,
    ): Promise<readonly Account[]> =>
      inTurnOfAll(
        inTurn,
        changes.map(({ id }) => id),
        () => {
          const writable = changes.map(({ id, changeOf, used }) => ({
            id,
            used,
            after(stored: Account) {
              const change = changeOf(stored);
              const isRefused = change === null || changeRefusal(change, stored, named) !== null;
              return isRefused ? null : changed(stored, change);
            },
          }));
          return writes.change(writable, by);
        },
      ),

    /**
     * Sets the expiry of an account that waits for its first login, which was at `at` (ms since the epoch). Does nothing for other
     * accounts.
     */
    firstLogin: (id: string, at: number): Promise<void> =>
      inTurn(id, async () => {
        if (directory.byId(id)?.daysFromFirstLogin == null) return;
        const after = (stored: Account): Account | null => {
          const { daysFromFirstLogin: days } = stored;
          return days === null ? null : changed(stored, { expiresAt: toWireDate(at + days * DAY_MS) });
        };
        const [account] = await writes.change([{ id, after }]);
        // Another process has set the expiry, for example at a login to another node.
        if (!account) await writes.refresh([id]);
      }),

    /** Resets the usage of the quota periods; returns the accounts that exist. */
    resetUsage: (ids: readonly string[], by: Actor): Promise<readonly Account[]> =>
      inTurnOfAll(inTurn, ids, () => writes.resetUsage(ids, by)),
    /** Removes accounts in one transaction; returns those that existed. */
    removeMany: (ids: readonly string[], by: Actor): Promise<Account[]> =>
      inTurnOfAll(inTurn, ids, () => writes.removeMany<never>(ids, by)),

    /** Removes an account with its heartbeat data, and ends its live sessions, unless `refusalOf` returns a refusal for the stored account. */
    remove: (
      id: string,
      by?: Actor,
      refusalOf: RefusalOf<Account, 'changed-meanwhile'> = noRefusal,
    ): Promise<RemoveResult> =>
      inTurn(id, async () => {
        const removed = await writes.removeMany([id], by, refusalOf);
        if (typeof removed === 'string') return refused(removed);
        const [account] = removed;
        return account ? { ok: true, account } : refused('not-found');
      }),

    /** Reloads accounts that another process changed, added or removed; their usage follows a moment later. */
    refresh: (ids: readonly string[]): Promise<void> => inTurnOfAll(inTurn, ids, () => writes.refresh(ids)),
  };
}

export const refused = <Reason>(reason: Reason): Refused<Reason> => ({ ok: false, reason });
