// The places of sessions over all workers: `maxConnections` without a reserve for handshakes. When all are taken, a session of an account with
// fewer takes the place of that session which was idle longest of the account that has most.
import type { SessionCommand } from '../../core/sessions/session.js';
import { Reply, type ReplyCode } from '../protocols/socks5.js';
import type { WorkerAccount } from '../worker/account.js';
import type { WorkerBase } from '../worker/base.js';
import type { SessionRequest } from '../worker/session.js';
import { type SourceTable, sourceKey, sourceName } from './source-table.js';

/** The reserve is this part of `maxConnections`, and at most so many. */
const RESERVE_PART = 16;
const MAX_RESERVE = 1_024;
/** With fewer connections there is no reserve. */
const MIN_FOR_RESERVE = 4;
/** A session that has transferred bytes within this time makes no room for others of its own account. */
const ACTIVE_MS = 1_000;

/** Which limit refuses a session. */
export type PlaceRefusal = 'max-connections' | 'max-connections-per-account' | 'max-connections-per-source';

export function replyForRefusal(refusal: PlaceRefusal): ReplyCode {
  return refusal === 'max-connections' ? Reply.generalFailure : Reply.notAllowedByRuleset;
}

/** Each ends a session, and returns whether there was one: worker/accounts.ts, which imports this file. */
interface Ending {
  endLongestIdleOfMost(): boolean;
  endLongestIdle(account: WorkerAccount, minIdleMs: number): boolean;
}

/** An account or its class may have its own `maxConnectionsPerAccount`; 0: no limit. */
type Base = Pick<WorkerBase, 'settings' | 'index' | 'workers' | 'gauges' | 'sendToPeer' | 'log'>;

type PlaceRequest = Pick<SessionRequest, 'account' | 'command' | 'client'>;

/** An association may hold four descriptors, twice as many as a CONNECT. */
export const placesOf = (command: SessionCommand): number => (command === 'udp-associate' ? 2 : 1);

/** How many of `maxConnections` places only handshakes may take. */
export function reservedPlaces(maxConnections: number, maxHandshakes: number): number {
  if (maxConnections < MIN_FOR_RESERVE) return 0;
  return Math.min(maxHandshakes, MAX_RESERVE, Math.ceil(maxConnections / RESERVE_PART));
}

export class Places {
  readonly #max: number;
  #ended = 0;
  #refused = 0;

  constructor(
    private readonly base: Base,
    private readonly accounts: Ending /** Places by source and worker. */,
    private readonly sources: Pick<SourceTable, 'update' | 'get'>,
  ) {
    const { maxConnections, maxHandshakes } = base.settings;
    this.#max = maxConnections - reservedPlaces(maxConnections, maxHandshakes);
  }

  /** Takes the places of a session, and ends another session for it if it must. Null: taken; then call `release` once. */
  acquire(request: PlaceRequest): PlaceRefusal | null {
    const { gauges, index, settings } = this.base;
    const { egressClasses, maxConnectionsPerAccount, maxConnectionsPerSource } = settings;
    const { account } = request;
    const places = placesOf(request.command);
    const { maxConnections, egressClass } = account.record.limits;
    const ofClass = egressClasses[egressClass ?? '']?.guard?.maxConnections;
    const perAccount = maxConnections ?? ofClass ?? maxConnectionsPerAccount ?? 0;
    if (perAccount > 0 && account.places + places > perAccount) return 'max-connections-per-account';
    const ofSource = this.#countSource(request, places);
    let refusal: PlaceRefusal | null = null;
    if (ofSource > (maxConnectionsPerSource ?? ofSource)) refusal = 'max-connections-per-source';
    else if (gauges.add(index, 'sessions', places) > this.#max && !this.#makeRoom(request)) {
      gauges.add(index, 'sessions', -places);
      this.#refused += 1;
      refusal = 'max-connections';
    }
    if (refusal !== null) this.#countSource(request, -places);
    return refusal;
  }

  /** Takes the places of a session of another process, whatever the limits are. */
  count(request: PlaceRequest): void {
    const places = placesOf(request.command);
    this.base.gauges.add(this.base.index, 'sessions', places);
    this.#countSource(request, places);
  }

  release(request: PlaceRequest): void {
    const places = placesOf(request.command);
    this.base.gauges.add(this.base.index, 'sessions', -places);
    this.#countSource(request, -places);
  }

  /** Ends sessions of the account with most until no place too many is taken; false when there is none to end. */
  makeRoomHere(): boolean {
    return this.#endWhileFull(() => this.accounts.endLongestIdleOfMost());
  }

  /** Logs what the limit did since the last call. Call it about once a second. */
  tick(): void {
    const { settings, log } = this.base;
    const { maxConnections } = settings;
    if (this.#ended > 0)
      log.warn(
        { ended: this.#ended, maxConnections },
        'connection limit reached; longest idle sessions ended',
      );
    if (this.#refused > 0)
      log.warn({ refused: this.#refused, maxConnections }, 'connection limit reached; sessions refused');
    this.#ended = 0;
    this.#refused = 0;
  }

  #makeRoom({ account }: PlaceRequest): boolean {
    const { index, workers, gauges, sendToPeer } = this.base;
    let worker = index;
    let most = gauges.getSign(index, 'mostPlaces');
    for (let each = 0; each < workers; each += 1) {
      const there = gauges.getSign(each, 'mostPlaces');
      if (there > most) [worker, most] = [each, there];
    }
    if (account.places >= most)
      return this.#endWhileFull(() => this.accounts.endLongestIdle(account, ACTIVE_MS));
    if (worker === index) return this.makeRoomHere();
    // Until that worker has done so, the session uses the reserve.
    sendToPeer(worker, { kind: 'make-room' });
    return true;
  }

  #endWhileFull(endOne: () => boolean): boolean {
    while (this.base.gauges.get('sessions') > this.#max) {
      if (!endOne()) return false;
      this.#ended += 1;
    }
    return true;
  }

  /** Adds to the places of the source; returns those over all workers, 0 when they are not limited. */
  #countSource({ client }: PlaceRequest, by: number): number {
    const { settings, index, workers } = this.base;
    const keyOf = (worker: number) => sourceKey(client.address, sourceName(worker));
    const own = settings.maxConnectionsPerSource === null ? null : keyOf(index);
    if (own === null) return 0;
    this.sources.update(own, (row) => {
      row.count += by;
    });
    let sum = 0;
    for (let worker = 0; worker < workers; worker += 1) {
      const key = keyOf(worker);
      if (key !== null) sum += this.sources.get(key);
    }
    return sum;
  }
}
