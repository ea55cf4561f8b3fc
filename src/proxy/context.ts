// What a connection may ask of its worker. Everything here is passed in: nothing in src/proxy reaches for a global.
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
  /** The rules that hold for an account; null when its egress class has gone from the configuration. */
  egressOf(account: Account): EgressPolicy | null;
  readonly resolve: Resolve;
  readonly upstreams: Upstreams;
  /** Null: there is no room for another. */
  openSession(request: SessionRequest): Session | null;
  /** Live UDP associations of an account. */
  associations(account: Account): number;
  /** Ports of this process, over all workers. */
  readonly ownPorts: OwnPorts;
  /** Whether an unmapped address is one of this machine. */
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
