// Refuses requests for host names that are not configured, against DNS rebinding: an attacker's page can resolve its own name to
// our address and read our responses. An attacker cannot rebind an IP address.
import type { Middleware } from 'koa';
import { parseIp } from '../../core/ip.js';
import type { Log } from '../../core/log.js';
import { printable } from '../../core/text.js';
import { quoted, refuse } from '../answer.js';
import { because } from '../api/problem-reasons.js';
import type { AdminState } from '../caller.js';
import { createOncePerKey } from './once-per-key.js';

/** Size of the cache of allowed hosts. Nearly every request names one of a few hosts. */
const MAX_KNOWN = 100;

export interface HostGuardDeps {
  /** Host names, and `*.name` for every name below it. */
  readonly allowed: readonly string[];
  /** Whether our certificate contains a name. Over TLS, a page with another name fails at the certificate check. */
  readonly isCertified: (name: string) => boolean;
  readonly log: Pick<Log, 'warn'>;
}

export function hostGuard({ allowed, isCertified, log }: HostGuardDeps): Middleware<AdminState> {
  const isAllowed = createHostCheck(allowed, isCertified);
  const seen = createOncePerKey();
  return (ctx, next) => {
    const foreign = ctx.state.hosts.find((host) => !isAllowed(host));
    if (foreign === undefined) return next();
    const host = printable(foreign.slice(0, 255));
    if (seen.isFirst(host)) {
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
