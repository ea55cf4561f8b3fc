// Rules for the built console: a small size, no inline script or style, and no code of the daemon.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { BUILT_CONSOLE } from '../helpers/console-browser.js';

const SOURCES = fileURLToPath(new URL('../../../src/console', import.meta.url));
const MAX_GZIP_BYTES = 190 * 1024;
const PACKAGES = /^(preact(\/.*)?|uplot(\/.*)?|uqr)$/;

const filesOf = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

const skip = {
  skip: existsSync(join(BUILT_CONSOLE, 'index.html')) ? false : 'the console is not built (npm run build)',
};

test('all files together, in both languages, are at most 190 KiB with gzip', skip, () => {
  const files = filesOf(BUILT_CONSOLE).filter((file) => !/\.(gz|br)$/.test(file));
  const bytes = files.reduce((sum, file) => sum + gzipSync(readFileSync(file)).length, 0);
  assert.ok(bytes > 10_000 && bytes <= MAX_GZIP_BYTES, `${bytes} bytes`);
});

test('the page has no inline script, style or handler, and loads nothing from another server', skip, () => {
  const html = readFileSync(join(BUILT_CONSOLE, 'index.html'), 'utf8');
  assert.doesNotMatch(html, /<script(?![^>]*\ssrc=)/);
  assert.doesNotMatch(html, /<style|\sstyle=|\son\w+=|javascript:/i);
  assert.doesNotMatch(html, /(src|href)="(https?:)?\/\//);
});

test('the console imports only its own files and three packages', () => {
  const files = filesOf(SOURCES).filter((file) => /\.tsx?$/.test(file) && !file.endsWith('vite.config.ts'));
  assert.ok(files.length > 30);
  for (const file of files) {
    for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(/(?:from|import)\s+'([^']+)'/g)) {
      const isOwn = name.startsWith('.') && resolve(dirname(file), name).startsWith(SOURCES);
      assert.ok(isOwn || PACKAGES.test(name), `${file} imports ${name}`);
    }
  }
});

test('no source of the console sets HTML or evaluates code', () => {
  for (const file of filesOf(SOURCES).filter((name) => /\.tsx?$/.test(name))) {
    assert.doesNotMatch(
      readFileSync(file, 'utf8'),
      /dangerouslySetInnerHTML|innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function/,
      file,
    );
  }
});

/** The relative luminance of a colour such as #1b1f26 (WCAG 2). */
function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

test('every text colour has a contrast of 4.5:1 on every background, also of hovered and selected rows', () => {
  const css = readFileSync(join(SOURCES, 'styles/base.css'), 'utf8');
  const themes = [/^:root \{([^}]+)\}/m, /^:root\[data-theme="dark"\] \{([^}]+)\}/m];
  for (const theme of themes) {
    const [, block = ''] = theme.exec(css) ?? [];
    const colours = new Map(
      [...block.matchAll(/--([\w-]+): (#[0-9a-f]{6});/g)].map(([, name = '', colour = '']) => [name, colour]),
    );
    for (const text of ['text', 'soft', 'faint', 'link', 'good', 'warn', 'bad']) {
      for (const ground of ['bg', 'rail', 'raised', 'hover', 'chosen']) {
        const pair = [colours.get(text), colours.get(ground)].map((colour = '') => luminance(colour));
        const contrast = (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
        assert.ok(contrast >= 4.5, `${theme}: ${text} on ${ground} has ${contrast.toFixed(2)}`);
      }
    }
  }
});
