// Holds sessions to their account's limits: whether another one may begin, at which rates they move bytes, and which of
// the live ones must end when the limits change or the quota is used up.

import type { Clock } from '../clock.js';
import type { EgressPolicy } from '../egress/egress.js';
import { parseIp } from '../ip.js';
import { type AccountRates, createSharedRate } from '../sessions/rate-limit.js';
import type { Session, SessionRegistry } from '../sessions/session.js';
import { type AccountLimits, type KeptLimits, type LimitRefusal, NO_LIMITS } from './limits.js';

export interface LimitEnforcement {
  /** Why the account may have no further session from this address now; null: it may. */
  refusal(accountId: string, clientAddress: string): LimitRefusal | null;
  /** The rates its sessions share; undefined when it has none. */
  rates(accountId: string): AccountRates | undefined;
  /** Makes or changes the rates that the account's sessions share. */
  setRates(accountId: string, limits: AccountLimits): void;
  /** Brings the live sessions under what holds now. The oldest sessions and the addresses that came first stay. */
  apply(accountId: string, before: AccountLimits): void;
  /** Ends the sessions of every account whose quota is used up. */
  endOverQuota(): void;
  forget(accountId: string): void;
}

/** @param uses.kept what holds for accounts that have limits; as it is when asked, like everything here */
export function createLimitEnforcement(uses: {
  readonly kept: ReadonlyMap<string, KeptLimits>;
  /** What the account has used since its quota last began. */
  readonly periodBytes: (accountId: string) => number;
  readonly sessions: SessionRegistry;
  readonly egressOf: (egressClass: string | null) => EgressPolicy | undefined;
  readonly monotonicNow: Clock;
}): LimitEnforcement {
  const { kept, periodBytes, sessions, egressOf, monotonicNow } = uses;
  const rates = new Map<string, AccountRates>();

  function isOverQuota(accountId: string, { quotaBytes }: AccountLimits): boolean {
    return quotaBytes !== null && periodBytes(accountId) >= quotaBytes;
  }

  function setRates(accountId: string, limits: AccountLimits): void {
    const up = limits.bytesPerSecondUp ?? Number.POSITIVE_INFINITY;
    const down = limits.bytesPerSecondDown ?? Number.POSITIVE_INFINITY;
    const shared = rates.get(accountId);
    if (shared) {
      shared.up.setRate(up);
      shared.down.setRate(down);
      return;
    }
    if (up === Number.POSITIVE_INFINITY && down === Number.POSITIVE_INFINITY) return;
    const made: AccountRates = {
      up: createSharedRate(up, monotonicNow),
      down: createSharedRate(down, monotonicNow),
    };
    rates.set(accountId, made);
    for (const session of sessions.ofAccount(accountId)) session.limitRates(made);
  }

  return {
    refusal(accountId, clientAddress) {
      const account = kept.get(accountId);
      if (!account) return null;
      const { maxSessions, maxClientAddresses } = account.limits;
      if (isOverQuota(accountId, account.limits)) return 'over-quota';
      if (maxSessions === null && maxClientAddresses === null) return null;
      const live = sessions.ofAccount(accountId);
      if (maxSessions !== null && live.length >= maxSessions) return 'too-many-sessions';
      if (maxClientAddresses === null) return null;
      const addresses = clientAddresses(live);
      return addresses.size >= maxClientAddresses && !addresses.has(clientAddress)
        ? 'too-many-addresses'
        : null;
    },

    rates: (accountId) => rates.get(accountId),
    setRates,

    apply(accountId, before) {
      const limits = kept.get(accountId)?.limits ?? NO_LIMITS;
      setRates(accountId, limits);
      const isClassChanged = limits.egressClass !== before.egressClass;
      const policy = isClassChanged ? egressOf(limits.egressClass) : undefined;
      const addresses = new Set<string>();
      let count = 0;
      for (const session of sessions.ofAccount(accountId)) {
        const isNewAddress = !addresses.has(session.client.address);
        const isTooMany =
          count >= (limits.maxSessions ?? Number.POSITIVE_INFINITY) ||
          (isNewAddress && addresses.size >= (limits.maxClientAddresses ?? Number.POSITIVE_INFINITY));
        if (isTooMany || (isClassChanged && !isPermitted(session, policy))) {
          session.end('limits-changed');
          continue;
        }
        count += 1;
        addresses.add(session.client.address);
      }
      if (isOverQuota(accountId, limits)) sessions.endAccount(accountId, 'over-quota');
    },

    endOverQuota() {
      for (const accountId of [...sessions.accounts()]) {
        const account = kept.get(accountId);
        if (account && isOverQuota(accountId, account.limits)) sessions.endAccount(accountId, 'over-quota');
      }
    },

    forget(accountId) {
      rates.delete(accountId);
    },
  };
}

/** The different addresses that live sessions come from. */
export function clientAddresses(live: readonly Session[]): Set<string> {
  return new Set(live.map((session) => session.client.address));
}

/** Whether a live session's destination may be reached under `policy`. An association may send anywhere: it must ask anew. */
function isPermitted(session: Session, policy: EgressPolicy | undefined): boolean {
  if (!policy || session.command !== 'connect') return false;
  const { host, address, port } = session.destination;
  const ip = parseIp(address);
  return ip !== null && policy.judge({ host: parseIp(host) ? null : host, ip, port }).ok;
}
