// Numbers as users type them into fields.

interface NumberOptions {
  /** The stored number is the typed number times `scale`. */
  readonly scale?: number;
  /** The smallest stored number. */
  readonly min: number;
  readonly max: number;
  readonly whole?: boolean;
}

/** Returns the stored number of a text; null for an empty text, undefined for a text that is not a number within the limits. */
export function readNumber(
  text: string,
  { scale = 1, min, max, whole = false }: NumberOptions,
): number | null | undefined {
  const given = text.normalize('NFKC').trim();
  if (given === '') return null;
  if (!(whole ? /^[+-]?\d+$/ : /^[+-]?(\d+\.?\d*|\.\d+)$/).test(given)) return undefined;
  const number = Math.round(Number(given) * scale);
  return Number.isSafeInteger(number) && number >= min && number <= max ? number : undefined;
}

/** Returns the text of a stored number with all digits: reading the text gives the same number. */
export function numberText(value: number | null, scale = 1): string {
  if (value === null) return '';
  return scale === 1 ? String(value) : (value / scale).toFixed(9).replace(/\.?0+$/, '');
}
