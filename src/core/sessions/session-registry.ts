// The registry of the live sessions of this process. Publishes their events and traffic to observers.
import { addToSet, deleteFromSet } from '../maps.js';
import type {
  AccountElsewhere,
  DatagramDestination,
  Session,
  SessionEnd,
  SessionEvents,
  SessionObserver,
  SessionSummary,
} from './session.js';

/**
 * Every live session of this process, by id and by account. The data plane reports events; usage, charts, heartbeats and the console
 * subscribe. Only the registry counts bytes, so that all observers get the same numbers.
 */
export class SessionRegistry implements SessionEvents {
  /** The sessions of accounts on the other nodes. */
  readonly elsewhere = new SessionsElsewhere();
  readonly #byId = new Map<string, Session>();
  readonly #byAccount = new Map<string, Set<Session>>();
  readonly #observers: Partial<SessionObserver>[] = [];
  /** The recorded destinations of resumed associations, by id, for observers that subscribe later. */
  readonly #recorded = new Map<string, readonly DatagramDestination[]>();

  /** Observers are called in the order of subscription. */
  subscribe(observer: Partial<SessionObserver>): void {
    this.#observers.push(observer);
    for (const session of this.#byId.values())
      observer.resumed?.(session, this.#recorded.get(session.id) ?? []);
  }

  /** Number of sessions of this process. */
  get size(): number {
    return this.#byId.size;
  }

  opened(session: Session): void {
    this.#add(session);
    for (const observer of this.#observers) observer.opened?.(session);
  }

  /** A session of the process before this one continues. @param recorded see SessionSummary.destinations */
  resumed(session: Session, recorded: readonly DatagramDestination[]): void {
    this.#add(session);
    if (recorded.length > 0) this.#recorded.set(session.id, recorded);
    for (const observer of this.#observers) observer.resumed?.(session, recorded);
  }

  /** The sessions continue in another process: publishes what is counted of them. */
  handingOver(): void {
    this.count();
    for (const observer of this.#observers) observer.handingOver?.();
  }

  #add(session: Session): void {
    this.#byId.set(session.id, session);
    addToSet(this.#byAccount, session.accountId, session);
  }

  destinationChanged(session: Session): void {
    this.#publishTraffic(session);
    for (const observer of this.#observers) observer.destinationChanged?.(session);
  }

  gameChanged(session: Session): void {
    this.#publishTraffic(session);
    for (const observer of this.#observers) observer.gameChanged?.(session);
  }

  closed(session: Session, summary: SessionSummary): void {
    this.#publishTraffic(session);
    this.#byId.delete(session.id);
    this.#recorded.delete(session.id);
    deleteFromSet(this.#byAccount, session.accountId, session);
    for (const observer of this.#observers) observer.closed?.(session, summary);
  }

  passed(session: Session, summary: SessionSummary): void {
    this.#publishTraffic(session);
    for (const observer of this.#observers) observer.passed?.(session, summary);
  }

  /** Publishes the traffic up to now, for callers that need current numbers. */
  count(): void {
    for (const session of this.#byId.values()) this.#publishTraffic(session);
  }

  /** Publishes the traffic and `counted`. Call it about once a second. */
  tick(): void {
    this.count();
    for (const observer of this.#observers) observer.counted?.();
  }

  #publishTraffic(session: Session): void {
    const { bytesUp, bytesDown } = session;
    if (!session.count()) return;
    const up = session.bytesUp - bytesUp;
    const down = session.bytesDown - bytesDown;
    for (const observer of this.#observers) observer.traffic?.(session, up, down);
  }

  get(id: string): Session | undefined {
    return this.#byId.get(id);
  }

  all(): IterableIterator<Session> {
    return this.#byId.values();
  }

  /** Number of sessions of all nodes. */
  get total(): number {
    return this.#byId.size + this.elsewhere.size;
  }

  /** Number of accounts with a live session on any node. */
  get totalAccounts(): number {
    let count = this.#byAccount.size;
    for (const { accountId } of this.elsewhere.all()) if (!this.#byAccount.has(accountId)) count += 1;
    return count;
  }

  /** Ids of the accounts with a live session in this process. */
  accounts(): IterableIterator<string> {
    return this.#byAccount.keys();
  }

  ofAccount(accountId: string): readonly Session[] {
    return [...(this.#byAccount.get(accountId) ?? [])];
  }

  /** Number of accounts with a live session in this process. */
  get accountCount(): number {
    return this.#byAccount.size;
  }

  /** Number of sessions of an account on all nodes. */
  countOf(accountId: string): number {
    return (this.#byAccount.get(accountId)?.size ?? 0) + (this.elsewhere.of(accountId)?.sessions ?? 0);
  }

  /** Ends the sessions of an account in this process. Returns their number. */
  endAccount(accountId: string, reason: SessionEnd): number {
    const sessions = this.ofAccount(accountId);
    for (const session of sessions) session.end(reason);
    return sessions.length;
  }

  endAll(reason: SessionEnd): void {
    for (const session of [...this.#byId.values()]) session.end(reason);
  }
}

class SessionsElsewhere {
  #byAccount: ReadonlyMap<string, AccountElsewhere> = new Map();
  #size = 0;
  #rate = { up: 0, down: 0 };

  /** Replaces all values. Returns the ids of the accounts whose number of sessions, nodes or whose addresses have changed. */
  set(accounts: readonly AccountElsewhere[]): string[] {
    const before = this.#byAccount;
    this.#byAccount = new Map(accounts.map((each) => [each.accountId, each]));
    this.#size = 0;
    this.#rate = { up: 0, down: 0 };
    for (const { sessions, rateUp, rateDown } of accounts) {
      this.#size += sessions;
      this.#rate.up += rateUp;
      this.#rate.down += rateDown;
    }
    const ended = [...before.keys()].filter((id) => !this.#byAccount.has(id));
    const changed = accounts.filter((each) => !isSame(each, before.get(each.accountId)));
    return [...ended, ...changed.map(({ accountId }) => accountId)];
  }

  /** Sessions of all accounts. */
  get size(): number {
    return this.#size;
  }

  /** Bytes per second of all accounts. */
  get rate(): { readonly up: number; readonly down: number } {
    return this.#rate;
  }

  of(accountId: string): AccountElsewhere | undefined {
    return this.#byAccount.get(accountId);
  }

  all(): IterableIterator<AccountElsewhere> {
    return this.#byAccount.values();
  }
}

function isSame(one: AccountElsewhere, other: AccountElsewhere | undefined): boolean {
  return (
    one.sessions === other?.sessions &&
    one.nodes === other.nodes &&
    one.clientAddresses.join() === other.clientAddresses.join()
  );
}
