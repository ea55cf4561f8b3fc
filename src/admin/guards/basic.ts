// Stage 2: Basic authentication (RFC 7617) with the admin credentials; a refusal is answered late.
import type { Middleware } from 'koa';
import type { AdminCredentials } from '../../core/admin-credentials.js';
import { parseBasic } from '../../core/credentials.js';
import type { Log } from '../../core/log.js';
import { printable } from '../../core/printable.js';
import { refuse } from '../answer.js';
import { headerValues } from '../header-values.js';
import type { AdminState } from '../state.js';
import type { LoginDelay } from './login-delay.js';

export function basicGuard({
  credentials,
  delay,
  log,
}: {
  credentials: Pick<AdminCredentials, 'verify'>;
  delay: LoginDelay;
  log: Pick<Log, 'warn'>;
}): Middleware<AdminState> {
  return async (ctx, next) => {
    const { client } = ctx.state;
    // Before the check: past the bound a guess is not even compared.
    if (delay.isFull(client)) return hangUp(ctx);

    const headers = headerValues(ctx.req, 'authorization');
    // Two of them are as good as none: it would be open which one counts.
    const given = headers.length === 1 ? parseBasic(headers[0]) : null;
    if (given && credentials.verify(given.username, given.password)) return next();

    log.warn({ client, username: printable(given?.username ?? '') }, 'admin login failed');
    if ((await delay.wait(client)) === 'closed') return hangUp(ctx);
    refuse(ctx, 'wrong-credentials');
  };
}

function hangUp(ctx: Parameters<Middleware>[0]): void {
  ctx.respond = false;
  ctx.req.socket.destroy();
}
