// Refuses changes that pages of other sites ask for, and host names that are not configured, against DNS rebinding: an attacker's page can resolve its own name to
// our address and read our responses. An attacker cannot rebind an IP address.
import type { Context, Middleware, ParameterizedContext } from 'koa';
import { parseIp } from '../../core/addresses/ip.js';
import type { Log } from '../../core/log.js';
import { printable } from '../../core/text.js';
import { quoted, refuse } from '../answer.js';
import { because } from '../api/problem.js';
import type { AdminState } from '../caller.js';

/** Size of the cache of allowed hosts. Nearly every request names one of a few hosts. */
const MAX_KNOWN = 100;

interface HostGuardDeps {
  /** Host names, and `*.name` for every name below it. */
  readonly allowed: readonly string[];
  /** Whether our certificate contains a name. Over TLS, a page with another name fails at the certificate check. */
  readonly isCertified: (name: string) => boolean;
  readonly log: Pick<Log, 'warn'>;
}

export function hostGuard({ allowed, isCertified, log }: HostGuardDeps): Middleware<AdminState> {
  const isAllowed = createHostCheck(allowed, isCertified);
  const isFirst = createOncePerKey();
  return (ctx, next) => {
    const foreign = ctx.state.hosts.find((host) => !isAllowed(host));
    if (foreign === undefined) return next();
    const host = printable(foreign.slice(0, 255));
    if (isFirst(host)) {
      log.warn({ client: ctx.state.client, host, setting: 'admin.allowedHosts' }, 'host not allowed');
    }
    const detail = `the host is ${quoted(foreign)}; list its name in admin.allowedHosts`;
    refuse(ctx, 'host-not-allowed', { ...because('host-not-allowed'), detail });
  };
}

/** Makes the check of a host with or without a port. It accepts an IP literal, `localhost`, and our own names. */
function createHostCheck(
  allowed: readonly string[],
  isCertified: (name: string) => boolean,
): (host: string) => boolean {
  const names = new Set(['localhost', ...allowed.map((name) => name.toLowerCase())]);
  const known = new Set<string>();

  function isListed(host: string): boolean {
    if (known.has(host)) return true;
    const { isAddress, name } = parseHost(host);
    if (!isAddress && !names.has(name) && !parents(name).some((parent) => names.has(`*.${parent}`)))
      return false;
    if (known.size < MAX_KNOWN) known.add(host);
    return true;
  }

  // The result of this check is not cached: a renewed certificate may have other names.
  return (host) => isListed(host) || isCertified(parseHost(host).name);
}

/** Parses a host with or without a port. The name is in lower case and without a final dot; it is empty when there is none. */
function parseHost(host: string): { readonly isAddress: boolean; readonly name: string } {
  const [, literal, plain = ''] = /^(?:\[([^\]]*)\]|([^:[\]]*))(?::\d{0,5})?$/.exec(host) ?? [];
  const isAddress = literal === undefined ? parseIp(plain)?.length === 4 : parseIp(literal)?.length === 16;
  return { isAddress, name: plain.toLowerCase().replace(/\.$/, '') };
}

/** `b.c` and `c` for `a.b.c`. */
function parents(name: string): string[] {
  const labels = name.split('.');
  return labels.slice(1).map((_, i) => labels.slice(i + 1).join('.'));
}

const READS = new Set(['GET', 'HEAD', 'OPTIONS']);
// Fetch Metadata: the relation between this site and the page that made the request.
const FOREIGN_SITES = new Set(['cross-site', 'same-site']);

/**
 * Refuses changes that another site's page makes a browser send with the operator's stored credentials. Programs send neither header,
 * and their requests pass. There is no method override, and no response has a CORS header.
 */
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

const MAX_KEYS = 100;

/** Returns whether it is the first time of a key, so that something is logged once per key. The number of remembered keys is bounded. */
export function createOncePerKey(): (key: string) => boolean {
  const keys = new Set<string>();
  return (key) => {
    if (keys.has(key) || keys.size >= MAX_KEYS) return false;
    keys.add(key);
    return true;
  };
}
