// Builds the player page into dist/player, separately from the console: players do not get the console's code.
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';
import { precompress } from '../precompress.js';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  root: here('.'),
  base: '/player/',
  publicDir: false,
  plugins: [precompress(here('../../../dist/player'))],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: here('../../../dist/player'),
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0,
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
  },
});
