// Looks for a GameID in the first client bytes of one flow. Keeps no byte once it has decided.

/** A compiled linear-time pattern (see CompilePattern). */
export interface CompiledPattern {
  /** The leftmost match in `text`; null when there is none. */
  exec(text: string): PatternMatch | null;
}

export interface PatternMatch {
  /** The first group that took part; the whole match when the pattern has no group; null when it has and none took part. */
  readonly text: string | null;
  /** Index in the searched text where `text` ends. */
  readonly end: number;
}

/** `more`: feed the next bytes. `done`: no rule matches this flow. After anything but `more` the matcher is spent. */
export type PayloadVerdict = { readonly gameId: string } | 'more' | 'done';

/** A payload rule whose destination matches the flow. */
export interface PayloadCandidate {
  readonly pattern: CompiledPattern;
  /** The pattern sees at most this many of the flow's first bytes. */
  readonly maxBytes: number;
}

/** GameIDs are the client's words: kept short. UTF-16 code units. */
export const MAX_GAME_ID_LENGTH = 128;

/**
 * A flow may send its bytes one at a time, and every look starts from the first byte. So looks are free only up to this
 * many bytes looked at in all; after that the text must have grown by an eighth since the last look. With 4 KiB and one
 * rule that is at most 16 KiB + 10 × 4 KiB looked at, however the flow is cut.
 */
const FREE_LOOK_BYTES = 16 * 1024;
const GROWTH = 1 / 8;

/** Why the matcher looks: bytes came, none came for a while, or none will come. */
type Occasion = 'fed' | 'quiet' | 'end';

export class PayloadMatcher {
  #candidates: readonly PayloadCandidate[];
  readonly #fallback: string | null;
  readonly #wholeMessages: boolean;
  #maxBytes: number;
  /** One character a byte (latin1), so that an index in it is a number of bytes. */
  #text = '';
  #lookedAt = 0;
  #lookedInAll = 0;
  #held: string | null = null;
  #spent = false;

  /**
   * @param candidates payload rules in their order
   * @param fallback GameID of the fixed rule that stands after them; null when there is none
   * @param wholeMessages each fed chunk is a whole message (a datagram): nothing in it is continued in the next
   */
  constructor(candidates: readonly PayloadCandidate[], fallback: string | null, wholeMessages: boolean) {
    this.#candidates = candidates;
    this.#fallback = fallback;
    this.#wholeMessages = wholeMessages;
    this.#maxBytes = mostBytes(candidates);
  }

  /**
   * Takes the next client bytes. The first rule, in order, whose pattern is found in the bytes so far wins; no rule
   * waits for bytes on behalf of an earlier one. A GameID that runs up to the last byte so far may go on in the next
   * chunk, so it is held back until another byte, `settle`, `end` or the rule's last byte shows where it ends.
   */
  feed(chunk: Uint8Array): PayloadVerdict {
    if (this.#spent) return 'done';
    const length = Math.min(chunk.length, this.#maxBytes - this.#text.length);
    this.#text += Buffer.from(chunk.buffer, chunk.byteOffset, length).toString('latin1');
    const size = this.#text.length;
    if (size < this.#maxBytes && !this.#isFree(size) && size < this.#lookedAt * (1 + GROWTH)) return 'more';
    return this.#look('fed');
  }

  /** No bytes came for a while (about a second): decides for a GameID that was held back, waits on otherwise. */
  settle(): PayloadVerdict {
    if (this.#spent) return 'done';
    const size = this.#text.length;
    if (size === this.#lookedAt) return this.#held === null ? 'more' : this.#decide(this.#held);
    return this.#isFree(size) ? this.#look('quiet') : 'more';
  }

  /** No bytes will come any more: the last word on this flow. */
  end(): Exclude<PayloadVerdict, 'more'> {
    if (this.#spent) return 'done';
    const verdict = this.#text.length > this.#lookedAt ? this.#look('end') : 'more';
    return verdict === 'more' ? this.#decide(this.#held ?? this.#fallback) : verdict;
  }

  #isFree(size: number): boolean {
    return this.#lookedInAll + size * this.#candidates.length <= FREE_LOOK_BYTES;
  }

  #look(occasion: Occasion): PayloadVerdict {
    const size = this.#text.length;
    this.#lookedAt = size;
    this.#lookedInAll += size * this.#candidates.length;
    this.#held = null;
    for (const { pattern, maxBytes } of this.#candidates) {
      const match = pattern.exec(size > maxBytes ? this.#text.slice(0, maxBytes) : this.#text);
      const gameId = match?.text ? gameIdOf(match.text) : null;
      if (!match || gameId === null) continue;
      const isWhole = match.end < size || size >= maxBytes || this.#wholeMessages;
      if (isWhole || occasion !== 'fed') return this.#decide(gameId);
      this.#held = gameId;
      return 'more';
    }
    // A rule that has seen all its bytes has failed for good.
    if (size >= this.#maxBytes) return this.#decide(this.#fallback);
    this.#candidates = this.#candidates.filter(({ maxBytes }) => size < maxBytes);
    return 'more';
  }

  #decide(gameId: string | null): Exclude<PayloadVerdict, 'more'> {
    this.#spent = true;
    this.#text = '';
    this.#held = null;
    this.#candidates = [];
    return gameId === null ? 'done' : { gameId };
  }
}

function mostBytes(candidates: readonly PayloadCandidate[]): number {
  return Math.max(0, ...candidates.map(({ maxBytes }) => maxBytes));
}

/** Reads captured bytes (one character each) as UTF-8 where they are, else as latin1, and cleans the text. */
function gameIdOf(latin1: string): string | null {
  const bytes = Buffer.from(latin1, 'latin1');
  const text = bytes.toString('utf8');
  return cleanGameId(text.includes('\ufffd') ? latin1 : text);
}

// Controls, invisible formatting (bidi overrides, zero width), line separators, lone surrogates.
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** A GameID as it is stored and shown: no invisible characters, no white space around it, at most 128 long; null if nothing is left. */
export function cleanGameId(text: string): string | null {
  const visible = text.replace(INVISIBLE, '').trim().slice(0, MAX_GAME_ID_LENGTH);
  // The cut must not leave half a surrogate pair.
  const whole = visible.isWellFormed() ? visible : visible.slice(0, -1);
  return whole.trimEnd() === '' ? null : whole.trimEnd();
}
