// Converts integers from drivers, which may return large ones as text.

/** The value of an integer column. */
export type Integer = number | string;

/** The number of a column that may be null. */
export function toNumber(value: Integer | null): number | null {
  return value === null ? null : Number(value);
}
