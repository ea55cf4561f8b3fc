// Sends notices: signed POST requests to the configured URL about accounts, quotas, failed logins and failed runs.
import { randomUUID } from 'node:crypto';
import { createSignedPost } from '../agents/channels/http.js';
import { createOutbox, nextTryAt } from '../agents/outbox.js';
import type { Config } from '../config.js';
import type { Log } from '../core/log.js';
import { createNotices, type DueNotice } from '../core/notices/notices.js';
import type { Core } from './core.js';
import type { Part } from './lifecycle.js';
import { createTimers } from './timers.js';

export interface NoticesPart extends Part {
  /** Counts a failed login of a client address. */
  loginFailed(client: string): void;
}

/** Does nothing when no URL is configured. */
export function createNoticesPart(uses: {
  readonly config: Pick<Config, 'notices'>;
  readonly core: Pick<Core, 'store' | 'directory' | 'usage'>;
  readonly log: Log;
  readonly now: () => number;
}): NoticesPart {
  const { core, log, now } = uses;
  const { url, secret, timeoutMs, ...settings } = uses.config.notices;
  if (url === null) return { name: 'notices', loginFailed() {}, stop() {} };
  const store = core.store.notices;
  const post = createSignedPost({ url, secret: secret?.reveal() ?? null, timeoutMs, now });
  const notices = createNotices({
    store,
    accounts: () => core.directory.all(),
    quotaUse(account) {
      const { quotaBytes } = account.limits;
      if (quotaBytes === null) return null;
      const { periodBytes, periodStartedAt } = core.usage.glance(account);
      return { share: periodBytes / quotaBytes, period: String(periodStartedAt) };
    },
    expiringMs: settings.expiringMs,
    maxLoginFailures: settings.loginFailures,
    loginFailureWindowMs: settings.loginFailureWindowMs,
    now,
    newId: randomUUID,
  });

  async function attempt(notice: DueNotice, signal: AbortSignal): Promise<void> {
    const { id, key, type, at, data } = notice;
    const body = JSON.stringify({ id, type, at: new Date(at).toISOString(), data });
    const outcome = await post(id, body, signal);
    // Aborted by the shutdown: does not count as an attempt, and is due again at the next start.
    if (!outcome.ok && signal.aborted) return;
    const nextAt = nextTryAt(outcome, notice.tries + 1, settings, now(), Math.random);
    await store.tried(key, nextAt);
    if (nextAt === null && !outcome.ok) {
      log.warn({ type, key, detail: outcome.detail }, 'notice not delivered');
    }
  }

  const outbox = createOutbox<DueNotice>({
    name: 'notices',
    due: (limit) => store.due(now(), limit),
    nextDueAt: store.nextDueAt,
    keyOf: ({ key }) => key,
    attempt,
    concurrency: 1,
    now,
    log,
  });
  const timers = createTimers(log);
  return {
    name: 'notices',
    loginFailed: notices.loginFailed,
    start() {
      outbox.wake();
      const look = () => notices.look().then(outbox.wake);
      timers.every(settings.lookEveryMs, () => void timers.attempt('notices', look));
    },
    stop() {
      timers.stop();
      return outbox.stop(0);
    },
  };
}
