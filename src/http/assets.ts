// Built files for browsers: the console and the player page. The folder is listed once, and the files are sent with a strict Content-Security-Policy.
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join, sep } from 'node:path';
import type { Context, Middleware } from 'koa';
import { tryOr } from '../core/errors.js';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.webp': 'image/webp',
  '.ico': 'image/x-icon',
  '.json': 'application/json; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
  '.txt': 'text/plain; charset=utf-8',
};

/** Allows scripts, styles and connections of this origin only: nothing inline, no frames, no plugins, no foreign forms. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "font-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

/** Vite adds a hash of the content to the name: `index-B3x9_a1Z.js`. The content under such a name never changes. */
const HASHED = /-[\w-]{8}\.\w+$/;

/** The encodings in which the build compresses a file, best first, and the file name suffix of each. */
const ENCODINGS = { br: '.br', gzip: '.gz' } as const;

export interface Asset {
  readonly type: string;
  readonly body: Buffer;
  readonly compressed: Readonly<Partial<Record<string, Buffer>>>;
  readonly isImmutable: boolean;
}

/** Sends a file in the best encoding that the browser accepts. */
export function sendAsset(ctx: Context, asset: Asset): void {
  ctx.set({
    'Content-Type': asset.type,
    'Content-Security-Policy': PAGE_POLICY,
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Referrer-Policy': 'no-referrer',
    'X-Frame-Options': 'DENY',
    'Cache-Control': asset.isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache',
  });
  ctx.status = 200;
  ctx.vary('Accept-Encoding');
  const encoding = ctx.acceptsEncodings(...Object.keys(asset.compressed), 'identity');
  const compressed = asset.compressed[encoding || 'identity'];
  if (compressed && encoding) ctx.set('Content-Encoding', encoding);
  ctx.body = compressed ?? asset.body;
}

/**
 * Returns the files of `folder` by path (`/index.html`); an empty map without a build. A request's path is only looked up in this
 * map, so it cannot lead out of the folder.
 */
export function listAssets(folder: string): ReadonlyMap<string, Asset> {
  const assets = new Map<string, Asset>();
  const names = new Set(list(folder));
  for (const name of names) {
    if (TYPES[extname(name).toLowerCase()] === undefined) continue;
    const path = `/${name.split(sep).join('/')}`;
    const compressed = Object.fromEntries(
      Object.entries(ENCODINGS)
        .filter(([, suffix]) => names.has(name + suffix))
        .map(([encoding, suffix]) => [encoding, readFileSync(join(folder, name + suffix))]),
    );
    assets.set(path, { ...readAsset(join(folder, name)), compressed, isImmutable: HASHED.test(name) });
  }
  return assets;
}

/** Reads a file that is sent as it is. Its name tells its type. */
export const readAsset = (file: string): Asset => ({
  type: TYPES[extname(file).toLowerCase()] ?? 'application/octet-stream',
  body: readFileSync(file),
  compressed: {},
  isImmutable: false,
});

const list = (folder: string): string[] =>
  tryOr([], () => readdirSync(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));

/** Serves the files of `folder`. Without a build, `/` explains how to make one. */
export function serveConsole(folder: string): Middleware {
  const assets = listAssets(folder);
  return (ctx, next) => {
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') return next();
    const asset = assets.get(ctx.path === '/' ? '/index.html' : ctx.path);
    if (asset) return sendAsset(ctx, asset);
    return ctx.path === '/' ? sendNotBuilt(ctx) : next();
  };
}

/** Answers a browser that asks for a page which this program does not have. */
export function sendNotBuilt(ctx: Context): void {
  sendAsset(ctx, NOT_BUILT);
  ctx.status = 503;
}

const NOT_BUILT: Asset = {
  type: 'text/html; charset=utf-8',
  compressed: {},
  isImmutable: false,
  body: Buffer.from(`<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Pulsegate</title>
<h1>Pulsegate</h1>
<p>The daemon is running; its pages are not built here. Run <code>npm run build</code> and start it again.</p>
<p>The account API and /api/v1 work without it.</p>
</html>
`),
};
