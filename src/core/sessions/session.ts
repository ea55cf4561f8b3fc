// Live SOCKS sessions: who is connected, where to, and how to end them.

/** The transport of a session's traffic. */
export type Protocol = 'tcp' | 'udp';

/** Why a session ended; goes into its log line. */
export type SessionEnd =
  | 'client-closed'
  | 'destination-closed'
  | 'client-reset'
  | 'destination-reset'
  | 'relay-failed'
  | 'idle-timeout'
  | 'half-close-timeout'
  | 'account-removed'
  | 'account-renamed'
  | 'account-disabled'
  | 'account-expired'
  | 'password-changed'
  | 'ended-by-operator'
  | 'over-quota'
  | 'limits-changed'
  | 'shutdown';

/** What the client of a session speaks. */
export type ClientProtocolName = 'socks5' | 'http';

/** One relayed connection (CONNECT, BIND) or UDP association, as the control plane sees it. Byte counts are live. */
export interface Session {
  /** GUID. */
  readonly id: string;
  readonly accountId: string;
  readonly username: string;
  readonly command: 'connect' | 'bind' | 'udp-associate';
  readonly protocol: Protocol;
  readonly clientProtocol: ClientProtocolName;
  readonly client: { readonly address: string; readonly port: number };
  /** `host` is what the client asked for, `address` what was dialled. */
  readonly destination: { readonly host: string; readonly address: string; readonly port: number };
  /** Milliseconds since the Unix epoch. */
  readonly openedAt: number;
  readonly gameId: string | null;
  /** Bytes client to destination so far. */
  bytesUp(): number;
  /** Bytes destination to client so far. */
  bytesDown(): number;
  /** Asks its worker to end both sides: it leaves the registry a moment later. Calling it twice does nothing more. */
  end(reason: SessionEnd): void;
}

/** Every live session of this process, by id and by account. */
export class SessionRegistry {
  readonly #byId = new Map<string, Session>();
  readonly #byAccount = new Map<string, Set<Session>>();

  get size(): number {
    return this.#byId.size;
  }

  add(session: Session): void {
    this.#byId.set(session.id, session);
    const mine = this.#byAccount.get(session.accountId);
    if (mine) mine.add(session);
    else this.#byAccount.set(session.accountId, new Set([session]));
  }

  remove(session: Session): void {
    this.#byId.delete(session.id);
    const mine = this.#byAccount.get(session.accountId);
    mine?.delete(session);
    if (mine?.size === 0) this.#byAccount.delete(session.accountId);
  }

  get(id: string): Session | undefined {
    return this.#byId.get(id);
  }

  all(): IterableIterator<Session> {
    return this.#byId.values();
  }

  /** Ids of the accounts that have a live session now. */
  accounts(): IterableIterator<string> {
    return this.#byAccount.keys();
  }

  ofAccount(accountId: string): readonly Session[] {
    return [...(this.#byAccount.get(accountId) ?? [])];
  }

  /** How many accounts have a live session now. */
  get accountCount(): number {
    return this.#byAccount.size;
  }

  countOf(accountId: string): number {
    return this.#byAccount.get(accountId)?.size ?? 0;
  }

  /** Ends every live session of an account; returns how many there were. */
  endAccount(accountId: string, reason: SessionEnd): number {
    const sessions = this.ofAccount(accountId);
    for (const session of sessions) session.end(reason);
    return sessions.length;
  }

  endAll(reason: SessionEnd): void {
    for (const session of [...this.#byId.values()]) session.end(reason);
  }
}
