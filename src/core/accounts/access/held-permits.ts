// The session permits of this node, by account, in the order in which they were acquired.
import type { LimitRefusal } from '../usage/limits.js';
import type { HeldPermit, PermitLimits } from './permit-store.js';

export interface RevocablePermit extends HeldPermit {
  /** Ends the session of the permit. */
  readonly revoke: () => void;
}

export class HeldPermits {
  readonly #byId = new Map<string, RevocablePermit>();
  readonly #byAccount = new Map<string, Set<RevocablePermit>>();

  all(): Iterable<RevocablePermit> {
    return this.#byId.values();
  }

  get(id: string): RevocablePermit | undefined {
    return this.#byId.get(id);
  }

  /** Whether this node has permits of the account. */
  has(accountId: string): boolean {
    return this.#byAccount.has(accountId);
  }

  add(permit: RevocablePermit): void {
    this.#byId.set(permit.id, permit);
    const others = this.#byAccount.get(permit.accountId) ?? new Set();
    this.#byAccount.set(permit.accountId, others.add(permit));
  }

  /** Returns false when the permit was removed before. */
  remove(permit: RevocablePermit): boolean {
    if (!this.#byId.delete(permit.id)) return false;
    const others = this.#byAccount.get(permit.accountId);
    others?.delete(permit);
    if (others?.size === 0) this.#byAccount.delete(permit.accountId);
    return true;
  }

  /** Why the account gets no further permit, counting only the permits of this node; null: it gets one. */
  refusal({ accountId, client }: HeldPermit, limits: PermitLimits): LimitRefusal | null {
    const { maxSessions, maxClientAddresses } = limits;
    const permits = [...(this.#byAccount.get(accountId) ?? [])];
    if (maxSessions !== null && permits.length >= maxSessions) return 'too-many-sessions';
    const clients = new Set(permits.map((permit) => permit.client));
    if (maxClientAddresses === null || permits.length === 0 || clients.has(client)) return null;
    return clients.size >= maxClientAddresses ? 'too-many-addresses' : null;
  }

  /** The permits beyond the limits, counting only the permits of this node. The oldest permits and the first addresses stay. */
  surplus(accountId: string, { maxSessions, maxClientAddresses }: PermitLimits): RevocablePermit[] {
    const clients = new Set<string>();
    let count = 0;
    return [...(this.#byAccount.get(accountId) ?? [])].filter(({ client }) => {
      const isTooMany =
        count >= (maxSessions ?? Number.POSITIVE_INFINITY) ||
        (!clients.has(client) && clients.size >= (maxClientAddresses ?? Number.POSITIVE_INFINITY));
      if (isTooMany) return true;
      count += 1;
      clients.add(client);
      return false;
    });
  }
}
