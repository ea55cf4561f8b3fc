// Compiles the patterns of game rules with re2js, which matches in linear time.
import { RE2JS } from 're2js';
import type { PatternFault } from './core/heartbeats/game-rule-error.js';
import { type CompiledPattern, PatternError, type PatternMatch } from './core/heartbeats/game-rules.js';

/** Matching time also grows with the program size: at this size, 4 KiB take tens of milliseconds in the worst case. */
const MAX_PROGRAM_SIZE = 500;

// Unsupported syntax of other regular expression engines, with better messages than those of re2js.
const UNSUPPORTED: readonly (readonly [RegExp, PatternFault])[] = [
  [/^(?:[^\\]|\\[^1-9k])*\\(?:[1-9]|k[<{'])/s, 'pattern-backreference'],
  [/^(?:[^\\]|\\.)*\(\?<?[=!]/s, 'pattern-lookaround'],
  [/^(?:[^\\]|\\.)*\(\?>/s, 'pattern-atomic'],
];

/**
 * Compiles RE2 syntax. Patterns are case-sensitive and `.` does not match line feeds; `(?i)` and `(?s)` change that.
 * @throws PatternError for backreferences, lookaround, invalid syntax, and programs that are too large
 */
export function compilePattern(pattern: string): CompiledPattern {
  const shown = { pattern: JSON.stringify(pattern) };
  if (pattern === '') throw new PatternError('pattern-empty', shown);
  const compiled = compile(pattern);
  if (compiled.programSize() > MAX_PROGRAM_SIZE) throw new PatternError('pattern-too-large', shown);
  return { exec: (text) => firstGroup(compiled, text) };
}

function compile(pattern: string): RE2JS {
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    const code = UNSUPPORTED.find(([sign]) => sign.test(pattern))?.[1] ?? 'pattern-syntax';
    const message = error instanceof Error ? error.message : String(error);
    const reason = message.replace(/^error parsing regexp: /, '');
    const values = { pattern: JSON.stringify(pattern), reason };
    throw new PatternError(code, values, { cause: error });
  }
}

function firstGroup(compiled: RE2JS, text: string): PatternMatch | null {
  // Most texts do not match, and `test` costs a tenth of `find`.
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
