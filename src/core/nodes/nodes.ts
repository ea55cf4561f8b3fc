// The nodes of the service: daemons that share one database. Each holds a lease on its name; all times are the database's.
import type { AuditRecord } from '../audit/audit.js';

/** In the list of changes: a node was drained, or takes connections again. */
export const NODES_KEY = 'nodes';

/** What a node does at the moment, as it says with each renewal of its lease. */
export interface NodeLoad {
  readonly sessions: number;
  readonly accountsOnline: number;
  readonly bytesPerSecondUp: number;
  readonly bytesPerSecondDown: number;
  /** Of one core. */
  readonly cpuPercent: number;
  /** How long the database took to answer the renewal before, in ms; null: none has been answered yet. */
  readonly databaseDelayMs: number | null;
}

export interface NodeAddresses {
  readonly socks: readonly string[];
  readonly admin: readonly string[];
}

/**
 * `serving`; `draining`: takes no new connections, and has sessions; `drained`: and has none; `lost`: its lease has run out;
 * `stopped`: it ended in order.
 */
export type NodeState = 'serving' | 'draining' | 'drained' | 'lost' | 'stopped';

export interface FleetNode {
  readonly name: string;
  readonly state: NodeState;
  /** Whether an operator has drained it: it stays so when it starts again. */
  readonly isDrained: boolean;
  readonly version: string;
  readonly addresses: NodeAddresses;
  readonly load: NodeLoad;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly renewedAt: number;
  /** How much of its lease is left, in ms; 0: it is lost or has stopped. */
  readonly leaseLeftMs: number;
}

/** Who claims a name. */
export interface NodeClaim {
  readonly name: string;
  /** GUID of the data folder, on which one daemon can run. */
  readonly owner: string;
  /** GUID of the process. */
  readonly process: string;
  readonly version: string;
  readonly leaseMs: number;
}

export type Claimed =
  | { readonly ok: true; readonly isDrained: boolean }
  /** Another process holds the name. `renewedAt`: its last sign of life. */
  | { readonly ok: false; readonly renewedAt: number; readonly leaseLeftMs: number };

export interface NodeStore {
  /** Takes the name if it is free: of this owner, or its lease has run out. */
  claim(claim: NodeClaim): Promise<Claimed>;
  /**
   * Holds the name for another lease. `isFirst`: of all live nodes by name. `otherVersions`: of live nodes, each once. null: it is
   * another process's by now.
   */
  renew(
    claim: NodeClaim,
    now: { readonly addresses: NodeAddresses; readonly load: NodeLoad },
  ): Promise<{
    readonly isDrained: boolean;
    readonly isFirst: boolean;
    readonly otherVersions: readonly string[];
  } | null>;
  /** Gives the name back. */
  release(claim: NodeClaim): Promise<void>;
  /** In the order of their names. */
  list(): Promise<FleetNode[]>;
  /** False: there is no such node. */
  setDrained(name: string, isDrained: boolean, audit: AuditRecord): Promise<boolean>;
}

export function nodeStateOf(node: {
  readonly hasStopped: boolean;
  readonly leaseLeftMs: number;
  readonly isDrained: boolean;
  readonly sessions: number;
}): NodeState {
  if (node.hasStopped) return 'stopped';
  if (node.leaseLeftMs <= 0) return 'lost';
  if (!node.isDrained) return 'serving';
  return node.sessions > 0 ? 'draining' : 'drained';
}
