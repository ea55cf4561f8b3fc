// What the sessions of agents ask of a database. `store/` implements it with knex.
import type { AgentSession, SessionMessage } from './runs.js';

export interface SessionFilter {
  readonly agent?: string;
  /** Only keys with this text in them, whatever its case. */
  readonly search?: string;
  /** Only what comes after this place of the list. */
  readonly after?: { readonly lastUsedAt: number; readonly key: string };
  readonly limit: number;
}

export interface AgentSessionStore {
  /** Most recently used first. */
  list(filter: SessionFilter): Promise<AgentSession[]>;
  get(key: string): Promise<AgentSession | null>;
  /** Oldest first. */
  messages(key: string): Promise<SessionMessage[]>;
  /** Forgets a session's history; false when there is none. Runs stay. */
  remove(key: string): Promise<boolean>;
  /** Removes sessions last used before `before`. */
  trim(before: number): Promise<number>;
}
