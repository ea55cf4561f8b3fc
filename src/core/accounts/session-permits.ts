// Permits of sessions make maxSessions and maxClientAddresses exact over several daemons. The database decides, because only the
// database knows the sessions of all nodes. While the database does not answer, this node decides by its own permits, and writes
// them later.
import { randomUUID } from 'node:crypto';
import type { Log } from '../log.js';
import { isDatabaseAway } from '../storage.js';
import type { AccountLimits, LimitRefusal } from './limits.js';
import type { HeldPermit, PermitStore } from './permit-store.js';

/** The right of one session to be open. */
export interface SessionPermit {
  /** Further calls do nothing. */
  release(): void;
}

export type PermitAnswer =
  | { readonly ok: true; readonly permit: SessionPermit }
  | { readonly ok: false; readonly reason: LimitRefusal };

export interface SessionPermits {
  /** Never rejects. While the database does not answer, takes at most `timeoutMs`, or twice that behind another exchange. */
  acquire(accountId: string, client: string): Promise<PermitAnswer>;
  /** For a session that is already open when its account gets a limit. The session counts from now on. */
  hold(accountId: string, client: string): SessionPermit;
  /** Writes all permits again, because the database may have lost them. */
  writeAnew(): void;
  start(): void;
  /** Resolves when no exchange is in progress. */
  stop(): Promise<void>;
}

interface Question extends HeldPermit {
  readonly answer: (answer: PermitAnswer) => void;
}

/** Interval between attempts while the database does not answer, in ms. */
const RETRY_MS = 500;
/** Most permits of one kind in one exchange. */
const AT_ONCE = 1_000;

export function createSessionPermits(uses: {
  readonly store: Pick<PermitStore, 'exchange'>;
  readonly limitsOf: (accountId: string) => Pick<AccountLimits, 'maxSessions' | 'maxClientAddresses'>;
  /** Time for one exchange before this node decides without the database, in ms. */
  readonly timeoutMs: number;
  /** Lease time of this node, in ms. */
  readonly leaseMs: number;
  readonly log: Log;
}): SessionPermits {
  const { store, limitsOf, timeoutMs, leaseMs, log } = uses;
  const held = new Map<string, HeldPermit>();
  const heldByAccount = new Map<string, Set<HeldPermit>>();
  /** Held permits that the database may not have. */
  const unwritten = new Set<HeldPermit>();
  /** Ids of released permits that the database may still have. */
  const ended = new Set<string>();
  /** Requests without an answer, in the order of arrival. */
  const questions = new Set<Question>();
  let isAway = false;
  let underWay: Promise<void> | null = null;
  let retry: NodeJS.Timeout | undefined;

  const isIdle = (): boolean => questions.size + unwritten.size + ended.size === 0;

  function exchange(): void {
    underWay ??= exchangeAll();
  }

  async function exchangeAll(): Promise<void> {
    do await exchangeSome();
    while (!isAway && !isIdle());
    underWay = null;
  }

  /** Never rejects. */
  async function exchangeSome(): Promise<void> {
    const endedIds = first(ended, AT_ONCE);
    const written = first(unwritten, AT_ONCE);
    // The database counts wanted permits correctly only when it has exactly this node's permits.
    const isExact = written.length === unwritten.size && endedIds.length === ended.size;
    const wanted = isExact ? first(questions, AT_ONCE) : [];
    const silence = setTimeout(decideHere, timeoutMs);
    try {
      const refusals = await store.exchange({
        endedIds,
        held: written,
        leaseMs,
        wanted: wanted.map(({ id, accountId, client }) => ({
          id,
          accountId,
          client,
          ...maximaOf(accountId),
        })),
      });
      for (const id of endedIds) ended.delete(id);
      for (const permit of written) unwritten.delete(permit);
      for (const question of wanted) decided(question, refusals.get(question.id) ?? null);
      if (isAway) log.info({}, 'limits of accounts hold over all nodes again');
      isAway = false;
    } catch (error) {
      decideHere(error);
    } finally {
      clearTimeout(silence);
    }
  }

  function maximaOf(accountId: string) {
    const { maxSessions, maxClientAddresses } = limitsOf(accountId);
    return { maxSessions, maxClientAddresses };
  }

  /** Handles the database's decision. */
  function decided(question: Question, refusal: LimitRefusal | null): void {
    if (questions.delete(question)) answer(question, refusal);
    // This node has decided the request meanwhile, and then refused it or released its permit.
    else if (!held.has(question.id)) ended.add(question.id);
  }

  /** Called when the database does not answer or fails. Until the database answers, this node decides by its own permits. */
  function decideHere(error?: unknown): void {
    if (!isAway) {
      const failure = error === undefined || isDatabaseAway(error) ? {} : { err: error };
      log.warn(failure, 'limits of accounts hold per node: the database does not answer');
      // Another database, without these permits, may replace this one.
      for (const permit of held.values()) unwritten.add(permit);
    }
    isAway = true;
    for (const question of questions) {
      questions.delete(question);
      answerHere(question);
    }
  }

  function answerHere(question: Question): void {
    const refusal = refusalHere(question);
    answer(question, refusal);
    const permit = held.get(question.id);
    if (permit) unwritten.add(permit);
  }

  function refusalHere({ accountId, client }: Question): LimitRefusal | null {
    const { maxSessions, maxClientAddresses } = limitsOf(accountId);
    const permits = heldByAccount.get(accountId) ?? [];
    const clients = new Set(Array.from(permits, (permit) => permit.client));
    const count = heldByAccount.get(accountId)?.size ?? 0;
    if (maxSessions !== null && count >= maxSessions) return 'too-many-sessions';
    if (maxClientAddresses === null || count === 0 || clients.has(client)) return null;
    return clients.size >= maxClientAddresses ? 'too-many-addresses' : null;
  }

  function answer(question: Question, refusal: LimitRefusal | null): void {
    if (refusal !== null) question.answer({ ok: false, reason: refusal });
    else question.answer({ ok: true, permit: add(question) });
  }

  function add({ id, accountId, client }: HeldPermit): SessionPermit {
    const permit: HeldPermit = { id, accountId, client };
    const others = heldByAccount.get(accountId) ?? new Set();
    heldByAccount.set(accountId, others.add(permit));
    held.set(id, permit);
    return { release: () => remove(permit) };
  }

  function remove(permit: HeldPermit): void {
    if (!held.delete(permit.id)) return;
    const others = heldByAccount.get(permit.accountId);
    others?.delete(permit);
    if (others?.size === 0) heldByAccount.delete(permit.accountId);
    unwritten.delete(permit);
    ended.add(permit.id);
    if (!isAway) exchange();
  }

  return {
    acquire: (accountId, client) =>
      new Promise((resolve) => {
        const question: Question = { id: randomUUID(), accountId, client, answer: resolve };
        if (isAway) return answerHere(question);
        questions.add(question);
        exchange();
      }),

    hold(accountId, client) {
      const id = randomUUID();
      const permit = add({ id, accountId, client });
      unwritten.add(held.get(id) as HeldPermit);
      if (!isAway) exchange();
      return permit;
    },

    writeAnew() {
      for (const permit of held.values()) unwritten.add(permit);
      if (!isAway) exchange();
    },

    start() {
      retry = setInterval(() => {
        if (isAway) exchange();
      }, RETRY_MS).unref();
    },

    async stop() {
      clearInterval(retry);
      await underWay;
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
