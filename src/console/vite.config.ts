// Builds the console and the page of players, without inline scripts or styles, so that a strict CSP applies: with the texts of each
// language as a module of their own, and with a gzip and a brotli version beside every file that becomes smaller by it.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { defineConfig, type Plugin, runnerImport } from 'vite';
import { type DaemonTexts, type Language, type Texts, textsIn } from './locales/texts.js';

const TEXTS = /\.(html|js|css|svg|json|webmanifest|txt)$/;
/** What nearly every page needs is one file, not one for each set of pages that share a part of it. */
const FRAME = /\/preact\/|\/console\/(lib|pages\/accounts\/fields|ui(?!\/(chart|qr)))\//;
/** Shorter files are sent uncompressed. */
const MIN_BYTES = 1024;

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** `--mode player` builds the page of players, separately from the console: players do not get the console's code. */
export default defineConfig(({ mode }) => {
  const isPlayer = mode === 'player';
  const outDir = here(isPlayer ? '../../dist/player' : '../../dist/console');
  const locales = here(isPlayer ? './locales/player.ts' : './locales/index.ts');
  return {
    root: here(isPlayer ? './player' : '.'),
    base: isPlayer ? '/player/' : './',
    publicDir: isPlayer ? false : 'public',
    plugins: [textsByLanguage(locales), precompress(outDir)],
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    build: {
      outDir,
      emptyOutDir: true,
      target: 'es2022',
      assetsInlineLimit: 0,
      cssCodeSplit: false,
      modulePreload: { polyfill: false },
      rolldownOptions: {
        checks: { pluginTimings: false },
        output: { codeSplitting: { groups: [{ name: 'frame', test: FRAME }] } },
      },
    },
  };
});

function precompress(folder: string): Plugin {
  return {
    name: 'precompress',
    apply: 'build',
    closeBundle() {
      for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
        if (!entry.isFile() || !TEXTS.test(entry.name)) continue;
        const file = join(entry.parentPath, entry.name);
        const bytes = readFileSync(file);
        if (bytes.length < MIN_BYTES) continue;
        writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }));
        writeFileSync(
          `${file}.br`,
          brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } }),
        );
      }
    },
  };
}

interface Locales {
  readonly TEXTS: Texts;
  readonly DAEMON_TEXTS?: Readonly<Record<string, DaemonTexts>>;
}

/** `texts:en`, `texts:zh-CN`: the texts of one language, so that a browser loads no others. */
function textsByLanguage(locales: string): Plugin {
  const folder = dirname(locales);
  return {
    name: 'texts-by-language',
    resolveId: { filter: { id: /^texts:/ }, handler: (id) => `\0${id}` },
    load: {
      filter: { id: /^\0texts:/ },
      async handler(id) {
        for (const name of readdirSync(folder)) this.addWatchFile(join(folder, name));
        const { TEXTS, DAEMON_TEXTS } = (await runnerImport<Locales>(locales)).module;
        const texts = textsIn(id.replace('\0texts:', '') as Language, TEXTS, DAEMON_TEXTS);
        return `export default ${JSON.stringify(texts)}`;
      },
    },
  };
}
