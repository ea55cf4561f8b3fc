// Compiles the patterns of game rules with re2js, which matches in linear time.
import { createRequire } from 'node:module';
import type { RE2JS } from 're2js';
import { type CompiledPattern, PatternError, type PatternMatch } from './core/heartbeats/game-rules.js';
import type { PatternFault } from './core/heartbeats/payload-matcher.js';

/** Matching time also grows with the program size: at this size, 4 KiB take tens of milliseconds in the worst case. */
const MAX_PROGRAM_SIZE = 500;

// Unsupported syntax of other regular expression engines, with better messages than those of re2js.
const UNSUPPORTED: readonly (readonly [RegExp, PatternFault])[] = [
  [/^(?:[^\\]|\\[^1-9k])*\\(?:[1-9]|k[<{'])/s, 'pattern-backreference'],
  [/^(?:[^\\]|\\.)*\(\?<?[=!]/s, 'pattern-lookaround'],
  [/^(?:[^\\]|\\.)*\(\?>/s, 'pattern-atomic'],
];

/** The faults of syntax, by the description that re2js gives. */
const SYNTAX: ReadonlyMap<string, PatternFault> = new Map([
  ['missing closing ]', 'pattern-bracket'],
  ['missing closing )', 'pattern-parenthesis'],
  ['unexpected )', 'pattern-extra-parenthesis'],
  ['invalid character class range', 'pattern-class-range'],
  ['invalid escape sequence', 'pattern-escape'],
  ['invalid named capture', 'pattern-group-name'],
  ['duplicate capture group name', 'pattern-group-name-twice'],
  ['invalid or unsupported Perl syntax', 'pattern-perl'],
  ['invalid nested repetition operator', 'pattern-repeat-twice'],
  ['invalid repeat count', 'pattern-repeat-count'],
  ['missing argument to repetition operator', 'pattern-repeat-nothing'],
  ['expression nests too deeply', 'pattern-depth'],
  ['trailing backslash at end of expression', 'pattern-backslash'],
  ['expression too large', 'pattern-too-large'],
]);

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

/** Loaded with the first pattern: its tables of Unicode are a third of a worker's program. */
const re2js = () => createRequire(import.meta.url)('re2js') as typeof import('re2js');

function compile(pattern: string): RE2JS {
  const { RE2JS, RE2JSSyntaxException } = re2js();
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    const [description, near] =
      error instanceof RE2JSSyntaxException ? [error.getDescription(), error.getPattern()] : ['', null];
    const unsupported = UNSUPPORTED.find(([sign]) => sign.test(pattern))?.[1];
    const code = unsupported ?? SYNTAX.get(description) ?? 'pattern-syntax';
    const values = { pattern: JSON.stringify(pattern), near: JSON.stringify(near ?? pattern) };
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
