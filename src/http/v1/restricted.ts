// What handlers are given for an operator in place of everything: the one place where what it may know is restricted.
import type { Accounts } from '../../core/accounts/accounts.js';
import { accountsOf } from '../../core/accounts/owned-accounts.js';
import type { AuditStore } from '../../core/audit/audit.js';
import { sessionsOf } from '../../core/sessions/sessions-of.js';
import { type Caller, isSeller } from '../caller.js';
import type { Watched } from './events.js';
import type { RouteUses } from './routes.js';

/** Uses that know only what the operator may: of the audit log its own part, and as a seller its own accounts. */
export function usesOf(uses: RouteUses, operator: NonNullable<Caller['operator']>): RouteUses {
  const audit = auditOf(uses.audit, operator.id);
  if (operator.role !== 'seller') return { ...uses, audit };
  const owner = operator.id;
  const accounts = accountsOf(uses.accounts, owner);
  const { logins, heartbeats, heartbeatSums, events } = uses;
  return {
    ...uses,
    audit,
    accounts,
    countAccounts: accounts.count,
    liveSessions: sessionsOf(uses.liveSessions, (id) => accounts.get(id) !== null),
    logins: {
      list: (filter, before, limit) => logins.list({ ...filter, owner }, before, limit),
      count: (filter) => logins.count({ ...filter, owner }),
    },
    heartbeats: { list: (filter, before, limit) => heartbeats.list({ ...filter, owner }, before, limit) },
    heartbeatSums: {
      series: (range, by, limit) => heartbeatSums.series(range, by, limit, owner),
      largest: (range, by, limit) => heartbeatSums.largest(range, by, limit, owner),
    },
    events: { open: (caller) => events.open(caller, watchedBy(uses.accounts, accounts)) },
  };
}

/** The accounts that the caller may know. */
export function accountsFor(accounts: Accounts, caller: Caller | undefined): Accounts {
  return caller?.operator && isSeller(caller) ? accountsOf(accounts, caller.operator.id) : accounts;
}

/** The audit log, of which only what the operator did itself can be read. */
function auditOf(audit: AuditStore, operatorId: string): AuditStore {
  return {
    ...audit,
    list: (filter, before, limit) => audit.list({ ...filter, operatorId }, before, limit),
    count: (filter) => audit.count({ ...filter, operatorId }),
  };
}

/** A change without an id says only that a page may have something new. */
function watchedBy(all: Accounts, own: Accounts): Watched {
  return {
    hasOverview: false,
    filter({ topic, id }) {
      if (topic === 'runs' || topic === 'agents') return null;
      if (topic !== 'accounts' || id === null || own.get(id)) return { topic, id };
      // Of an account that is gone nobody can tell whose it was.
      return all.hasId(id) ? null : { topic, id: null };
    },
  };
}
