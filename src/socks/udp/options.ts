// What UDP ASSOCIATE is given by the wiring.

import type { IpBytes } from '../../core/ip.js';
import type { DatagramEngine } from '../../core/sessions/datagram-relay.js';
import type { FragmentMemory } from './fragments.js';
import type { OwnDatagramPorts } from './own-ports.js';

export interface UdpOptions {
  readonly enabled: boolean;
  /** First and last port that sockets of associations may have; null leaves it to the system. */
  readonly portRange: readonly [number, number] | null;
  /** What clients are told to send to, at most one address a family; none: the address their TCP connection came to. */
  readonly publicAddresses: readonly string[];
  /** An association without a datagram either way for this long is ended, in ms. */
  readonly idleTimeoutMs: number;
  /** Whether datagrams from where the client never sent to reach it (RFC 4787 §5, endpoint-independent filtering). */
  readonly fullCone: boolean;
  /** Destinations that one association remembers; beyond that the one unused for longest is forgotten. */
  readonly maxDestinations: number;
  /** Datagrams of one association that wait while a parent proxy is asked; more are dropped. */
  readonly maxWaitingForParent: number;
  readonly engine: DatagramEngine;
  readonly fragmentMemory: FragmentMemory;
  readonly ownPorts: OwnDatagramPorts;
  /** Whether an unmapped address is one of this machine. */
  readonly isLocalAddress: (ip: IpBytes) => boolean;
}
