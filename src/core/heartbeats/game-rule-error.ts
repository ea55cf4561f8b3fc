// The reasons why a game rule is invalid: a code with values for programs, and an English text.
import { fillText } from '../text.js';

/** The errors of a pattern. Braces contain the name of a value. */
const PATTERN_TEXTS = {
  'pattern-empty': 'pattern {pattern}: is empty',
  'pattern-too-large': 'pattern {pattern}: is too large; use smaller repeat counts',
  'pattern-backreference': 'pattern {pattern}: backreferences are not supported',
  'pattern-lookaround': 'pattern {pattern}: lookahead and lookbehind are not supported',
  'pattern-atomic': 'pattern {pattern}: atomic groups are not supported',
  'pattern-bracket': 'pattern {pattern}: a closing ] is missing: {near}',
  'pattern-parenthesis': 'pattern {pattern}: a closing ) is missing',
  'pattern-extra-parenthesis': 'pattern {pattern}: a ) has no ( before it',
  'pattern-class-range': 'pattern {pattern}: the character range {near} is not valid',
  'pattern-escape': 'pattern {pattern}: unknown escape {near}',
  'pattern-group-name': 'pattern {pattern}: the group name in {near} is not valid',
  'pattern-group-name-twice': 'pattern {pattern}: duplicate group name {near}',
  'pattern-perl': 'pattern {pattern}: {near} is not supported',
  'pattern-repeat-twice': 'pattern {pattern}: a repetition follows another: {near}',
  'pattern-repeat-count': 'pattern {pattern}: the repeat count {near} is not valid',
  'pattern-repeat-nothing': 'pattern {pattern}: nothing to repeat before {near}',
  'pattern-depth': 'pattern {pattern}: groups are nested too deeply',
  'pattern-backslash': 'pattern {pattern}: ends with a single backslash',
  'pattern-syntax': 'pattern {pattern}: invalid syntax',
} as const;

/** The errors of a rule. Braces contain the name of a value. */
export const GAME_RULE_TEXTS = {
  ...PATTERN_TEXTS,
  'rule-id-and-pattern': 'has both id and gameId; set one of them',
  'rule-without-id': 'needs an id or a gameId pattern',
  'game-id': 'must be 1 to {max} visible characters',
  'max-bytes': 'must be 1 to {max} bytes, not {value}',
  'match-empty': 'must not be empty; omit it to match everything',
  'match-host': '{value} is not a host name, "*.name", an address or a CIDR block',
  'match-port': '{value} is not a port (1 to 65535) or a range of them such as "7100-7200"',
} as const;

export type PatternFault = keyof typeof PATTERN_TEXTS;
export type GameRuleFault = keyof typeof GAME_RULE_TEXTS;
type Values = Readonly<Record<string, string | number>>;

/** An invalid pattern. */
export class PatternError extends Error {
  override readonly name = 'PatternError';

  constructor(
    readonly code: PatternFault,
    readonly values: Values,
    options?: ErrorOptions,
  ) {
    super(fillText(PATTERN_TEXTS[code], values), options);
  }
}

/** An invalid game rule. `path` is the position in the list of rules, such as `[2].match.ports[0]`. */
export class GameRuleError extends Error {
  override readonly name = 'GameRuleError';

  constructor(
    readonly path: string,
    readonly code: GameRuleFault,
    readonly values: Values = {},
    options?: ErrorOptions,
  ) {
    super(fillText(GAME_RULE_TEXTS[code], values), options);
  }
}
