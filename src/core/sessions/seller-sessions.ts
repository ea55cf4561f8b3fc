// The live sessions of a seller: a view that contains only the sessions of the seller's accounts.
import type { LiveSessionView } from './live-session-store.js';
import type { LiveSessions } from './live-sessions.js';

export function sessionsOfSeller(sessions: LiveSessions, owns: (accountId: string) => boolean): LiveSessions {
  const own = (found: readonly LiveSessionView[]): LiveSessionView[] =>
    found.filter(({ accountId }) => owns(accountId));
  return {
    async list(filter) {
      const items = own((await sessions.list(filter)).items);
      const all = own((await sessions.list({ search: '' })).items);
      return { items, matched: items.length, total: all.length };
    },
    find: async (ids) => own(await sessions.find(ids)),
    ofAccount: async (accountId) => (owns(accountId) ? sessions.ofAccount(accountId) : []),
    end: (chosen) => sessions.end(own(chosen)),
    endAccount: async (accountId) => (owns(accountId) ? sessions.endAccount(accountId) : undefined),
  };
}
