// Compresses responses of /api/v1, except those with secrets: when a response contains text of the request beside a secret,
// the lengths of many compressed responses reveal the secret (BREACH).
import { constants } from 'node:zlib';
import type { Middleware, ParameterizedContext } from 'koa';
import compress from 'koa-compress';

/** Shorter responses fit into one packet either way. */
const MIN_COMPRESSED_BYTES = 1024;

/** Responses to GET that contain secrets. Passwords and new tokens are only in responses to POST and PUT. */
const SECRETIVE = /^\/api\/v1\/(session|tokens|accounts\/export)(\/|$)/i;

/** Mount it before the routes. */
export function compressJson(): Middleware {
  const compressed = compress({
    threshold: MIN_COMPRESSED_BYTES,
    filter: (type) => type === 'application/json',
    br: { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } },
    gzip: { level: 6 },
    deflate: false,
    zstd: false,
  });
  return (ctx, next) => (mayCompress(ctx) ? compressed(ctx, next) : next());
}

function mayCompress({ method, path }: Pick<ParameterizedContext, 'method' | 'path'>): boolean {
  return method === 'GET' && /^\/api\/v1\//i.test(path) && !SECRETIVE.test(path);
}
