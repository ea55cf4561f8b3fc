// The operator's game rules: which GameID a flow has, by its destination or by its first client bytes. Those of the configuration file
// apply until an operator saves others. Changes apply to new flows.
import type { Actor } from '../audit/audit.js';
import { createAuditedSetting, type RefusalOf, type SettingStore } from '../settings/setting.js';
import { type Flow, type GameMatch, readDestination } from './game-destination.js';
import {
  type CompiledPattern,
  cleanGameId,
  GameRuleError,
  MAX_GAME_ID_LENGTH,
  PatternError,
  type PayloadCandidate,
  PayloadMatcher,
} from './payload-matcher.js';

export type { Flow, GameMatch } from './game-destination.js';
export type { CompiledPattern, PatternMatch, PayloadMatcher, PayloadVerdict } from './payload-matcher.js';
export { GameRuleError, PatternError } from './payload-matcher.js';

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

/**
 * Compiles the rules once, so that `start` only compares. Throws GameRuleError with the position (`[2].match.ports[0]`) of an
 * invalid value.
 */
export function createGameRules(rules: readonly GameRule[], compile: CompilePattern) {
  const read = rules.map((rule, i) => ({
    matches: readDestination(rule.match ?? {}, `[${i}].match`),
    outcome: readOutcome(rule, `[${i}]`, compile),
  }));
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

function readOutcome(
  rule: GameRule,
  path: string,
  compile: CompilePattern,
): { readonly id: string } | PayloadCandidate {
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

type RuleOutcome = 'matched' | 'other-host' | 'other-port' | 'other-protocol' | 'pattern-not-found';

/**
 * Returns the index of the rule that matched (null: none), and the outcome of each rule up to that one. Throws GameRuleError for an
 * invalid rule; its path begins with the rule's index in `rules`.
 */
export function testGameRules(
  rules: readonly GameRule[],
  flow: Flow,
  bytes: Uint8Array,
  compile: CompilePattern,
) {
  // Compile all rules first, so that an error in any of them is reported with its position.
  createGameRules(rules, compile);
  const steps: { rule: number; outcome: RuleOutcome }[] = [];
  for (const [index, rule] of rules.entries()) {
    const other = otherDestination(rule, flow, compile);
    if (other) {
      steps.push({ rule: index, outcome: other });
      continue;
    }
    const gameId = gameIdOf(rule, flow, bytes, compile);
    steps.push({ rule: index, outcome: gameId === null ? 'pattern-not-found' : 'matched' });
    if (gameId !== null) return { rule: index, gameId, steps };
  }
  return { rule: null, gameId: null, steps };
}

/** The part of the destination that does not match; null: all match. Tests each part alone, as a rule with a fixed id. */
function otherDestination({ match = {} }: GameRule, flow: Flow, compile: CompilePattern): RuleOutcome | null {
  const { hosts, ports, protocol } = match;
  const misses = (part: NonNullable<GameRule['match']>): boolean =>
    createGameRules([{ id: 'x', match: part }], compile).start(flow) === null;
  if (misses({ protocol })) return 'other-protocol';
  if (misses({ ports })) return 'other-port';
  return misses({ hosts }) ? 'other-host' : null;
}

function gameIdOf(rule: GameRule, flow: Flow, bytes: Uint8Array, compile: CompilePattern): string | null {
  const verdict = createGameRules([{ ...rule, match: undefined }], compile).start(flow);
  if (!verdict) return null;
  if ('gameId' in verdict) return verdict.gameId;
  const fed = bytes.length > 0 ? verdict.inspect.feed(bytes) : 'more';
  const last = fed === 'more' ? verdict.inspect.end() : fed;
  return typeof last === 'object' ? last.gameId : null;
}

/** The rules, and whether the configuration file or the console has set them. */
export interface RulesInForce {
  readonly rules: readonly GameRule[];
  readonly source: 'file' | 'console';
}

export type GameRulesSetting = ReturnType<typeof createGameRulesSetting>;

/** Throws GameRuleError for an invalid rule in the configuration file. */
export function createGameRulesSetting(
  store: SettingStore,
  fileRules: readonly GameRule[],
  compile: CompilePattern,
) {
  const checked = (rules: readonly GameRule[], source: RulesInForce['source']): RulesInForce => {
    createGameRules(rules, compile);
    return { rules, source };
  };
  const ofFile = checked(fileRules, 'file');
  // Stored as JSON; empty: the rules of the file.
  const setting = createAuditedSetting<RulesInForce>({
    store,
    key: 'heartbeats.games',
    name: 'game rules',
    initial: ofFile,
    parse: (text) => (text === '' ? ofFile : checked(JSON.parse(text) as GameRule[], 'console')),
    format: ({ rules, source }) => (source === 'file' ? '' : JSON.stringify(rules)),
    audited: (before, after) => ({ before: { rules: before.rules }, after: { rules: after.rules } }),
  });

  return {
    key: setting.key,
    reload: setting.reload,
    inForce: setting.current,

    /** Saves valid rules, unless `refusalOf` returns a refusal for the stored ones. */
    async save<Refusal = never>(
      rules: readonly GameRule[],
      by: Actor,
      refusalOf?: RefusalOf<RulesInForce, Refusal>,
    ): Promise<{ ok: true } | { ok: false; error: GameRuleError } | { ok: false; refusal: Refusal }> {
      let next: RulesInForce;
      try {
        next = checked(rules, 'console');
      } catch (error) {
        if (!(error instanceof GameRuleError)) throw error;
        return { ok: false, error };
      }
      const refusal = await setting.save(() => next, by, refusalOf);
      return refusal === null ? { ok: true } : { ok: false, refusal };
    },

    /** Restores the rules of the configuration file. */
    async forget(by: Actor): Promise<void> {
      await setting.save(({ source }) => (source === 'console' ? ofFile : null), by);
    },

    onChanged: (listener: (rules: readonly GameRule[]) => void): void =>
      setting.onChanged(({ rules }) => listener(rules)),
  };
}
