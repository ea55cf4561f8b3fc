// Built files that browsers load: found once, by listing their folder, and sent under a strict policy.
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join, sep } from 'node:path';
import type { Context } from 'koa';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.json': 'application/json; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
  '.txt': 'text/plain; charset=utf-8',
};

/** Scripts, styles and connections of this origin only; nothing inline, no frames, no plugins, no foreign forms. */
export const PAGE_POLICY = [
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

/** Vite names what never changes by its content: `index-B3x9_a1Z.js`. */
const HASHED = /-[\w-]{8}\.\w+$/;

/** How the build has compressed a file, best first, and what the name of such a file ends with. */
const ENCODINGS = { br: '.br', gzip: '.gz' } as const;

export interface Asset {
  readonly type: string;
  readonly body: Buffer;
  readonly compressed: Readonly<Partial<Record<string, Buffer>>>;
  readonly isImmutable: boolean;
}

/** Answers with a file, compressed as the browser likes it best. */
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
 * The files of `folder` by their paths, `/index.html`; none without a build. A path of a request is only ever looked up in
 * this list, so none can lead out of the folder.
 */
export function listAssets(folder: string): ReadonlyMap<string, Asset> {
  const assets = new Map<string, Asset>();
  const names = new Set(list(folder));
  for (const name of names) {
    const type = TYPES[extname(name).toLowerCase()];
    if (type === undefined) continue;
    const path = `/${name.split(sep).join('/')}`;
    const compressed = Object.fromEntries(
      Object.entries(ENCODINGS)
        .filter(([, suffix]) => names.has(name + suffix))
        .map(([encoding, suffix]) => [encoding, readFileSync(join(folder, name + suffix))]),
    );
    assets.set(path, {
      type,
      body: readFileSync(join(folder, name)),
      compressed,
      isImmutable: HASHED.test(name),
    });
  }
  return assets;
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
  } catch {
    return [];
  }
}
