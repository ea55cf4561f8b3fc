// The database interface of agent sessions. `store/` implements it with knex.
import type { AgentSession, SessionMessage } from './runs.js';

export interface SessionFilter {
  readonly agent?: string;
  /** Text in the session key, ignoring case. */
  readonly search?: string;
  /** Only sessions after this position of the list. */
  readonly after?: { readonly lastUsedAt: number; readonly key: string };
  readonly limit: number;
}

export interface AgentSessionStore {
  /** Most recently used first. */
  list(filter: SessionFilter): Promise<AgentSession[]>;
  get(key: string): Promise<AgentSession | null>;
  /** Oldest first. */
  messages(key: string): Promise<SessionMessage[]>;
  /** Deletes the history of a session but not its runs; false when there is none. */
  remove(key: string): Promise<boolean>;
  /** Removes sessions last used before `before`. */
  trim(before: number): Promise<number>;
}
