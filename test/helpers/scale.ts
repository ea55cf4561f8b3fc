// The length of campaigns. `npm test` runs the short form of each. `npm run kills`, `flows` and `scale` run campaigns many times as
// long (`--scale`, see test/README.md).
const SCALE = Number(process.env['TEST_SCALE'] ?? 1);

/**
 * Returns the number of rounds, flows or rows. In `npm test` it is `inTests`.
 * @param inTests where the short form needs less than its part of a campaign
 */
export function scaled(count: number, inTests = count): number {
  return SCALE === 1 ? inTests : Math.ceil(count * SCALE);
}
