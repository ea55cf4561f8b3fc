// The session permits of this node, by account, in the order in which they were acquired.
import { addToSet, deleteFromSet } from '../../maps.js';
import type { AccountLimits, LimitRefusal } from '../usage/limits.js';

/** Limits that permits count for; null: no limit. */
export type PermitLimits = Pick<AccountLimits, 'maxSessions' | 'maxClientAddresses'>;

export interface HeldPermit {
  /** GUID. */
  readonly id: string;
  readonly accountId: string;
  readonly client: string;
}

export interface WantedPermit extends HeldPermit, PermitLimits {}

export interface PermitStore {
  /**
   * Removes the ended permits of this process, writes the held ones, and then decides the wanted ones, in their order per account.
   * A wanted permit counts against the permits of all live nodes, and is written unless it is refused. The exchange is atomic.
   * @returns the reasons of the refused permits, by id
   */
  exchange(now: {
    readonly endedIds: readonly string[];
    readonly held: readonly HeldPermit[];
    readonly wanted: readonly WantedPermit[];
    /** If the lease of this node has expired, extends it by this time: permits of a node without a lease do not count. */
    readonly leaseMs: number;
  }): Promise<ReadonlyMap<string, LimitRefusal>>;
  /**
   * Finds the permits of an account beyond these limits, of all live nodes; the permits that were written first stay. Notifies the
   * other nodes of their permits through the change log.
   * @returns the ids of the permits of this process
   */
  findSurplus(accountId: string, limits: PermitLimits): Promise<string[]>;
  /** Removes the permits of processes that no longer run. */
  trim(): Promise<void>;
}

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

  has(accountId: string): boolean {
    return this.#byAccount.has(accountId);
  }

  add(permit: RevocablePermit): void {
    this.#byId.set(permit.id, permit);
    addToSet(this.#byAccount, permit.accountId, permit);
  }

  /** Returns false when the permit was removed before. */
  remove(permit: RevocablePermit): boolean {
    if (!this.#byId.delete(permit.id)) return false;
    deleteFromSet(this.#byAccount, permit.accountId, permit);
    return true;
  }

  /** Why the account gets no further permit, counting only the permits of this node; null: it gets one. */
  refusal(wanted: HeldPermit, limits: PermitLimits): LimitRefusal | null {
    const permits = [...(this.#byAccount.get(wanted.accountId) ?? []), wanted];
    return refusalsOf(permits, limits).at(-1) ?? null;
  }

  /** The permits beyond the limits, counting only the permits of this node. The oldest permits and the first addresses stay. */
  surplus(accountId: string, limits: PermitLimits): RevocablePermit[] {
    const permits = [...(this.#byAccount.get(accountId) ?? [])];
    const refusals = refusalsOf(permits, limits);
    return permits.filter((_, at) => refusals[at] !== null);
  }
}

/** Why each permit is beyond the limits, where the ones before it stay; null: it is not. */
function refusalsOf(
  permits: readonly HeldPermit[],
  { maxSessions, maxClientAddresses }: PermitLimits,
): (LimitRefusal | null)[] {
  const clients = new Set<string>();
  let count = 0;
  return permits.map(({ client }) => {
    if (count >= (maxSessions ?? Infinity)) return 'too-many-sessions';
    if (!clients.has(client) && clients.size >= (maxClientAddresses ?? Infinity)) return 'too-many-addresses';
    count += 1;
    clients.add(client);
    return null;
  });
}
