// Resolves names, in the resolver's thread. dns.lookup would run in libuv's four threads, where four slow names delay all
// other players. This resolver uses c-ares, and limits lookups in total, per account and per source, at a time and per minute.
import { Resolver } from 'node:dns';
import { LRUCache } from 'lru-cache';
import type { HostsFile } from './hosts-file.js';
import type { Resolve, ResolveResult, ResolverSettings } from './messages.js';

export interface ResolverOptions extends ResolverSettings {
  readonly hosts: HostsFile;
  /** Monotonic, in ms. */
  readonly now?: () => number;
}

// A positive answer is cached for its TTL within these limits, a negative one for NEGATIVE_TTL_MS.
const MIN_TTL_MS = 1_000;
const MAX_TTL_MS = 300_000;
const NEGATIVE_TTL_MS = 3_000;
/** How long to wait for the second family after the first has answered (RFC 8305 §3 recommends 50 ms). */
const OTHER_FAMILY_MS = 250;
const TRIES = 2;
/** Number of accounts, and of sources, whose lookups are counted; the least recently seen are forgotten. */
const MAX_COUNTED = 100_000;
const LOOPBACK = ['127.0.0.1', '::1'];

/** Resolves `localhost` (RFC 6761 §6.3), then the hosts file, then DNS (A and AAAA side by side). */
export function createResolver(options: ResolverOptions) {
  const dns = new Resolver({ timeout: Math.max(1, Math.floor(options.timeoutMs / TRIES)), tries: TRIES });
  if (options.servers.length > 0) dns.setServers([...options.servers]);
  const cache = new LRUCache<string, ResolveResult>({ max: options.cacheSize });
  const pending = new Map<string, ((result: ResolveResult) => void)[]>();
  const waitingByAccount = createCounts();
  const waitingBySource = createCounts();
  const { now = () => performance.now() } = options;
  const rateOfAccounts = createRates(now);
  const rateOfSources = createRates(now);

  const resolve: Resolve = (name, { accountId, source, perMinute }, done) => {
    if (name === 'localhost' || name.endsWith('.localhost')) return done({ ok: true, addresses: LOOPBACK });
    const fixed = options.hosts.lookup(name);
    if (fixed.length > 0) return done({ ok: true, addresses: fixed });
    const known = cache.get(name);
    if (known) return done(known);

    const others = pending.get(name);
    if (!mayWait(accountId, source) || (!others && !hasRoom(accountId))) {
      return done({ ok: false, reason: 'too-many' });
    }
    // Only what the name servers are asked counts: not what is cached, or already being looked up.
    if (!others) {
      const ofAccount = rateOfAccounts(accountId, perMinute ?? options.maxLookupsPerMinutePerAccount);
      const ofSource = rateOfSources(source, options.maxLookupsPerMinutePerSource);
      const isOfAccount = ofAccount.left < 1;
      if (isOfAccount || ofSource.left < 1) return done({ ok: false, reason: 'over-rate', isOfAccount });
      ofAccount.left -= 1;
      ofSource.left -= 1;
    }
    waitingByAccount.add(accountId, 1);
    waitingBySource.add(source, 1);
    const answered = (result: ResolveResult): void => {
      waitingByAccount.add(accountId, -1);
      waitingBySource.add(source, -1);
      done(result);
    };
    if (others) {
      others.push(answered);
      return;
    }
    pending.set(name, [answered]);
    query(dns, name, options.timeoutMs, (result, ttlMs) => {
      const callbacks = pending.get(name) ?? [];
      pending.delete(name);
      if (ttlMs > 0) cache.set(name, result, { ttl: ttlMs });
      for (const callback of callbacks) callback(result);
    });
  };

  function mayWait(accountId: string, source: string): boolean {
    const { maxPendingPerAccount, maxPendingPerSource } = options;
    return (
      waitingByAccount.get(accountId) < maxPendingPerAccount &&
      waitingBySource.get(source) < maxPendingPerSource
    );
  }

  /** The last quarter of the places is reserved for accounts without a pending lookup, so that no account fills all places. */
  function hasRoom(accountId: string): boolean {
    const isFirst = waitingByAccount.get(accountId) === 0;
    return pending.size < (isFirst ? options.maxPending : Math.ceil(options.maxPending * 0.75));
  }

  return { resolve, close: (): void => dns.cancel() };
}

/** Returns how many lookups a key has left: `perMinute` (0: any number) after a minute without any, refilled all the time. */
function createRates(now: () => number) {
  // Its arrays take megabytes, and time at the start.
  let rates: LRUCache<string, { left: number; filledAt: number }> | undefined;
  return (key: string, perMinute: number): { left: number } => {
    if (perMinute === 0) return { left: 1 };
    const at = now();
    rates ??= new LRUCache({ max: MAX_COUNTED });
    const rate = rates.get(key) ?? { left: perMinute, filledAt: at };
    rate.left = Math.min(perMinute, rate.left + ((at - rate.filledAt) / 60_000) * perMinute);
    rate.filledAt = at;
    rates.set(key, rate);
    return rate;
  };
}

function createCounts() {
  const counts = new Map<string, number>();
  return {
    get: (key: string): number => counts.get(key) ?? 0,
    add(key: string, by: number): void {
      const left = (counts.get(key) ?? 0) + by;
      if (left > 0) counts.set(key, left);
      else counts.delete(key);
    },
  };
}

/** Queries both families; calls `done` once, with how long the answer may be cached, in ms (0: not at all). */
function query(
  dns: Resolver,
  name: string,
  timeoutMs: number,
  done: (result: ResolveResult, ttlMs: number) => void,
): void {
  const found: { v4: string[]; v6: string[] } = { v4: [], v6: [] };
  let ttlSeconds = Number.POSITIVE_INFINITY;
  let unanswered = 2;
  let timedOut = false;
  let isDone = false;
  let otherFamily: NodeJS.Timeout | undefined;
  const deadline = setTimeout(() => {
    timedOut = true;
    finish();
  }, timeoutMs);

  const finish = (): void => {
    if (isDone) return;
    isDone = true;
    clearTimeout(deadline);
    clearTimeout(otherFamily);
    const addresses = [...found.v6, ...found.v4];
    if (addresses.length > 0) {
      // While one family is missing, the answer is used, but cached only for a short time.
      const ttlMs =
        unanswered > 0 ? MIN_TTL_MS : Math.min(MAX_TTL_MS, Math.max(MIN_TTL_MS, ttlSeconds * 1_000));
      return done({ ok: true, addresses }, ttlMs);
    }
    if (timedOut) return done({ ok: false, reason: 'timeout' }, 0);
    done({ ok: false, reason: 'not-found' }, NEGATIVE_TTL_MS);
  };

  const answered =
    (family: 'v4' | 'v6') =>
    (error: NodeJS.ErrnoException | null, records: { address: string; ttl: number }[]) => {
      unanswered -= 1;
      if (error?.code === 'ETIMEOUT' || error?.code === 'ECANCELLED') timedOut = true;
      for (const record of error ? [] : records) {
        found[family].push(record.address);
        ttlSeconds = Math.min(ttlSeconds, record.ttl);
      }
      if (unanswered === 0) return finish();
      if (found[family].length > 0) otherFamily = setTimeout(finish, OTHER_FAMILY_MS);
    };

  dns.resolve4(name, { ttl: true }, answered('v4'));
  dns.resolve6(name, { ttl: true }, answered('v6'));
}
