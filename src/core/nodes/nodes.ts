// The nodes of the service: daemons that share one database. Each holds a lease on its name; all times are the database's.
import type { AuditRecord } from '../audit/audit.js';

/** The key of changes of the drained state in the change log. */
export const NODES_KEY = 'nodes';

/** The load of a node, reported with each renewal of its lease. */
export interface NodeLoad {
  readonly sessions: number;
  readonly accountsOnline: number;
  readonly bytesPerSecondUp: number;
  readonly bytesPerSecondDown: number;
  /** 100 is one core. */
  readonly cpuPercent: number;
  /** Duration of the previous renewal, in ms; null: no renewal has succeeded yet. */
  readonly databaseDelayMs: number | null;
}

export interface NodeAddresses {
  readonly socks: readonly string[];
  readonly admin: readonly string[];
  /** How players reach the node, for links; null: its operator has set no public host. */
  readonly players: Omit<PlayerServer, 'name'> | null;
}

export interface PlayerListener {
  /** The address that it listens on, without brackets. */
  readonly address: string;
  readonly port: number;
  readonly protocols: readonly string[];
  readonly isTls: boolean;
  readonly hasUdp: boolean;
  /** The one of `socks` itself: the public address of links is its. */
  readonly isMain: boolean;
}

/** A node: its public address, and its listeners. */
export interface PlayerServer {
  readonly name: string;
  readonly host: string;
  readonly port: number;
  readonly listeners: readonly PlayerListener[];
}

/**
 * `serving`; `draining`: accepts no new connections, and still has sessions; `drained`: has no sessions left; `lost`: its lease
 * has expired; `stopped`: it was stopped regularly.
 */
export type NodeState = 'serving' | 'draining' | 'drained' | 'lost' | 'stopped';

export interface FleetNode {
  readonly name: string;
  readonly state: NodeState;
  /** Whether an operator has drained the node. A restart does not change it. */
  readonly isDrained: boolean;
  readonly version: string;
  readonly addresses: NodeAddresses;
  readonly load: NodeLoad;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly renewedAt: number;
  /** Remaining time of the lease, in ms; 0: the node is lost or has stopped. */
  readonly leaseLeftMs: number;
}

export interface NodeClaim {
  readonly name: string;
  /** GUID of the data folder, which only one daemon can use at a time. */
  readonly folderId: string;
  /** GUID of the process. */
  readonly process: string;
  readonly version: string;
  readonly leaseMs: number;
}

export type Claimed =
  | { readonly ok: true; readonly isDrained: boolean }
  /** Another process holds the name. `renewedAt`: the last renewal of its lease. */
  | { readonly ok: false; readonly renewedAt: number; readonly leaseLeftMs: number };

export interface NodeStore {
  /** Acquires the name if it is free, was this data folder's before, or its lease has expired. */
  claim(claim: NodeClaim): Promise<Claimed>;
  /**
   * Renews the lease. `isFirst`: whether the node is the first live node by name. `otherVersions`: the different versions of other
   * live nodes. null: another process has acquired the name.
   */
  renew(
    claim: NodeClaim,
    now: { readonly addresses: NodeAddresses; readonly load: NodeLoad },
  ): Promise<{
    readonly isDrained: boolean;
    readonly isFirst: boolean;
    readonly otherVersions: readonly string[];
  } | null>;
  release(claim: NodeClaim): Promise<void>;
  /** Sorted by name. */
  list(): Promise<FleetNode[]>;
  /** Returns false when there is no such node. */
  setDrained(name: string, isDrained: boolean, audit: AuditRecord): Promise<boolean>;
}
