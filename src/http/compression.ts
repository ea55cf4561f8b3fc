// Compresses what /api/v1 answers. Never beside a secret: a compressed answer tells its length, and where a request's text
// stands in it beside a secret, the lengths of many answers tell the secret (BREACH).
import { constants } from 'node:zlib';
import type { Middleware, ParameterizedContext } from 'koa';
import compress from 'koa-compress';

/** Shorter answers are sent as they are: they fit into one packet either way. */
export const MIN_COMPRESSED_BYTES = 1024;

/** Passwords and new tokens are only ever in answers to POST and PUT; these answer GET, and deal in secrets all the same. */
const SECRETIVE = /^\/api\/v1\/(session|tokens|accounts\/export)(\/|$)/i;

/** Mount it around the routes: it reads what they have answered. */
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
