// Every page of the console in every look, checked by axe. SCREENSHOTS names a folder for a picture of each.
// Only by name: npm run pages
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { noBrowser } from '../helpers/console-browser.js';
import { startWorld } from '../helpers/console-world.js';
import { type Look, walkPages } from './pages.js';

const LOOKS: readonly Look[] = [
  { language: 'zh-CN', theme: 'dark', width: 390 },
  { language: 'en', theme: 'light', width: 390 },
  { language: 'zh-CN', theme: 'light', width: 1280 },
  { language: 'en', theme: 'light', width: 1440 },
  { language: 'zh-CN', theme: 'dark', width: 1440 },
];

const SCREENSHOTS = process.env['SCREENSHOTS'];

function fileName(hash: string, { language, theme, width }: Look): string {
  const page = hash.replace(/(?!0{8})[\da-f]{8}-[\da-f-]{27}/, 'one').replace(/\W+/g, '-');
  return `page${page}-${language}-${theme}-${width}.png`;
}

test('every page in every look has no error and no finding of axe', { skip: noBrowser }, async (t) => {
  if (SCREENSHOTS) mkdirSync(SCREENSHOTS, { recursive: true });
  await walkPages(t, await startWorld(t), {
    looks: LOOKS,
    axe: () => true,
    onPage: async (page, hash, look) =>
      SCREENSHOTS && page.screenshot({ path: join(SCREENSHOTS, fileName(hash, look)) }),
  });
});
