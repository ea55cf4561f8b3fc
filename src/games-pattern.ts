// Compiles the patterns of game rules with re2js, whose matching time is linear in the text whatever the pattern.
import { RE2JS } from 're2js';
import type { CompiledPattern, PatternMatch } from './core/heartbeats/game-rules.js';

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

/** Linear time still grows with the program: at this size a look at 4 KiB costs tens of milliseconds at the very worst. */
const MAX_PROGRAM_SIZE = 500;

// What people bring along from other regular expressions; re2js itself only says "invalid escape sequence" and the like.
const UNSUPPORTED: readonly (readonly [RegExp, string])[] = [
  [/^(?:[^\\]|\\[^1-9k])*\\(?:[1-9]|k[<{'])/s, 'backreferences cannot be matched in linear time'],
  [/^(?:[^\\]|\\.)*\(\?<?[=!]/s, 'lookahead and lookbehind cannot be used'],
  [/^(?:[^\\]|\\.)*\(\?>/s, 'atomic groups cannot be used'],
];

/**
 * The CompilePattern of the daemon: RE2 syntax, upper and lower case distinct, `.` without line feed (`(?i)` and `(?s)`
 * change that). Throws PatternError for backreferences, lookaround, faulty syntax, and programs that are too large.
 */
export function compilePattern(pattern: string): CompiledPattern {
  if (pattern === '') throw new PatternError(pattern, 'is empty');
  const compiled = compile(pattern);
  if (compiled.programSize() > MAX_PROGRAM_SIZE) {
    throw new PatternError(pattern, 'is too large; use smaller repeat counts');
  }
  return { exec: (text) => firstGroup(compiled, text) };
}

function compile(pattern: string): RE2JS {
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    const known = UNSUPPORTED.find(([sign]) => sign.test(pattern))?.[1];
    const reason = known ?? (error instanceof Error ? error.message : String(error));
    throw new PatternError(pattern, reason.replace(/^error parsing regexp: /, ''), { cause: error });
  }
}

function firstGroup(compiled: RE2JS, text: string): PatternMatch | null {
  // Most looks find nothing, and whether there is a match costs a tenth of where it is.
  if (!compiled.test(text)) return null;
  const matcher = compiled.matcher(text);
  if (!matcher.find()) return null;
  const groups = matcher.groupCount();
  if (groups === 0) return { text: matcher.group(), end: matcher.end() };
  for (let i = 1; i <= groups; i += 1) {
    const group = matcher.group(i);
    if (group !== null) return { text: group, end: matcher.end(i) };
  }
  return { text: null, end: matcher.end() };
}
