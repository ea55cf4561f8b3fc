// Numbers as they are typed in fields.

interface NumberOptions {
  /** The stored number is the typed one times this. */
  readonly scale?: number;
  /** Of what is stored. */
  readonly min: number;
  readonly max: number;
  /** Only whole numbers of what is typed. */
  readonly whole?: boolean;
}

/** The stored number a text stands for; null for an empty one, undefined for a text that is no number within the limits. */
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

/** The text of a stored number: exactly, so that reading it gives the number again. */
export function numberText(value: number | null, scale = 1): string {
  if (value === null) return '';
  return scale === 1 ? String(value) : (value / scale).toFixed(9).replace(/\.?0+$/, '');
}
