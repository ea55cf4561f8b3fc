// What connections use of their worker. Only this interface lets them name it: the worker imports them. Everything is passed in:
// src/proxy uses no global state.
import type { EgressPolicy } from '../../core/egress/egress.js';
import type { IpBytes } from '../../core/ip.js';
import type { Log } from '../../core/log.js';
import type { Resolve } from '../dns/messages.js';
import type { Handshakes } from '../memory/handshakes.js';
import type { ProxySettings } from '../plane-settings.js';
import type { FragmentMemory } from '../protocols/fragments.js';
import type { ProxySources } from '../protocols/proxy-header.js';
import type { WorkerExits } from '../upstreams/exits.js';
import type { Upstreams } from '../upstreams/rules.js';
import type { WorkerAccounts } from '../worker/accounts.js';
import type { Guards } from '../worker/guards.js';
import type { WorkerPermits } from '../worker/permits.js';
import type { WorkerSessions } from '../worker/sessions.js';
import type { Connections } from './connections.js';
import type { Logins } from './logins.js';
import type { RelayedHost } from './relayed.js';

export interface ConnectionHost extends RelayedHost {
  readonly settings: ProxySettings;
  /** Lines for the log; written by the control plane. */
  readonly log: Log;
  readonly handshakes: Pick<Handshakes, 'add' | 'addRefused' | 'setSource' | 'delete'>;
  readonly logins: Logins;
  readonly permits: Pick<WorkerPermits, 'acquire'>;
  readonly guards: Pick<Guards, 'admit' | 'failed' | 'lookupsOf' | 'note'>;
  readonly accounts: Pick<WorkerAccounts, 'byId' | 'makeRoomForAssociation'>;
  readonly sessions: Pick<WorkerSessions, 'open'>;
  readonly connections: Connections;
  /** Whether PROXY headers of this peer are trusted. */
  readonly isTrustedProxy: ProxySources;
  /** The policy of an egress class; null: the configuration has no such class. */
  readonly egressOf: (egressClass: string | null) => EgressPolicy | null;
  readonly resolve: Resolve;
  readonly upstreams: Upstreams;
  readonly exits: Pick<WorkerExits, 'use' | 'setUp' | 'failed'>;
  /** Whether an address (IPv4-mapped ones as IPv4) belongs to this machine. */
  isLocalAddress(ip: IpBytes): boolean;
  readonly fragmentMemory: FragmentMemory;
}
