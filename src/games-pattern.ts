// Compiles the patterns of game rules with re2js, whose matching time is linear in the text whatever the pattern.
import type { CompiledPattern } from './core/game-rules.js';

/** A pattern that cannot be used. `reason` says why; the message names the pattern too. */
export class PatternError extends Error {
  override readonly name = 'PatternError';

  constructor(
    readonly pattern: string,
    readonly reason: string,
    options?: ErrorOptions,
  ) {
    super(`pattern ${JSON.stringify(pattern)}: ${reason}`, options);
  }
}

/** The CompilePattern of the daemon. RE2 syntax: no backreferences and no lookaround. Throws PatternError. */
export function compilePattern(pattern: string): CompiledPattern {
  throw new PatternError(pattern, 'not yet');
}
