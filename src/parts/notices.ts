// Notices as the daemon sends them: signed posts to the configured address, about its accounts and their quotas.
import { randomUUID } from 'node:crypto';
import { createSignedPost } from '../agents/channels/http.js';
import type { Config } from '../config.js';
import type { AccountLimitsService } from '../core/accounts/account-limits.js';
import type { Log } from '../core/log.js';
import { createNotices, type Notices } from '../core/notices/notices.js';
import type { Core } from './core.js';

/** null when no address is configured. @param uses.signal ends a post that is under way */
export function openNotices(uses: {
  readonly config: Config['notices'];
  readonly core: Pick<Core, 'store' | 'directory'>;
  readonly limits: Pick<AccountLimitsService, 'glance'>;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly now: () => number;
}): Notices | null {
  const { core, limits, log, signal, now } = uses;
  const { url, secret, timeoutMs, maxTries, backoffMs, expiringMs } = uses.config;
  if (url === null) return null;
  const post = createSignedPost({ url, secret: secret?.reveal() ?? null, timeoutMs, now });
  return createNotices({
    store: core.store.notices,
    async send(id, body) {
      const outcome = await post(id, body, signal);
      return { ok: outcome.ok, again: !outcome.ok && outcome.again, detail: outcome.detail };
    },
    accounts: () => core.directory.all(),
    quotaUse(id) {
      const { limits: set, usage } = limits.glance(id);
      if (set.quotaBytes === null) return null;
      return { share: usage.periodBytes / set.quotaBytes, period: String(usage.periodStartedAt) };
    },
    expiringMs,
    maxLoginFailures: uses.config.loginFailures,
    loginFailureWindowMs: uses.config.loginFailureWindowMs,
    maxTries,
    backoffMs,
    now,
    newId: randomUUID,
    onGivenUp: ({ type, key }, detail) => log.warn({ type, key, detail }, 'notice not delivered'),
  });
}
