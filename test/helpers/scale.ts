// The length of campaigns. `npm test` runs the short form of each. `npm run kills`, `flows` and `scale` run campaigns many times as
// long (`--scale`, see test/README.md).
const SCALE = Number(process.env['TEST_SCALE'] ?? 1);

/** Returns the number of rounds, flows or rows. In `npm test` it is `count`. */
export function scaled(count: number): number {
  return Math.ceil(count * SCALE);
}
