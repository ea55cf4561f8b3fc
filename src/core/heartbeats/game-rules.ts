// The operator's game rules: which GameID a flow has, by its destination or by its first client bytes.
import { type Flow, type GameMatch, readDestination } from './game-destination.js';
import { GameRuleError, PatternError } from './game-rule-error.js';
import {
  type CompiledPattern,
  cleanGameId,
  MAX_GAME_ID_LENGTH,
  type PayloadCandidate,
  PayloadMatcher,
} from './payload-matcher.js';

export type { Flow, GameMatch } from './game-destination.js';
export { GameRuleError, PatternError } from './game-rule-error.js';
export type { CompiledPattern, PatternMatch, PayloadMatcher, PayloadVerdict } from './payload-matcher.js';

/** Number of first client bytes that a payload rule searches by default. */
const DEFAULT_MAX_BYTES = 4096;
/** Largest `maxBytes` of a rule: the first bytes of a flow stay in memory until a rule has decided. */
const MAX_MAX_BYTES = 65536;

/** One rule: a flow whose destination matches has the fixed `id`, or the GameID that `gameId` finds in its first client bytes. */
export interface GameRule {
  /** Undefined: every destination. */
  readonly match?: GameMatch | undefined;
  /** A fixed GameID, 1 to 128 characters. Exactly one of `id` and `gameId` is given. */
  readonly id?: string | undefined;
  /** A linear-time pattern over the first client bytes, each byte one character (latin1). Its first group is the GameID. */
  readonly gameId?: string | undefined;
  /** Number of first client bytes that `gameId` searches: 1 to 65536. Ignored with `id`. */
  readonly maxBytes?: number | undefined;
}

/** Compiles a pattern. Throws PatternError. */
export type CompilePattern = (pattern: string) => CompiledPattern;

export type GameRules = ReturnType<typeof createGameRules>;

interface ReadRule {
  readonly matches: (flow: Flow) => boolean;
  readonly outcome: { readonly id: string } | PayloadCandidate;
}

/**
 * Compiles the rules once, so that `start` only compares. Throws GameRuleError with the position (`[2].match.ports[0]`) of an
 * invalid value.
 */
export function createGameRules(rules: readonly GameRule[], compile: CompilePattern) {
  const read = rules.map((rule, i) => readRule(rule, `[${i}]`, compile));
  return {
    /**
     * Returns the GameID of a new flow, or a matcher that needs its first client bytes, or null when no rule matches. The first
     * matching rule wins. A payload rule matches only when its pattern does: when all payload rules have failed, the first matching
     * rule with a fixed id applies.
     */
    start(flow: Flow): { readonly gameId: string } | { readonly inspect: PayloadMatcher } | null {
      const candidates: PayloadCandidate[] = [];
      let fallback: string | null = null;
      for (const { matches, outcome } of read) {
        if (!matches(flow)) continue;
        if (!('id' in outcome)) {
          candidates.push(outcome);
          continue;
        }
        fallback = outcome.id;
        break;
      }
      if (candidates.length > 0) {
        return { inspect: new PayloadMatcher(candidates, fallback, flow.protocol === 'udp') };
      }
      return fallback === null ? null : { gameId: fallback };
    },
  };
}

function readRule(rule: GameRule, path: string, compile: CompilePattern): ReadRule {
  return {
    matches: readDestination(rule.match ?? {}, `${path}.match`),
    outcome: readOutcome(rule, path, compile),
  };
}

function readOutcome(rule: GameRule, path: string, compile: CompilePattern): ReadRule['outcome'] {
  const { id, gameId, maxBytes } = rule;
  if (id !== undefined && gameId !== undefined) throw new GameRuleError(path, 'rule-id-and-pattern');
  if (id !== undefined) {
    if (cleanGameId(id) !== id) throw new GameRuleError(`${path}.id`, 'game-id', { max: MAX_GAME_ID_LENGTH });
    return { id };
  }
  if (gameId === undefined) throw new GameRuleError(path, 'rule-without-id');
  return {
    pattern: compiled(gameId, `${path}.gameId`, compile),
    maxBytes: readMaxBytes(maxBytes, `${path}.maxBytes`),
  };
}

function compiled(pattern: string, path: string, compile: CompilePattern): CompiledPattern {
  try {
    return compile(pattern);
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    throw new GameRuleError(path, error.code, error.values, { cause: error });
  }
}

function readMaxBytes(maxBytes: number | undefined, path: string): number {
  if (maxBytes === undefined) return DEFAULT_MAX_BYTES;
  if (Number.isInteger(maxBytes) && maxBytes >= 1 && maxBytes <= MAX_MAX_BYTES) return maxBytes;
  throw new GameRuleError(path, 'max-bytes', { max: MAX_MAX_BYTES, value: maxBytes });
}
