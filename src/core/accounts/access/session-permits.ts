// Permits of sessions make maxSessions and maxClientAddresses exact over several daemons. The database decides, because only the
// database knows the sessions of all nodes. While the database does not answer, this node decides by its own permits, and writes
// them later.
import { randomUUID } from 'node:crypto';
import { isDatabaseAway } from '../../errors.js';
import type { Log } from '../../log.js';
import type { Timer, Timers } from '../../time/timers.js';
import type { LimitRefusal } from '../usage/limits.js';
import type { PermitLimits, PermitStore, RevocablePermit, WantedPermit } from './held-permits.js';
import { HeldPermits } from './held-permits.js';

/** The right of one session to be open. */
export interface SessionPermit {
  /** Further calls do nothing. */
  release(): void;
}

export type PermitAnswer =
  | { readonly ok: true; readonly permit: SessionPermit }
  | { readonly ok: false; readonly reason: LimitRefusal };

export type SessionPermits = ReturnType<typeof createSessionPermits>;

interface PermitRequest extends RevocablePermit {
  readonly answer: (answer: PermitAnswer) => void;
}

/** Interval between attempts while the database does not answer, in ms. */
const RETRY_MS = 500;
/** Most permits of one kind in one exchange. */
const MAX_PER_EXCHANGE = 1_000;
/** Most accounts whose permits are compared with their limits in one exchange: a query each. */
const MAX_ENFORCED_PER_EXCHANGE = 20;

export function createSessionPermits(deps: {
  readonly store: Pick<PermitStore, 'exchange' | 'findSurplus'>;
  readonly limitsOf: (accountId: string) => PermitLimits;
  /** Time for one exchange before this node decides without the database, in ms. */
  readonly timeoutMs: number;
  readonly leaseMs: number;
  readonly timers: Timers;
  readonly log: Log;
}) {
  const { store, limitsOf, timeoutMs, leaseMs, timers, log } = deps;
  const held = new HeldPermits();
  /** Held permits that the database may not have. */
  const unwritten = new Set<RevocablePermit>();
  /** Ids of released permits that the database may still have. */
  const ended = new Set<string>();
  /** Requests without an answer, in the order of arrival. */
  const requests = new Set<PermitRequest>();
  /** Accounts that may have permits beyond their limits. */
  const lowered = new Set<string>();
  let isAway = false;
  let exchanging: Promise<void> | null = null;
  let retry: Timer | undefined;

  const isIdle = (): boolean => requests.size + unwritten.size + ended.size + lowered.size === 0;

  function exchange(): void {
    exchanging ??= exchangeAll();
  }

  async function exchangeAll(): Promise<void> {
    do await exchangeSome();
    while (!isAway && !isIdle());
    exchanging = null;
  }

  /** Never rejects. */
  async function exchangeSome(): Promise<void> {
    const endedIds = first(ended, MAX_PER_EXCHANGE);
    const written = first(unwritten, MAX_PER_EXCHANGE);
    // The database counts wanted permits correctly only when it has exactly this node's permits.
    const isExact = written.length === unwritten.size && endedIds.length === ended.size;
    const wanted = isExact ? first(requests, MAX_PER_EXCHANGE) : [];
    const enforced = isExact ? first(lowered, MAX_ENFORCED_PER_EXCHANGE) : [];
    // A call of `enforce` from now on adds its account again: it follows permits that are not written yet.
    for (const accountId of enforced) lowered.delete(accountId);
    const fail = (error?: unknown): void => {
      for (const accountId of enforced) lowered.add(accountId);
      decideLocally(error);
    };
    const silence = timers.after(timeoutMs, fail);
    try {
      const refusals = await store.exchange({
        endedIds,
        held: written,
        leaseMs,
        wanted: wanted.map(toWanted),
      });
      for (const id of endedIds) ended.delete(id);
      for (const permit of written) unwritten.delete(permit);
      for (const request of wanted) decided(request, refusals.get(request.id) ?? null);
      await revokeSurplus(enforced);
      if (isAway) log.info({}, 'account limits enforced over all nodes again');
      isAway = false;
    } catch (error) {
      fail(error);
    } finally {
      silence.clear();
    }
  }

  function toWanted({ id, accountId, client }: PermitRequest): WantedPermit {
    const { maxSessions, maxClientAddresses } = limitsOf(accountId);
    return { id, accountId, client, maxSessions, maxClientAddresses };
  }

  async function revokeSurplus(accountIds: readonly string[]): Promise<void> {
    for (const accountId of accountIds) {
      const surplus = await store.findSurplus(accountId, limitsOf(accountId));
      for (const id of surplus) held.get(id)?.revoke();
    }
  }

  function decided(request: PermitRequest, refusal: LimitRefusal | null): void {
    if (requests.delete(request)) answer(request, refusal);
    // This node has decided the request meanwhile, and then refused it or released its permit.
    else if (!held.get(request.id)) ended.add(request.id);
  }

  /** Called when the database does not answer or fails. Until the database answers, this node decides by its own permits. */
  function decideLocally(error?: unknown): void {
    if (!isAway) {
      const failure = error === undefined || isDatabaseAway(error) ? {} : { err: error };
      log.warn(failure, 'account limits enforced per node only: database not responding');
      // Another database, without these permits, may replace this one.
      for (const permit of held.all()) unwritten.add(permit);
    }
    isAway = true;
    for (const request of requests) {
      requests.delete(request);
      answerLocally(request);
    }
    enforceLocally();
  }

  function answerLocally(request: PermitRequest): void {
    const refusal = held.refusal(request, limitsOf(request.accountId));
    answer(request, refusal);
    const permit = held.get(request.id);
    if (permit) unwritten.add(permit);
  }

  function answer(request: PermitRequest, refusal: LimitRefusal | null): void {
    if (refusal !== null) request.answer({ ok: false, reason: refusal });
    else {
      const { id, accountId, client, revoke } = request;
      request.answer({ ok: true, permit: add({ id, accountId, client, revoke }) });
    }
  }

  function add(permit: RevocablePermit): SessionPermit {
    held.add(permit);
    return { release: () => remove(permit) };
  }

  function remove(permit: RevocablePermit): void {
    if (!held.remove(permit)) return;
    unwritten.delete(permit);
    ended.add(permit.id);
    if (!isAway) exchange();
  }

  /** Revokes the permits beyond the limits of an account, of all nodes. Call it when a limit was lowered. */
  function enforce(accountId: string): void {
    if (!held.has(accountId)) return;
    lowered.add(accountId);
    if (isAway) enforceLocally();
    else exchange();
  }

  /** The database decides when it answers again: the accounts stay in `lowered`. */
  function enforceLocally(): void {
    for (const accountId of lowered) {
      for (const permit of held.surplus(accountId, limitsOf(accountId))) permit.revoke();
    }
  }

  return {
    /**
     * Never rejects. While the database does not answer, takes at most `timeoutMs`, or twice that behind another exchange.
     * @param revoke ends the session, when the account has too many after its limit was lowered
     */
    acquire: (accountId: string, client: string, revoke: () => void): Promise<PermitAnswer> =>
      new Promise((resolve) => {
        const request: PermitRequest = { id: randomUUID(), accountId, client, revoke, answer: resolve };
        if (isAway) return answerLocally(request);
        requests.add(request);
        exchange();
      }),

    /** For a session that is already open when its account gets a limit. The session counts from now on. */
    hold(accountId: string, client: string, revoke: () => void): SessionPermit {
      const permit = { id: randomUUID(), accountId, client, revoke };
      const sessionPermit = add(permit);
      unwritten.add(permit);
      enforce(accountId);
      return sessionPermit;
    },

    enforce,
    /** Revokes a permit, because another node has found it beyond the limits. Ignores those of other nodes. */
    revoke: (id: string): void => held.get(id)?.revoke(),

    /** Writes all permits again, because the database may have lost them. */
    rewrite(): void {
      for (const permit of held.all()) unwritten.add(permit);
      if (!isAway) exchange();
    },

    start(): void {
      retry = timers.every(RETRY_MS, () => {
        if (isAway) exchange();
      });
    },

    /** Resolves when no exchange is in progress. */
    async stop(): Promise<void> {
      retry?.clear();
      await exchanging;
    },
  };
}

function first<T>(all: Iterable<T>, count: number): T[] {
  const some: T[] = [];
  for (const each of all) {
    if (some.length === count) break;
    some.push(each);
  }
  return some;
}
