// Builds the player page into dist/player, separately from the console: players do not get the console's code.
import { fileURLToPath } from 'node:url';
import { pageConfig } from '../precompress.js';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export default pageConfig(here('.'), here('../../../dist/player'), here('../locales/player.ts'), {
  base: '/player/',
  publicDir: false,
});
