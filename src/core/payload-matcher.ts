// Looks for a GameID in the first client bytes of one flow. Keeps no byte once it has decided.

/** A compiled linear-time pattern (see CompilePattern). */
export interface CompiledPattern {
  /** The leftmost match in `text`; null when there is none. */
  exec(text: string): PatternMatch | null;
}

export interface PatternMatch {
  /** The first group that took part in the match; the whole match when the pattern has no group; null when none took part. */
  readonly text: string | null;
  /** Where that text ends. */
  readonly end: number;
}

/** `more`: feed the next bytes. `done`: no rule matches this flow. After anything but `more` the matcher is spent. */
export type PayloadVerdict = { readonly gameId: string } | 'more' | 'done';

export interface PayloadCandidate {
  readonly pattern: CompiledPattern;
  readonly maxBytes: number;
}

export class PayloadMatcher {
  /** Takes the next client bytes. */
  feed(_chunk: Uint8Array): PayloadVerdict {
    return 'done';
  }

  /** No bytes came for a while (about a second): decides what waited only for more bytes. */
  settle(): PayloadVerdict {
    return 'done';
  }

  /** No bytes will come any more. */
  end(): Exclude<PayloadVerdict, 'more'> {
    return 'done';
  }
}

export function cleanGameId(_text: string): string | null {
  return null;
}
