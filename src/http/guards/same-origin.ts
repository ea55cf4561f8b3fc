// Refuses changes that another site's page makes a browser send with the operator's stored credentials.
// Programs send neither header, and their requests pass. There is no method override, and no response has a CORS header.
import type { Context, Middleware, ParameterizedContext } from 'koa';
import { quoted, refuse } from '../answer.js';
import { because } from '../api/problem-reasons.js';
import type { AdminState } from '../caller.js';

const READS = new Set(['GET', 'HEAD', 'OPTIONS']);
// Fetch Metadata: the relation between this site and the page that made the request.
const FOREIGN_SITES = new Set(['cross-site', 'same-site']);

export function sameOriginGuard(): Middleware<AdminState> {
  return (ctx, next) => {
    if (READS.has(ctx.method)) return next();
    const { origin } = ctx.req.headers;
    const site = ctx.get('Sec-Fetch-Site').toLowerCase();
    if (FOREIGN_SITES.has(site)) return refuseCrossSite(ctx, `Sec-Fetch-Site is ${site}`);
    if (origin !== undefined && !isThisHost(origin, ctx.state.hosts)) {
      return refuseCrossSite(ctx, `Origin is ${quoted(origin)}, which is not this host`);
    }
    return next();
  };
}

export function refuseCrossSite(ctx: Context, detail: string): void {
  refuse(ctx, 'cross-site', { ...because('cross-site'), detail });
}

/**
 * Returns whether a request with the console's cookie comes from the console. With every change a browser sends the origin or the
 * site of the requesting page, and it marks a request from another site as such.
 */
export function isFromOurPage({ req, state }: ParameterizedContext<AdminState>): boolean {
  const { origin } = req.headers;
  const site = String(req.headers['sec-fetch-site'] ?? '').toLowerCase();
  if (FOREIGN_SITES.has(site)) return false;
  if (READS.has(req.method ?? '')) return true;
  if (origin !== undefined) return isThisHost(origin, state.hosts);
  return site === 'same-origin';
}

/** The schemes may differ, because TLS may end at a reverse proxy. A default port equals an explicit one. */
function isThisHost(origin: string, hosts: readonly string[]): boolean {
  const from = parseOrigin(origin);
  return from !== null && hosts.some((host) => parseOrigin(`${from.protocol}//${host}`)?.host === from.host);
}

/** Returns null for `null`, which sandboxed and file pages send, and for anything that is not an http(s) origin. */
function parseOrigin(text: string): URL | null {
  if (!/^https?:\/\/[^/?#@\\\s]+$/i.test(text) || !URL.canParse(text)) return null;
  return new URL(text);
}
