// Tests game rules with a destination and first bytes, and reports the result of each rule.
import { type CompilePattern, createGameRules, type Flow, type GameRule } from './game-rules.js';

export type RuleOutcome = 'matched' | 'other-host' | 'other-port' | 'other-protocol' | 'pattern-not-found';

export interface RuleTest {
  /** Index of the rule that matched; null: none. */
  readonly rule: number | null;
  readonly gameId: string | null;
  /** In order, up to the rule that matched. */
  readonly steps: readonly { readonly rule: number; readonly outcome: RuleOutcome }[];
}

/** Throws GameRuleError for an invalid rule; its path begins with the rule's index in `rules`. */
export function testGameRules(
  rules: readonly GameRule[],
  flow: Flow,
  bytes: Uint8Array,
  compile: CompilePattern,
): RuleTest {
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
