// A rough estimate of how hard a password is to guess: by its length, its kinds of characters, and how many of them differ.
const KINDS: readonly (readonly [RegExp, number])[] = [
  [/[a-z]/, 26],
  [/[A-Z]/, 26],
  [/\d/, 10],
  [/[^a-zA-Z\d]/, 32],
];

export type Strength = 'weak' | 'fair' | 'strong';

export function strengthOf(password: string): Strength {
  const characters = [...password];
  const size = KINDS.reduce((sum, [kind, count]) => sum + (kind.test(password) ? count : 0), 0);
  // Repeated characters and runs such as 1234 and abcd add little.
  const steps = characters.filter((one, n) => {
    const step = (one.codePointAt(0) ?? 0) - (characters[n - 1]?.codePointAt(0) ?? -9);
    return Math.abs(step) > 1;
  }).length;
  const bits = Math.min(steps, 2 * new Set(characters).size) * Math.log2(Math.max(size, 1));
  if (bits < 40) return 'weak';
  return bits < 64 ? 'fair' : 'strong';
}
