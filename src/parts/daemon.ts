// The interface of the daemon: its options and its methods.
import type { X509Certificate } from 'node:crypto';
import type { Config } from '../config.js';
import type { GivenCredentials } from '../core/auth/admin-credentials.js';
import type { Log } from '../core/log.js';
import type { RecentLog } from '../core/recent-log.js';
import type { PlaneFailure } from '../proxy/plane/plane.js';
import type { GivenSocket } from '../systemd-sockets.js';
import type { ConfigSource } from './settings.js';

export interface DaemonOptions {
  readonly config: Config;
  /** The sources of the configuration, for the settings page. */
  readonly source: ConfigSource;
  readonly log: Log;
  readonly recentLog: RecentLog;
  readonly given: GivenCredentials;
  /** Listening sockets from systemd socket activation. */
  readonly sockets: readonly GivenSocket[];
}

/** The running daemon. */
export interface Daemon {
  /** `address:port` of every listener; `https://address:port` when the admin API uses TLS. */
  readonly ready: { readonly socks: readonly string[]; readonly admin: readonly string[] };
  /** The administrator's credentials if this start generated them, to show once; otherwise null. */
  readonly firstRun: { readonly username: string; readonly password: string } | null;
  /** The certificate of the admin API; null when it uses plain HTTP. */
  readonly certificate: X509Certificate | null;
  /**
   * Stops accepting connections, waits for sessions for `shutdownGrace`, writes pending data, and closes the database.
   * A second call ends the wait for sessions. Never rejects.
   * @returns whether every part stopped without errors and in time; the log names the others
   */
  stop(): Promise<boolean>;
  /** Reloads webhook secrets, API keys of agents, and certificates. Throws StartError or ConfigError and keeps the old ones on failure. */
  reload(config: Config): void;
  /** Whether every worker of the data plane responds. */
  isAlive(): boolean;
  /** Resolves when the data plane has failed and the process must restart; the log contains the reason. */
  readonly broken: Promise<PlaneFailure>;
}
