// Serves the console's built files at `/`.
import type { Middleware } from 'koa';
import { type Asset, listAssets, sendAsset } from './assets.js';

/** Serves the files of `folder`. Without a build, `/` explains how to make one. */
export function serveConsole(folder: string): Middleware {
  const assets = listAssets(folder);
  return (ctx, next) => {
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') return next();
    const asset = assets.get(ctx.path === '/' ? '/index.html' : ctx.path);
    if (asset) return sendAsset(ctx, asset);
    if (ctx.path !== '/') return next();
    sendAsset(ctx, NOT_BUILT);
    ctx.status = 503;
  };
}

const NOT_BUILT: Asset = {
  type: 'text/html; charset=utf-8',
  compressed: {},
  isImmutable: false,
  body: Buffer.from(`<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Pulsegate</title>
<h1>Pulsegate</h1>
<p>The daemon is running; its web console is not built here. Run <code>npm run build</code> and start it again.</p>
<p>The account API and /api/v1 work without it.</p>
</html>
`),
};
