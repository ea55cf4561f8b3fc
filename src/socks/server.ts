// The SOCKS5 side as a whole: takes accepted sockets, leads them through the handshake, and hands them to a command.
import type { Socket } from 'node:net';
import { type Account, isExpired } from '../core/accounts/account.js';
import { createLogin, type LoginFailure, type LoginResult } from '../core/accounts/login.js';
import type { LoginGuard } from '../core/accounts/login-guard.js';
import type { NoteLogin } from '../core/accounts/login-log.js';
import type { EgressPolicy } from '../core/egress/egress.js';
import { printable } from '../core/printable.js';
import { bind } from './bind.js';
import { clientAddress, clientEnd, setClientEnd, UNIX_CLIENT } from './client-end.js';
import { connect } from './connect.js';
import type { SocksContext } from './context.js';
import { type SocksRequest, startHandshake } from './handshake.js';
import { Reply, replyFrame } from './protocol.js';
import { type ProxySources, readProxyHeader } from './proxy-protocol.js';
import { refuse } from './refuse.js';
import { associate } from './udp/associate.js';
import { createWaitingRoom } from './waiting-room.js';

/** How often sessions are held against their time limits, their account's expiry and their next heartbeat, in ms. */
const SWEEP_INTERVAL_MS = 1_000;

export interface SocksServerOptions extends Omit<SocksContext, 'takeConnection'> {
  /** Connections at once, handshakes included; further ones are closed at once. */
  readonly maxConnections: number;
  /** Of those, how many may be without a request yet, in all and from one source; beyond that the oldest is closed. */
  readonly maxHandshakes: number;
  readonly maxHandshakesPerSource: number;
  readonly loginGuard: LoginGuard;
  /** Told of every login and of why it failed. */
  readonly logins: NoteLogin;
  /** What holds instead of `egress` for accounts that have a class. */
  readonly egressClasses: ReadonlyMap<string, EgressPolicy>;
  /** From the first byte to the complete request, in ms. */
  readonly handshakeTimeoutMs: number;
  /** Whose PROXY headers are believed; others speak SOCKS from their first byte. */
  readonly proxySources: ProxySources;
  /** An imported password hash was used: store the salted form of this password. */
  readonly rehash: (account: Account, password: Uint8Array) => void;
}

/** What is known of a connection by the listener it came to. */
export interface Arrival {
  /** Connections from `proxySources` begin with a PROXY header. */
  readonly proxyProtocol: boolean;
  readonly isUnix: boolean;
}

export interface SocksServer {
  /** Takes over an accepted socket; it must have `allowHalfOpen`. */
  accept(client: Socket, arrival: Arrival): void;
  /** Ends every connection that is not a session yet. Sessions are ended through the registry. */
  closeHandshakes(): void;
  /** Starts holding sessions against their limits. */
  start(): void;
  stop(): void;
}

export function createSocksServer(options: SocksServerOptions): SocksServer {
  const { directory, sessions, recorder, limits, log, now } = options;
  const waitingRoom = createWaitingRoom({
    maxClients: options.maxHandshakes,
    maxPerSource: options.maxHandshakesPerSource,
  });
  const check = createLogin({ directory, now });
  let connections = 0;
  let turnedAway = 0;
  let refusedUnchecked = 0;
  let sweep: NodeJS.Timeout | undefined;

  const context: SocksContext = {
    ...options,
    takeConnection() {
      if (connections >= options.maxConnections) {
        turnedAway += 1;
        return null;
      }
      connections += 1;
      return () => {
        connections -= 1;
      };
    },
  };

  const contextByClass = new Map<string | null, SocksContext>([[null, context]]);
  for (const [name, egress] of options.egressClasses) contextByClass.set(name, { ...context, egress });

  const handshake = {
    logIn,
    timeoutMs: options.handshakeTimeoutMs,

    onLoggedIn(account: Account, needsRehash: boolean, password: Uint8Array): Account {
      directory.loggedIn(account.id, now());
      if (needsRehash) options.rehash(account, password);
      return directory.byId(account.id) ?? account;
    },

    onRequest(client: Socket, account: Account, request: SocksRequest): void {
      waitingRoom.leave(client);
      // The account may have been closed between its login and its request.
      if (!isStillOpen(account)) return refuse(client, replyFrame(Reply.generalFailure));
      const refusal = limits.refusal(account.id, clientAddress(client));
      if (refusal) {
        options.logins.note(refusal, account.username, account.id, clientAddress(client));
        return refuseByLimit(client, account, refusal);
      }
      const accountContext = contextByClass.get(limits.egressClass(account.id));
      // The class has gone from the configuration: what it would permit is not known.
      if (!accountContext) return refuseByLimit(client, account, 'unknown-egress-class');
      if (request.command === 'connect') return connect(client, account, request, accountContext);
      if (request.command === 'udp') return associate(client, account, request, accountContext);
      bind(client, account, request, accountContext);
    },
  };

  /** Blocked logins are checked like any other, so that they take as long, and refused whatever comes out. */
  function logIn(client: Socket, username: Uint8Array, password: Uint8Array): LoginResult {
    const { address } = clientEnd(client);
    const name = Buffer.from(username).toString('latin1');
    // Clients of a Unix socket have no address to tell them apart by.
    const guard = address === UNIX_CLIENT ? 'check' : options.loginGuard.attempt(address, name);
    const result = check(username, password);
    if (guard === 'check' && result.ok) {
      options.loginGuard.succeeded(address, name);
      options.logins.note('success', result.account.username, result.account.id, clientAddress(client));
    }
    if (guard === 'check') return result.ok ? result : loginFailed(client, result.reason, result.username);
    // Of a blocked source the first is told at length: the rest could fill the disk.
    if (guard === 'blocked') refusedUnchecked += 1;
    const shown = result.ok ? printable(result.account.username) : result.username;
    const refusal = { ok: false, reason: 'blocked-address', username: shown } as const;
    if (guard === 'block') return loginFailed(client, refusal.reason, shown);
    noteFailure(client, refusal.reason, shown);
    return refusal;
  }

  function loginFailed(client: Socket, reason: LoginFailure, username: string): LoginResult {
    // fail2ban matches this line: what the client chose (`user`) stands behind what it cannot choose.
    log.warn({ client: clientAddress(client), reason, user: username }, 'login failed');
    noteFailure(client, reason, username);
    return { ok: false, reason, username };
  }

  function noteFailure(client: Socket, reason: LoginFailure, username: string): void {
    options.logins.note(reason, username, directory.byUsername(username)?.id ?? null, clientAddress(client));
  }

  function refuseByLimit(client: Socket, account: Account, reason: string): void {
    log.info({ account: account.username, client: clientAddress(client), reason }, 'session refused');
    refuse(client, replyFrame(Reply.notAllowedByRuleset));
  }

  function isStillOpen(loggedIn: Account): boolean {
    const current = directory.byId(loggedIn.id);
    if (!current?.isEnabled || isExpired(current, now())) return false;
    return current.passwordHash === loggedIn.passwordHash;
  }

  function sweepSessions(): void {
    const at = now();
    for (const session of sessions.all()) session.enforceTimeLimits(at);
    directory.closeExpired(sessions.accounts(), at);
    limits.enforce();
    recorder.tick(at);
    if (turnedAway > 0) {
      log.warn({ turnedAway, maxConnections: options.maxConnections }, 'connection limit reached');
      turnedAway = 0;
    }
    const evicted = waitingRoom.takeEvicted();
    if (evicted > 0) log.warn({ evicted }, 'too many unfinished handshakes: the oldest were closed');
    if (refusedUnchecked > 0) {
      log.warn({ logins: refusedUnchecked }, 'logins of blocked addresses refused');
      refusedUnchecked = 0;
    }
  }

  return {
    accept(client, { proxyProtocol, isUnix }) {
      if (connections >= options.maxConnections) {
        turnedAway += 1;
        client.destroy();
        return;
      }
      connections += 1;
      // A reset is followed by 'close', which whoever holds the socket then acts on.
      client.on('error', ignoreError);
      client.once('close', () => {
        connections -= 1;
        waitingRoom.leave(client);
      });
      if (isUnix) setClientEnd(client, { address: UNIX_CLIENT, port: 0 });
      const peer = clientEnd(client);
      const isProxy = proxyProtocol && options.proxySources(peer);
      waitingRoom.enter(client, isProxy || isUnix ? null : peer.address);
      if (!isProxy) return startHandshake(client, handshake);
      readProxyHeader(client, {
        timeoutMs: options.handshakeTimeoutMs,
        onMalformed: () => log.warn({ client: peer.address }, 'malformed PROXY header'),
        onReady: (named) => {
          waitingRoom.enter(named, clientAddress(named));
          startHandshake(named, handshake);
        },
      });
    },
    closeHandshakes() {
      waitingRoom.close();
    },
    start() {
      sweep = setInterval(sweepSessions, SWEEP_INTERVAL_MS);
    },
    stop() {
      clearInterval(sweep);
    },
  };
}

function ignoreError(): void {}
