// Decides what to do with a record of a file: report an error, or add, replace, keep or skip an account.
import {
  AddressIndex,
  type AddressRefusal,
  addressTaken,
  NO_ADDRESSES,
} from '../core/accounts/access/address-list.js';
import type { Account } from '../core/accounts/account.js';
import { type AccountChange, newAccount } from '../core/accounts/account-input.js';
import type { AccountViews } from '../core/accounts/account-query.js';
import type { Accounts } from '../core/accounts/accounts.js';
import {
  type AddressSettings,
  type GivenFields,
  readAddressLists,
  storedFields,
} from '../core/accounts/fields/account-fields.js';
import { type AccountLimits, NO_LIMITS } from '../core/accounts/usage/limits.js';
import type { Clock } from '../core/time/clock.js';
import { because, type Reason, reasonText } from './reasons.js';
import type { FileAccount, FileRecord } from './record.js';

/**
 * The action for an existing account: `replace` overwrites the fields that the file contains; `keep` adds only missing limits
 * and usage; `skip` changes nothing.
 */
export type OnExisting = 'keep' | 'replace' | 'skip';

export interface ImportedLine {
  /** 1 is the first line of the file. */
  readonly line: number;
  readonly username: string | null;
  readonly outcome: 'added' | 'replaced' | 'kept' | 'skipped' | 'failed';
  /** Why, for `skipped` and `failed`. */
  readonly message: string | null;
  /** The same as a code, for translations. */
  readonly reason: Reason | null;
  /** The account after the import; null for a failed or skipped line. `expiresAt` in ms since the epoch. */
  readonly account: ImportedFields | null;
}

type ImportedFields = Pick<Account, 'remarks' | 'expiresAt' | 'authorizedAddresses' | 'allowedClients'>;

/** No change is needed: the line contains the reason. */
interface Settled {
  readonly kind: 'settled';
  readonly line: ImportedLine;
}

interface ToDo {
  readonly line: ImportedLine;
  /** The fields of the file, with the lists of addresses as they are stored. */
  readonly from: FileAccount;
  /** The account to add, or the present one. */
  readonly account: Account;
}

export interface ToAdd extends ToDo {
  readonly kind: 'add';
}

export interface ToChange extends ToDo {
  readonly kind: 'replace' | 'keep';
}

/** A record, and what the import does with it. */
export type Item = Settled | ToAdd | ToChange;

export interface ItemDeps {
  readonly accounts: AccountViews & AddressSettings & Pick<Accounts, 'hasEgressClass' | 'hasExit'>;
  /** Whether the caller may change what it needs more rights for, such as exit and egress class. `present`: null of a new account. */
  readonly mayChange: (change: AccountChange, present: Account | null) => boolean;
  /** Whether added accounts may keep the id of the file. The logins of a deleted account are kept under its id. */
  readonly mayChooseIds: boolean;
  readonly existing: OnExisting;
  /** Whether the import adds an exit before the accounts that name it. */
  readonly isExitToAdd: (name: string) => boolean;
  readonly now: Clock;
  readonly newId: () => string;
}

/** Decides what becomes of the records of one file, in order. Remembers names and ids to detect duplicates. */
export function createItems(deps: ItemDeps): (record: FileRecord) => Item {
  const names = new Set<string>();
  const ids = new Set<string>();
  const addresses = createAddressHolders(deps.accounts);

  function idFor({ id: wanted }: FileAccount): string {
    const isFree =
      wanted !== undefined && deps.mayChooseIds && !ids.has(wanted) && !deps.accounts.hasId(wanted);
    const id = isFree ? wanted : deps.newId();
    ids.add(id);
    return id;
  }

  /** Returns why the record cannot change the account, or add one when there is none; null when it can. */
  function refusal(from: FileAccount, existing: Account | null): Reason | null {
    const { username, exit, limits } = from;
    if (names.has(username)) return because('twice');
    names.add(username);
    const isOtherExit = exit !== undefined && exit !== (existing?.exit ?? null);
    const hasExit =
      !isOtherExit || deps.isExitToAdd(exit ?? '') || deps.accounts.hasExit(exit, existing?.owner);
    if (!hasExit) return because('no-exit');
    if (!deps.accounts.hasEgressClass(limits.egressClass ?? null)) return because('no-egress-class');
    return deps.mayChange(from, existing) ? null : because('egress-scope');
  }

  function toChange(line: number, from: FileAccount, existing: Account, kind: 'replace' | 'keep'): Item {
    const { username } = from;
    if (kind === 'keep') return { kind, line: done(line, 'kept', existing), from, account: existing };
    const checked = addresses.set(username, from);
    if (!checked.ok) return settled(line, username, 'failed', checked.address);
    const after = { ...existing, ...storedFields(checked.change) };
    return { kind, line: done(line, 'replaced', after), from: checked.change, account: existing };
  }

  function toAdd(line: number, from: FileAccount): Item {
    const { username } = from;
    // The name belongs to an account of another owner, which the caller may not see.
    if (deps.accounts.hasUsername(username))
      return settled(line, username, 'failed', because('taken-meanwhile'));
    if (from.password === undefined && from.passwordHash === undefined)
      return settled(line, username, 'failed', because('no-password'));
    const checked = addresses.set(username, from);
    if (!checked.ok) return settled(line, username, 'failed', checked.address);
    const limits = missingLimits(from.limits, NO_LIMITS, 'add');
    const input = { ...checked.change, limits: Object.keys(limits).length > 0 ? limits : undefined };
    const account = newAccount(input, idFor(from), from.createdAt ?? deps.now());
    return { kind: 'add', line: done(line, 'added', account), from: checked.change, account };
  }

  return (record) => {
    const { line } = record;
    if ('fault' in record) return settled(line, record.username, 'failed', record.fault);
    const { username, linkHash: hash } = record.account;
    const existing = deps.accounts.getByUsername(username)?.account ?? null;
    const isNewLink = hash !== undefined && hash !== existing?.link?.hash;
    const from = { ...record.account, link: isNewLink ? { hash, createdAt: deps.now() } : undefined };
    const refused = refusal(from, existing);
    if (refused) return settled(line, username, 'failed', refused);
    if (!existing) return toAdd(line, from);
    if (deps.existing === 'skip') return settled(line, username, 'skipped', because('exists'));
    return toChange(line, from, existing, deps.existing);
  };
}

function done(line: number, outcome: ImportedLine['outcome'], account: Account): ImportedLine {
  const { username, remarks, expiresAt, authorizedAddresses, allowedClients } = account;
  const fields = { remarks, expiresAt, authorizedAddresses, allowedClients };
  return { line, username, outcome, message: null, reason: null, account: fields };
}

function settled(
  line: number,
  username: string | null,
  outcome: ImportedLine['outcome'],
  reason: Reason,
): Settled {
  return {
    kind: 'settled',
    line: { line, username, outcome, message: reasonText(reason), reason, account: null },
  };
}

/** The limits of `wanted` to set. With `keep`, only limits that the account does not have. */
export function missingLimits(
  wanted: Partial<AccountLimits>,
  has: AccountLimits,
  kind: 'add' | 'replace' | 'keep',
): Partial<AccountLimits> {
  return Object.fromEntries(
    Object.entries(wanted).filter(([name, value]) => {
      const now = has[name as keyof AccountLimits];
      if (now === value) return false;
      return kind !== 'keep' || now === null || (name === 'quotaPeriod' && has.quotaBytes === null);
    }),
  );
}

/**
 * Tracks who holds each authorized address after the lines decided so far, so that a dry run and an import refuse the same
 * lines.
 */
function createAddressHolders(accounts: Pick<AccountViews, 'list'> & AddressSettings) {
  /** The addresses by user name. They are indexed at the first line with addresses: other files need no index. */
  let held: ReturnType<typeof open> | null = null;

  function open() {
    const index = new AddressIndex<string>();
    const of = new Map<string, readonly string[]>();
    for (const { account } of accounts.list()) {
      if (account.authorizedAddresses.length === 0) continue;
      index.add(account.username, account.authorizedAddresses);
      of.set(account.username, account.authorizedAddresses);
    }
    return { index, of };
  }

  return {
    /** Reads the lists of a change of an account, and sets its authorized addresses, unless they are undefined or refused. */
    set<Change extends GivenFields>(
      username: string,
      given: Change,
    ):
      | { readonly ok: true; readonly change: Change }
      | { readonly ok: false; readonly address: AddressRefusal } {
      const read = readAddressLists(given, accounts);
      if (!read.ok || read.change.authorizedAddresses === undefined) return read;
      const { authorizedAddresses } = read.change;
      held ??= open();
      for (const entry of authorizedAddresses) {
        const other = held.index.overlap(entry, username);
        if (other !== undefined) return { ok: false, address: addressTaken(entry, other) };
      }
      held.index.remove(username, held.of.get(username) ?? NO_ADDRESSES);
      held.index.add(username, authorizedAddresses);
      held.of.set(username, authorizedAddresses);
      return read;
    },
  };
}
