// Every page of the console in every look, with axe; with SCREENSHOTS, a folder, also a picture of each for people to look at.
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

const SHOTS = process.env['SCREENSHOTS'];

function shotName(hash: string, { language, theme, width }: Look): string {
  const page = hash.replace(/[\da-f]{8}-[\da-f-]{27}/, 'one').replace(/\W+/g, '-');
  return `page${page}-${language}-${theme}-${width}.png`;
}

test('every page in every look', { skip: noBrowser }, async (t) => {
  if (SHOTS) mkdirSync(SHOTS, { recursive: true });
  await walkPages(t, await startWorld(t), {
    looks: LOOKS,
    axe: () => true,
    seen: async (page, hash, look) => SHOTS && page.screenshot({ path: join(SHOTS, shotName(hash, look)) }),
  });
});
