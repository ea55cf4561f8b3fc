// How long a campaign is. `npm test` runs the short form of each; `npm run kills`, `flows` and `scale` run it many times as
// long (`--scale`, see test/README.md).
const SCALE = Number(process.env['TEST_SCALE'] ?? 1);

/** So many rounds, flows, rows …: `count` in `npm test`. */
export function scaled(count: number): number {
  return Math.ceil(count * SCALE);
}
