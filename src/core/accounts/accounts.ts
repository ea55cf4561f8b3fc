// The account service: every change of an account by the API, the console or the command line goes through here.
// A change is written to the database first, then to the directory (which ends live sessions), and only then answered.

import type { Actor } from '../audit/audit.js';
import type { Clock } from '../clock.js';
import { createTurns } from '../turns.js';
import { isWireDate } from '../wire-date.js';
import { type Account, type AccountUpdate, isValidPassword, isValidUsername } from './account.js';
import type { AccountStore, NewLimits } from './account-store.js';
import type { AccountDirectory } from './directory.js';
import type { AccountLimits } from './limits.js';
import { hashPassword } from './password.js';

/**
 * What a creation or an update sets besides the credentials. `expiresAt` in milliseconds since the epoch, in the years
 * 0001 to 9999 UTC.
 */
export interface AccountFields {
  readonly isEnabled: boolean;
  readonly remarks: string | null;
  readonly expiresAt: number | null;
}

/** What a field becomes when a creation or an update leaves it out. */
export const ACCOUNT_DEFAULTS: AccountFields = { isEnabled: true, remarks: null, expiresAt: null };

export interface NewAccount extends AccountFields {
  readonly username: string;
  readonly password: string;
}

/** `password` undefined, empty or only white space leaves the password as it is; the other fields are always written. */
export interface ChangedAccount extends AccountFields {
  readonly password?: string | undefined;
}

/** An account with what the heartbeat pool knows of it. */
export interface AccountView {
  readonly account: Account;
  /** Entries now in the pool. */
  readonly dataCount: number;
  /** GameID of the newest entry that has one. */
  readonly latestGameId: string | null;
}

export type AddRefusal =
  | 'empty-credentials'
  | 'invalid-username'
  | 'invalid-password'
  | 'invalid-remarks'
  | 'invalid-expiry'
  | 'username-taken';
export type UpdateRefusal = 'invalid-password' | 'invalid-remarks' | 'invalid-expiry' | 'not-found';

export type AddResult = Done | Refused<AddRefusal>;
export type UpdateResult = Done | Refused<UpdateRefusal>;
export type RemoveResult = Done | Refused<'not-found'>;

export interface AddManyResult {
  readonly added: readonly { readonly index: number; readonly account: Account }[];
  readonly refused: readonly { readonly index: number; readonly reason: AddRefusal }[];
}

/** What is undefined stays as it is. */
export interface AccountChange extends Partial<{ [K in keyof AccountFields]: AccountFields[K] | undefined }> {
  readonly password?: string | undefined;
  /** In place of a password, from an import. */
  readonly passwordHash?: string | undefined;
}

export type PatchResult = Done | Refused<UpdateRefusal | 'changed-meanwhile'>;

interface Done {
  readonly ok: true;
  /** As it is now; after a removal, as it last was. */
  readonly account: Account;
}
interface Refused<Reason> {
  readonly ok: false;
  readonly reason: Reason;
}

/** The part of the heartbeat pool that accounts need. */
export interface AccountPool {
  count(accountId: string): number;
  latestGameId(accountId: string): string | null;
  /** Forgets every entry of the account. */
  remove(accountId: string): void;
}

export interface Accounts {
  /** Creates an account, with its limits if any. Rejects when the database cannot be written; nothing has changed then. */
  add(input: NewAccount, by?: Actor, limits?: AccountLimits): Promise<AddResult>;
  /** Overwrites every field of an account. Ends its live sessions if it was disabled or its password changed. */
  update(id: string, input: ChangedAccount, by?: Actor): Promise<UpdateResult>;
  /** Removes an account and its heartbeat data, and ends its live sessions. */
  remove(id: string, by?: Actor): Promise<RemoveResult>;
  /**
   * Creates many accounts in one transaction, with the same limits if any; keep a call to some hundreds. Refused ones
   * are told by their index, the others are created. Rejects when the database cannot be written; nothing has changed
   * then.
   */
  addMany(inputs: readonly NewAccount[], by: Actor, limits?: AccountLimits): Promise<AddManyResult>;
  /**
   * Takes in accounts whose passwords are hashed already, as imports bring them, in one transaction with the limits of
   * those that get any; returns those that were added. Whoever keeps limits in memory is not told.
   */
  takeIn(accounts: readonly Account[], by: Actor, limits?: NewLimits): Promise<Account[]>;
  /** Changes only the fields given. `isCurrent` may refuse on what the account is at the moment of the change. */
  patch(
    id: string,
    change: AccountChange,
    by: Actor,
    isCurrent?: (account: Account) => boolean,
  ): Promise<PatchResult>;
  /** Changes many in one transaction; several changes of one account are joined. Those that no longer exist are left out of the answer. */
  patchMany(
    changes: readonly { readonly id: string; readonly change: AccountChange }[],
    by: Actor,
  ): Promise<Account[]>;
  /** Removes many in one transaction; returns those that there were. */
  removeMany(ids: readonly string[], by: Actor): Promise<Account[]>;
  /** Takes over accounts as the database has them, after another process changed, added or removed them. */
  refresh(ids: readonly string[]): Promise<void>;
  /** Every account in the order of creation. */
  list(): AccountView[];
  count(): number;
  get(id: string): AccountView | null;
  getByUsername(username: string): AccountView | null;
}

/** Whether `remarks` can be kept unaltered by every database: well-formed Unicode without U+0000. */
export function isValidRemarks(remarks: string): boolean {
  return remarks.isWellFormed() && !remarks.includes('\0');
}

/** Whether `expiresAt` can be written by every interface: never, or a moment in the years 0001 to 9999 (UTC). */
function isValidExpiry(expiresAt: number | null): boolean {
  return expiresAt === null || isWireDate(expiresAt);
}

/**
 * Builds the service over a loaded `directory`: reads come from memory, writes go to `store` first.
 * `newId` returns a fresh lower-case GUID.
 */
export function createAccounts(uses: {
  readonly store: AccountStore;
  readonly directory: AccountDirectory;
  readonly pool: AccountPool;
  readonly now: Clock;
  readonly newId: () => string;
}): Accounts {
  const { store, directory, pool } = uses;
  // One change of an account at a time: the directory must take in the answers in the order of the writes.
  const inTurn = createTurns();
  /**
   * The same for several accounts at once, each waited for once however often it is named. All of them queue up at the
   * same moment, so that no two can wait crosswise.
   */
  async function inTurnOfAll<T>(ids: readonly string[], task: () => Promise<T>): Promise<T> {
    let start = (): void => {};
    let finish = (): void => {};
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const started = new Promise<void>((resolve) => {
      start = resolve;
    });
    const each = new Set(ids);
    let waiting = each.size;
    if (waiting === 0) start();
    for (const id of each) {
      void inTurn(id, () => {
        waiting -= 1;
        if (waiting === 0) start();
        return finished;
      });
    }
    await started;
    try {
      return await task();
    } finally {
      finish();
    }
  }

  const accountOf = (input: NewAccount): Account => ({
    id: uses.newId(),
    username: input.username,
    passwordHash: hashPassword(input.password),
    isEnabled: input.isEnabled,
    remarks: input.remarks,
    createdAt: uses.now(),
    lastLoginAt: null,
    expiresAt: input.expiresAt,
  });

  async function takeIn(accounts: readonly Account[], by: Actor, limits?: NewLimits): Promise<Account[]> {
    const added = await store.addMany(accounts, by, limits);
    const taken = accounts.filter(({ id }) => added.has(id));
    for (const account of taken) directory.put(account);
    return taken;
  }

  const view = (account: Account): AccountView => ({
    account,
    dataCount: pool.count(account.id),
    latestGameId: pool.latestGameId(account.id),
  });
  const found = (account: Account | undefined): AccountView | null => (account ? view(account) : null);

  function forget(id: string): void {
    directory.remove(id);
    // After the sessions have ended, because each leaves a last entry.
    pool.remove(id);
  }

  return {
    async add(input, by, limits) {
      const refusal = refuseNew(input);
      if (refusal) return refused(refusal);
      const account = accountOf(input);
      return inTurn(account.id, async () => {
        const stored = await store.add(account, by, limits && new Map([[account.id, limits]]));
        if (stored === 'username-taken') return refused('username-taken');
        directory.put(account);
        return { ok: true, account };
      });
    },

    async update(id, input, by) {
      const password = isBlank(input.password) ? undefined : input.password;
      if (password !== undefined && !isValidPassword(password)) return refused('invalid-password');
      if (input.remarks !== null && !isValidRemarks(input.remarks)) return refused('invalid-remarks');
      if (!isValidExpiry(input.expiresAt)) return refused('invalid-expiry');
      const fields: AccountUpdate = {
        isEnabled: input.isEnabled,
        remarks: input.remarks,
        expiresAt: input.expiresAt,
        passwordHash: password === undefined ? undefined : hashPassword(password),
      };
      return inTurn(id, async () => {
        const account = await store.update(id, fields, by);
        if (!account) return refused('not-found');
        directory.put(account);
        return { ok: true, account };
      });
    },

    async addMany(inputs, by, limits) {
      const checked = inputs.map((input, index) => ({ index, input, reason: refuseNew(input) }));
      const wanted = checked.flatMap(({ index, input, reason }) =>
        reason === null ? [{ index, account: accountOf(input) }] : [],
      );
      const taken = new Set(
        (
          await takeIn(
            wanted.map(({ account }) => account),
            by,
            limits && new Map(wanted.map(({ account }) => [account.id, limits])),
          )
        ).map(({ id }) => id),
      );
      const refusedByRule = checked.flatMap(({ index, reason }) =>
        reason === null ? [] : [{ index, reason }],
      );
      const names = wanted.filter(({ account }) => !taken.has(account.id));
      return {
        added: wanted.filter(({ account }) => taken.has(account.id)),
        refused: [
          ...refusedByRule,
          ...names.map(({ index }) => ({ index, reason: 'username-taken' as const })),
        ].sort((a, b) => a.index - b.index),
      };
    },

    takeIn,

    async patch(id, change, by, isCurrent = () => true) {
      const refusal = refuseChange(change);
      if (refusal) return refused(refusal);
      return inTurn(id, async () => {
        const before = directory.byId(id);
        if (!before) return refused('not-found');
        if (!isCurrent(before)) return refused('changed-meanwhile');
        const account = await store.update(id, toUpdate(before, change), by);
        if (!account) return refused('not-found');
        directory.put(account);
        return { ok: true, account };
      });
    },

    patchMany: (changes, by) =>
      inTurnOfAll(
        changes.map(({ id }) => id),
        async () => {
          const updates = [...inOne(changes)].flatMap(([id, change]) => {
            const before = directory.byId(id);
            return before && refuseChange(change) === null ? [{ id, fields: toUpdate(before, change) }] : [];
          });
          const changed = await store.updateMany(updates, by);
          for (const account of changed) directory.put(account);
          return changed;
        },
      ),

    removeMany: (ids, by) =>
      inTurnOfAll(ids, async () => {
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
      inTurnOfAll(ids, async () => {
        const stored = new Map((await store.getMany(ids)).map((account) => [account.id, account]));
        for (const id of ids) {
          const account = stored.get(id);
          if (account) directory.put(account);
          else forget(id);
        }
      }),

    count: () => directory.size,
    list: () => Array.from(directory.all(), view),
    get: (id) => found(directory.byId(id)),
    getByUsername: (username) => found(directory.byUsername(username)),
  };
}

function refuseNew(input: NewAccount): AddRefusal | null {
  if (isBlank(input.username) || isBlank(input.password)) return 'empty-credentials';
  if (!isValidUsername(input.username)) return 'invalid-username';
  if (!isValidPassword(input.password)) return 'invalid-password';
  if (input.remarks !== null && !isValidRemarks(input.remarks)) return 'invalid-remarks';
  if (!isValidExpiry(input.expiresAt)) return 'invalid-expiry';
  return null;
}

function refuseChange({ password, remarks, expiresAt }: AccountChange): UpdateRefusal | null {
  if (password !== undefined && !isValidPassword(password)) return 'invalid-password';
  if (remarks !== undefined && remarks !== null && !isValidRemarks(remarks)) return 'invalid-remarks';
  if (expiresAt !== undefined && !isValidExpiry(expiresAt)) return 'invalid-expiry';
  return null;
}

/** One change for each account: of a field that several changes have, the last one counts. */
function inOne(
  changes: readonly { readonly id: string; readonly change: AccountChange }[],
): ReadonlyMap<string, AccountChange> {
  const joined = new Map<string, AccountChange>();
  for (const { id, change } of changes) {
    const given = Object.entries(change).filter(([, value]) => value !== undefined);
    joined.set(id, { ...joined.get(id), ...Object.fromEntries(given) });
  }
  return joined;
}

function toUpdate(before: Account, change: AccountChange): AccountUpdate {
  return {
    isEnabled: change.isEnabled ?? before.isEnabled,
    remarks: change.remarks === undefined ? before.remarks : change.remarks,
    expiresAt: change.expiresAt === undefined ? before.expiresAt : change.expiresAt,
    passwordHash: change.password === undefined ? change.passwordHash : hashPassword(change.password),
  };
}

function isBlank(text: string | undefined): boolean {
  return text === undefined || text.trim() === '';
}

function refused<Reason>(reason: Reason): Refused<Reason> {
  return { ok: false, reason };
}
