// Random numbers from a seed, so that a failing run can be repeated.

export interface Random {
  /** A whole number from 0 up to, but not including, `limit`. */
  below(limit: number): number;
}

/** mulberry32, with 32 bits of state. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  return {
    below(limit) {
      state = (state + 0x6d2b79f5) >>> 0;
      let mixed = Math.imul(state ^ (state >>> 15), state | 1);
      mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
      return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit);
    },
  };
}
