// Notices as the daemon sends them: signed posts to the configured address, about its accounts and their quotas.
import { randomUUID } from 'node:crypto';
import { createSignedPost } from '../agents/channels/http.js';
import type { Config } from '../config.js';
import type { AccountLimitsService } from '../core/accounts/account-limits.js';
import type { Log } from '../core/log.js';
import { createNotices } from '../core/notices/notices.js';
import type { Core } from './core.js';
import type { Part } from './lifecycle.js';
import { createTimers } from './timers.js';

const DELIVER_INTERVAL_MS = 1_000;

export interface NoticesPart extends Part {
  /** Counts a login of a client address that failed. */
  loginFailed(client: string): void;
}

/** Does nothing when no address is configured. */
export function createNoticesPart(uses: {
  readonly config: Pick<Config, 'notices'>;
  readonly core: Pick<Core, 'store' | 'directory'>;
  readonly limits: Pick<AccountLimitsService, 'glance'>;
  readonly log: Log;
  readonly now: () => number;
}): NoticesPart {
  const { core, limits, log, now } = uses;
  const { url, secret, timeoutMs, ...settings } = uses.config.notices;
  if (url === null) return { name: 'notices', loginFailed() {}, stop() {} };
  const stopped = new AbortController();
  const post = createSignedPost({ url, secret: secret?.reveal() ?? null, timeoutMs, now });
  const notices = createNotices({
    store: core.store.notices,
    async send(id, body) {
      const outcome = await post(id, body, stopped.signal);
      return { ok: outcome.ok, again: !outcome.ok && outcome.again, detail: outcome.detail };
    },
    accounts: () => core.directory.all(),
    quotaUse(id) {
      const { limits: set, usage } = limits.glance(id);
      if (set.quotaBytes === null) return null;
      return { share: usage.periodBytes / set.quotaBytes, period: String(usage.periodStartedAt) };
    },
    expiringMs: settings.expiringMs,
    maxLoginFailures: settings.loginFailures,
    loginFailureWindowMs: settings.loginFailureWindowMs,
    maxTries: settings.maxTries,
    backoffMs: settings.backoffMs,
    now,
    newId: randomUUID,
    onGivenUp: ({ type, key }, detail) => log.warn({ type, key, detail }, 'notice not delivered'),
  });
  const timers = createTimers(log);
  return {
    name: 'notices',
    loginFailed: notices.loginFailed,
    start() {
      timers.every(settings.lookEveryMs, () => void timers.attempt('notices', notices.look));
      timers.every(DELIVER_INTERVAL_MS, () => void timers.attempt('notices', notices.deliver));
    },
    stop() {
      timers.stop();
      stopped.abort();
    },
  };
}
