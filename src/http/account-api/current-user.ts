// GetCurrentUser: a player's own view of the account, for clients on this host or its private networks. Needs no admin credentials.
import type Router from '@koa/router';
import type { Accounts } from '../../core/accounts/accounts.js';
import type { Clock } from '../../core/clock.js';
import { inCidr, parseCidr, parseIp } from '../../core/ip.js';
import { answer, refuse } from '../answer.js';
import { headerValues } from '../header-values.js';
import type { AdminState } from '../state.js';
import { presentCurrentUser } from './present.js';

// Exactly the ranges of the specification. ::1 is not among them, so a local client uses 127.0.0.1.
const LOCAL_RANGES = ['127.0.0.0/8', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7', 'fe80::/10']
  .map(parseCidr)
  .filter((range) => range !== null);

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Paths of the route below. Other requests skip its router, to save the lookup. */
export const CURRENT_USER_PATH = /^\/ProxyAccount\/GetCurrentUser\/?$/i;

export function currentUserRoute(
  router: Router<AdminState>,
  { accounts, now }: { accounts: Accounts; now: Clock },
): void {
  router.get('/ProxyAccount/GetCurrentUser', (ctx) => {
    const { client, isForwarded } = ctx.state;
    if (isForwarded || !isLocal(client)) return refuse(ctx, 'not-local');
    const names = headerValues(ctx.req, 'x-socks5-username');
    if (names.length > 1)
      return refuse(ctx, 'malformed-request', 'X-Socks5-Username is given more than once');
    const [name = ''] = names;
    if (name === '') return refuse(ctx, 'missing-username-header');
    const username = decode(name);
    const found = username === null ? null : accounts.getByUsername(username);
    if (!found) return refuse(ctx, 'user-not-found');
    answer(ctx, presentCurrentUser(found, now()));
  });
}

function isLocal(client: string): boolean {
  const ip = parseIp(client);
  return ip !== null && LOCAL_RANGES.some((range) => inCidr(ip, range));
}

/** Node decodes header bytes as Latin-1 (RFC 9110 §5.5 leaves their meaning open). User names are UTF-8. */
function decode(header: string): string | null {
  try {
    return utf8.decode(Buffer.from(header, 'latin1'));
  } catch {
    return null;
  }
}
