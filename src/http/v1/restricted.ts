// What handlers are given for an operator in place of everything: the one place where what it may know is restricted.
import type { AuditStore } from '../../core/audit/audit.js';
import type { Caller } from '../caller.js';
import type { RouteUses } from './routes.js';

/** Uses that know only what the operator may. */
export function usesOf(uses: RouteUses, { id }: NonNullable<Caller['operator']>): RouteUses {
  return { ...uses, audit: auditOf(uses.audit, id) };
}

/** The audit log, of which only what the operator did itself can be read. */
function auditOf(audit: AuditStore, operatorId: string): AuditStore {
  return {
    ...audit,
    list: (filter, before, limit) => audit.list({ ...filter, operatorId }, before, limit),
    count: (filter) => audit.count({ ...filter, operatorId }),
  };
}
