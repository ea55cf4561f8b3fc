// Whether a caller still has the access that its request or stream began with. Reading a body can take minutes, and a stream
// outlives its request: meanwhile the caller may be disabled, removed, signed out, or have another role.
import type { ApiTokens } from '../core/auth/api-tokens.js';
import type { ConsoleSessions } from '../core/auth/console-sessions.js';
import type { Principal, Principals } from '../core/auth/principals.js';
import type { Whitelist } from '../core/auth/whitelist.js';
import type { ProblemAnswer } from './api/problem.js';
import { because } from './api/problem-reasons.js';
import type { Caller } from './caller.js';

/** Returns the problem of a caller who has lost its access, or has another role now; null: nothing changed. */
export type RefuseNow = (caller: Caller) => ProblemAnswer | null;

export function createRefuseNow({
  principals,
  consoleSessions,
  apiTokens,
  whitelist,
}: {
  readonly principals: Pick<Principals, 'get'>;
  readonly consoleSessions: Pick<ConsoleSessions, 'isOpen'>;
  readonly apiTokens: Pick<ApiTokens, 'isValid'>;
  readonly whitelist: Pick<Whitelist, 'allows'>;
}): RefuseNow {
  const isStillGood: Readonly<Record<Caller['via'], (key: string, principal: Principal) => boolean>> = {
    basic: (key, principal) => key === principal.fingerprint(),
    console: consoleSessions.isOpen,
    token: apiTokens.isValid,
    cli: () => true,
  };
  return ({ via, key, address, operator }) => {
    if (via === 'cli') return null;
    const principal = principals.get(operator?.id ?? null);
    if (!principal) return { problem: 'signed-out' };
    if (principal.operator?.role !== operator?.role) {
      return { problem: 'wrong-role', ...because('role-changed') };
    }
    if (!isStillGood[via](key ?? '', principal)) return { problem: 'signed-out' };
    return whitelist.allows(address)
      ? null
      : { problem: 'forbidden', ...because('not-whitelisted', { address }) };
  };
}
