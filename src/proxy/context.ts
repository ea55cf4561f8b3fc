// What a connection uses of its worker. Everything is passed in: src/proxy uses no global state.
import type { EgressPolicy } from '../core/egress/egress.js';
import type { IpBytes } from '../core/ip.js';
import type { Log } from '../core/log.js';
import type { Account } from './account.js';
import type { Resolve } from './dns/resolve.js';
import type { Io } from './io/io.js';
import type { OwnPorts } from './own-ports.js';
import type { FragmentMemory } from './protocols/fragments.js';
import type { Session, SessionRequest } from './session.js';
import type { ProxySettings } from './settings.js';
import type { Upstreams } from './upstreams/rules.js';

export interface ConnectionContext {
  readonly io: Io;
  readonly settings: ProxySettings;
  /** The egress policy of an account; null when the configuration no longer has its egress class. */
  egressOf(account: Account): EgressPolicy | null;
  readonly resolve: Resolve;
  readonly upstreams: Upstreams;
  /** Null: no slot is free. */
  openSession(request: SessionRequest): Session | null;
  /** Live UDP associations of an account. */
  associations(account: Account): number;
  /** Ports of this process, over all workers. */
  readonly ownPorts: OwnPorts;
  /** Whether an address (IPv4-mapped ones as IPv4) belongs to this machine. */
  isLocalAddress(ip: IpBytes): boolean;
  readonly fragmentMemory: FragmentMemory;
  /**
   * Counts a command that holds more descriptors than a CONNECT as one connection more. Returns how to release it,
   * or null when there is no room.
   */
  tryAcquireConnection(): (() => void) | null;
  /** Lines for the log; written by the control plane. */
  readonly log: Log;
}
