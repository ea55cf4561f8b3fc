// What the SOCKS side is given by the wiring: everything a command may ask of the rest of the daemon.
import type { SessionLimits } from '../core/accounts/account-limits.js';
import type { AccountDirectory } from '../core/accounts/directory.js';
import type { Clock } from '../core/clock.js';
import type { EgressPolicy } from '../core/egress/egress.js';
import type { Recorder } from '../core/heartbeats/heartbeat-recorder.js';
import type { Log } from '../core/log.js';
import type { OwnOutbound } from '../core/sessions/outbound.js';
import type { RelayEngine } from '../core/sessions/relay.js';
import type { SessionRegistry } from '../core/sessions/session.js';
import type { BindOptions } from './bind-options.js';
import type { Resolve } from './resolve.js';
import type { UdpOptions } from './udp/options.js';
import type { Upstreams } from './upstreams.js';

export interface SocksContext {
  readonly directory: AccountDirectory;
  /** The rules that hold for the account that is served. */
  readonly egress: EgressPolicy;
  readonly limits: SessionLimits;
  /** Whether destination names may contain underscores. */
  readonly allowUnderscore: boolean;
  readonly resolve: Resolve;
  readonly recorder: Recorder;
  readonly sessions: SessionRegistry;
  readonly outbound: OwnOutbound;
  readonly relay: RelayEngine;
  readonly udp: UdpOptions;
  readonly bind: BindOptions;
  readonly upstreams: Upstreams;
  readonly log: Log;
  readonly now: Clock;
  readonly newId: () => string;
  /** For all addresses of a destination together, in ms. */
  readonly connectTimeoutMs: number;
  /** A session without a byte either way for this long is ended, in ms. */
  readonly idleTimeoutMs: number;
  /** A session with one direction closed and no byte in the other for this long is ended, in ms. */
  readonly halfCloseTimeoutMs: number;
  /**
   * Counts a command that holds more descriptors than a CONNECT as one connection more. Returns how to give that back,
   * or null when there is no room.
   */
  readonly takeConnection: () => (() => void) | null;
}
