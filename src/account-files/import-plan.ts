// Decides what to do with a record of a file: report an error, or add, replace, keep or skip an account.

import { NO_ADDRESSES } from '../core/accounts/access/address-list.js';
import { hashPassword } from '../core/accounts/access/password.js';
import type { Account } from '../core/accounts/account.js';
import type { Accounts } from '../core/accounts/accounts.js';
import { changedContacts, NO_CONTACTS } from '../core/accounts/fields/contacts.js';
import { type AccountLimits, NO_LIMITS } from '../core/accounts/usage/limits.js';
import type { Clock } from '../core/clock.js';
import { createAddressPlan } from './address-plan.js';
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

export interface ImportedFields {
  readonly remarks: string | null;
  readonly expiresAt: number | null;
  readonly authorizedAddresses: readonly string[];
  readonly allowedClients: readonly string[];
}

/** No change is needed: the line contains the reason. */
export interface Settled {
  readonly kind: 'settled';
  readonly line: ImportedLine;
}

interface ToDo {
  readonly line: ImportedLine;
  /** To set; undefined: the account keeps those it has. */
  readonly authorizedAddresses: readonly string[] | undefined;
  readonly allowedClients: readonly string[] | undefined;
  readonly from: FileAccount;
}

export interface ToAdd extends ToDo {
  readonly kind: 'add';
  readonly account: Account;
}

export interface ToChange extends ToDo {
  readonly kind: 'replace' | 'keep';
  readonly account: Account;
}

export type Plan = Settled | ToAdd | ToChange;

export interface PlanDeps {
  readonly accounts: Pick<
    Accounts,
    | 'get'
    | 'getByUsername'
    | 'hasUsername'
    | 'hasId'
    | 'list'
    | 'hasEgressClass'
    | 'maxAuthorizedAddresses'
    | 'maxAllowedClients'
  >;
  /** Whether the caller may set the egress class of accounts. */
  readonly mayChooseEgress: boolean;
  /** Whether added accounts may keep the id of the file. The logins of a deleted account are kept under its id. */
  readonly mayChooseIds: boolean;
  readonly existing: OnExisting;
  readonly now: Clock;
  readonly newId: () => string;
}

/** Plans the records of one file in order. Remembers names and ids to detect duplicates. */
export function createPlanner(deps: PlanDeps): (record: FileRecord) => Plan {
  const names = new Set<string>();
  const ids = new Set<string>();
  const addresses = createAddressPlan(deps.accounts);

  function idFor({ id: wanted }: FileAccount): string {
    const isFree =
      wanted !== undefined && deps.mayChooseIds && !ids.has(wanted) && !deps.accounts.hasId(wanted);
    const id = isFree ? wanted : deps.newId();
    ids.add(id);
    return id;
  }

  /** Returns why the record cannot change the account, or add one when there is none; null when it can. */
  function refusal(
    { username, limits: { egressClass } }: FileAccount,
    existing: Account | null,
  ): Reason | null {
    if (names.has(username)) return because('twice');
    names.add(username);
    if (egressClass === undefined) return null;
    if (!deps.accounts.hasEgressClass(egressClass)) return because('no-egress-class');
    const present = existing ? existing.limits.egressClass : null;
    return egressClass !== present && !deps.mayChooseEgress ? because('egress-scope') : null;
  }

  function planChange(line: number, from: FileAccount, existing: Account, kind: 'replace' | 'keep'): Plan {
    const { username } = from;
    const planned = addresses.set(username, kind === 'replace' ? from : {});
    if (!planned.ok) return settled(line, username, 'failed', planned.refusal);
    const { authorizedAddresses, allowedClients } = planned;
    const fields = kind === 'replace' ? from : existing;
    const after = {
      remarks: fields.remarks === undefined ? existing.remarks : fields.remarks,
      expiresAt: fields.expiresAt === undefined ? existing.expiresAt : fields.expiresAt,
      authorizedAddresses: authorizedAddresses ?? existing.authorizedAddresses,
      allowedClients: allowedClients ?? existing.allowedClients,
    };
    return {
      kind,
      line: done(line, username, kind === 'replace' ? 'replaced' : 'kept', after),
      from,
      authorizedAddresses,
      allowedClients,
      account: existing,
    };
  }

  function planAddition(line: number, from: FileAccount): Plan {
    const { username } = from;
    // The name belongs to an account of another owner, which the caller may not see.
    if (deps.accounts.hasUsername(username))
      return settled(line, username, 'failed', because('taken-meanwhile'));
    const passwordHash = from.password === undefined ? from.passwordHash : hashPassword(from.password);
    if (passwordHash === undefined) return settled(line, username, 'failed', because('no-password'));
    const planned = addresses.set(username, from);
    if (!planned.ok) return settled(line, username, 'failed', planned.refusal);
    const { authorizedAddresses = NO_ADDRESSES, allowedClients = NO_ADDRESSES } = planned;
    const limits = missingLimits(from.limits, NO_LIMITS, 'add');
    const account: Account = {
      id: idFor(from),
      username,
      passwordHash,
      passwordVersion: 0,
      isEnabled: from.isEnabled ?? true,
      remarks: from.remarks ?? null,
      tags: from.tags ?? [],
      createdAt: from.createdAt ?? deps.now(),
      lastLoginAt: null,
      expiresAt: from.daysFromFirstLogin === undefined ? (from.expiresAt ?? null) : null,
      daysFromFirstLogin: from.daysFromFirstLogin ?? null,
      plan: from.plan ?? null,
      limits: Object.keys(limits).length > 0 ? { ...NO_LIMITS, ...limits } : NO_LIMITS,
      quotaReset: null,
      authorizedAddresses,
      allowedClients,
      schedule: from.schedule ?? null,
      owner: null,
      contacts: changedContacts(NO_CONTACTS, from.contacts),
    };
    const { remarks, expiresAt } = account;
    const after = { remarks, expiresAt, authorizedAddresses, allowedClients };
    return {
      kind: 'add',
      line: done(line, username, 'added', after),
      from,
      authorizedAddresses,
      allowedClients,
      account,
    };
  }

  return (record) => {
    const { line } = record;
    if ('fault' in record) return settled(line, record.username, 'failed', record.fault);
    const from = record.account;
    const { username } = from;
    const existing = deps.accounts.getByUsername(username)?.account ?? null;
    const refused = refusal(from, existing);
    if (refused) return settled(line, username, 'failed', refused);
    if (!existing) return planAddition(line, from);
    if (deps.existing === 'skip') return settled(line, username, 'skipped', because('exists'));
    return planChange(line, from, existing, deps.existing);
  };
}

function done(
  line: number,
  username: string,
  outcome: ImportedLine['outcome'],
  account: ImportedFields,
): ImportedLine {
  return { line, username, outcome, message: null, reason: null, account };
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
