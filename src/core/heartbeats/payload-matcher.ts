// Searches the first client bytes of one flow for a GameID. Releases the bytes as soon as it has decided.
import { fillText, withoutUnprintable } from '../text.js';

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
type GameRuleFault = keyof typeof GAME_RULE_TEXTS;
type Values = Readonly<Record<string, string | number>>;

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

/** A compiled linear-time pattern (see CompilePattern). */
export interface CompiledPattern {
  /** The leftmost match in `text`; null when there is none. */
  exec(text: string): PatternMatch | null;
}

export interface PatternMatch {
  /** The first group that matched; the whole match of a pattern without groups; null when the pattern has groups and none matched. */
  readonly text: string | null;
  /** Index in the searched text where `text` ends. */
  readonly end: number;
}

/** `more`: feed the next bytes. `done`: no rule matches this flow. Any verdict except `more` is final. */
export type PayloadVerdict = { readonly gameId: string } | 'more' | 'done';

/** A payload rule whose destination matches the flow. */
export interface PayloadCandidate {
  readonly pattern: CompiledPattern;
  /** The pattern sees at most this many of the flow's first bytes. */
  readonly maxBytes: number;
}

/** Longest GameID, in UTF-16 code units. Clients choose GameIDs. */
export const MAX_GAME_ID_LENGTH = 128;

/**
 * A flow may send its bytes one at a time, and every search starts from the first byte. So searches are unrestricted only up to this
 * total of searched bytes; after that the text must have grown by an eighth since the last search. With 4 KiB and one rule at most
 * 16 KiB + 10 × 4 KiB are searched, however the flow is split.
 */
const FREE_SEARCH_BYTES = 16 * 1024;
const GROWTH = 1 / 8;

/** Why the matcher searches: bytes arrived, no bytes arrived for a while, or the flow has ended. */
type SearchReason = 'fed' | 'quiet' | 'end';

export class PayloadMatcher {
  #maxBytes: number;
  /** One character per byte (latin1), so that an index is a number of bytes. */
  #text = '';
  #searchedBytes = 0;
  /** Sum of the lengths of all searched texts. */
  #totalSearchedBytes = 0;
  /** A GameID that may continue in the next bytes. */
  #tentative: string | null = null;
  #isDecided = false;

  /**
   * @param candidates payload rules in their order
   * @param fallback GameID of the first matching rule with a fixed id; null when there is none
   * @param wholeMessages each fed chunk is a whole message (a datagram), which does not continue in the next
   */
  constructor(
    private candidates: readonly PayloadCandidate[],
    private readonly fallback: string | null,
    private readonly wholeMessages: boolean,
  ) {
    this.#maxBytes = Math.max(0, ...candidates.map(({ maxBytes }) => maxBytes));
  }

  /**
   * Adds the next client bytes. The first rule, in order, whose pattern is found in the bytes so far wins; no rule waits for an
   * earlier rule to see more bytes. A GameID that ends with the last byte so far may continue in the next chunk, so the verdict
   * waits until another byte, `settle`, `end` or the rule's last byte shows where it ends.
   */
  feed(chunk: Uint8Array): PayloadVerdict {
    if (this.#isDecided) return 'done';
    const length = Math.min(chunk.length, this.#maxBytes - this.#text.length);
    this.#text += Buffer.from(chunk.buffer, chunk.byteOffset, length).toString('latin1');
    const size = this.#text.length;
    if (size < this.#maxBytes && !this.#isFree(size) && size < this.#searchedBytes * (1 + GROWTH))
      return 'more';
    return this.#search('fed');
  }

  /** Call it when no bytes arrived for about a second. Decides for a tentative GameID; otherwise continues to wait. */
  settle(): PayloadVerdict {
    if (this.#isDecided) return 'done';
    const size = this.#text.length;
    if (size === this.#searchedBytes)
      return this.#tentative === null ? 'more' : this.#decide(this.#tentative);
    return this.#isFree(size) ? this.#search('quiet') : 'more';
  }

  /** Call it when no more bytes will arrive. Returns the final verdict. */
  end(): Exclude<PayloadVerdict, 'more'> {
    if (this.#isDecided) return 'done';
    const verdict = this.#text.length > this.#searchedBytes ? this.#search('end') : 'more';
    return verdict === 'more' ? this.#decide(this.#tentative ?? this.fallback) : verdict;
  }

  #isFree(size: number): boolean {
    return this.#totalSearchedBytes + size * this.candidates.length <= FREE_SEARCH_BYTES;
  }

  #search(reason: SearchReason): PayloadVerdict {
    const size = this.#text.length;
    this.#searchedBytes = size;
    this.#totalSearchedBytes += size * this.candidates.length;
    this.#tentative = null;
    for (const { pattern, maxBytes } of this.candidates) {
      const match = pattern.exec(size > maxBytes ? this.#text.slice(0, maxBytes) : this.#text);
      const gameId = match?.text ? gameIdOf(match.text) : null;
      if (!match || gameId === null) continue;
      const isWhole = match.end < size || size >= maxBytes || this.wholeMessages;
      if (isWhole || reason !== 'fed') return this.#decide(gameId);
      this.#tentative = gameId;
      return 'more';
    }
    // A rule that has searched its `maxBytes` has failed.
    if (size >= this.#maxBytes) return this.#decide(this.fallback);
    this.candidates = this.candidates.filter(({ maxBytes }) => size < maxBytes);
    return 'more';
  }

  #decide(gameId: string | null): Exclude<PayloadVerdict, 'more'> {
    this.#isDecided = true;
    this.#text = '';
    this.#tentative = null;
    this.candidates = [];
    return gameId === null ? 'done' : { gameId };
  }
}

/** Decodes captured bytes (one character each) as UTF-8 if they are valid, otherwise as latin1, and cleans the text. */
function gameIdOf(latin1: string): string | null {
  const bytes = Buffer.from(latin1, 'latin1');
  const text = bytes.toString('utf8');
  return cleanGameId(text.includes('\ufffd') ? latin1 : text);
}

/** A GameID as it is stored and shown: without invisible characters and surrounding white space, at most 128 long; null if nothing is left. */
export function cleanGameId(text: string): string | null {
  const visible = withoutUnprintable(text).trim().slice(0, MAX_GAME_ID_LENGTH);
  // The cut must not leave half a surrogate pair.
  const whole = visible.isWellFormed() ? visible : visible.slice(0, -1);
  return whole.trimEnd() === '' ? null : whole.trimEnd();
}
