// Live sessions, and what accounts may use: limits are enforced once a second.
import type { Config } from '../config.js';
import { type AccountLimitsService, createAccountLimits } from '../core/accounts/account-limits.js';
import { SessionRegistry } from '../core/sessions/session.js';
import type { Core } from './core.js';
import type { Part } from './lifecycle.js';

/** How often quotas and times of day are checked, in ms. */
const ENFORCE_INTERVAL_MS = 1_000;

export interface AccountsPart extends Part {
  readonly sessions: SessionRegistry;
  readonly limits: AccountLimitsService;
}

export function createAccountsPart(uses: {
  readonly config: Pick<Config, 'egress'>;
  readonly core: Pick<Core, 'store' | 'directory'>;
  readonly now: () => number;
}): AccountsPart {
  const { store, directory } = uses.core;
  const sessions = new SessionRegistry();
  const limits = createAccountLimits({
    store: store.limits,
    sessions,
    egressClasses: Object.keys(uses.config.egress.classes),
    now: uses.now,
  });
  directory.onClosed((account, reason) => {
    if (reason === 'account-removed') limits.forget(account.id);
  });
  let timer: NodeJS.Timeout | undefined;
  return {
    name: 'limits',
    sessions,
    limits,
    async start() {
      await limits.load();
      timer = setInterval(limits.enforce, ENFORCE_INTERVAL_MS);
    },
    stop: () => clearInterval(timer),
  };
}
