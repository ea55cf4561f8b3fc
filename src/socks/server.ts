// The SOCKS5 side as a whole: takes accepted sockets, leads them through the handshake, and hands them to a command.
import type { Socket } from 'node:net';
import { type Account, isExpired } from '../core/account.js';
import type { EgressPolicy } from '../core/egress.js';
import { createLogin } from '../core/login.js';
import { clientAddress } from './client-end.js';
import { connect } from './connect.js';
import type { SocksContext } from './context.js';
import { type SocksRequest, startHandshake } from './handshake.js';
import { Reply, replyFrame } from './protocol.js';
import { refuse } from './refuse.js';
import { associate } from './udp/associate.js';

/** How often sessions are held against their time limits, their account's expiry and their next heartbeat, in ms. */
const SWEEP_INTERVAL_MS = 1_000;

export interface SocksServerOptions extends Omit<SocksContext, 'takeConnection'> {
  /** Connections at once, handshakes included; further ones are closed at once. */
  readonly maxConnections: number;
  /** What holds instead of `egress` for accounts that have a class. */
  readonly egressClasses: ReadonlyMap<string, EgressPolicy>;
  /** From the first byte to the complete request, in ms. */
  readonly handshakeTimeoutMs: number;
  /** An imported password hash was used: store the salted form of this password. */
  readonly rehash: (account: Account, password: Uint8Array) => void;
}

export interface SocksServer {
  /** Takes over an accepted socket; it must have `allowHalfOpen`. */
  accept(client: Socket): void;
  /** Ends every connection that is not a session yet. Sessions are ended through the registry. */
  closeHandshakes(): void;
  /** Starts holding sessions against their limits. */
  start(): void;
  stop(): void;
}

export function createSocksServer(options: SocksServerOptions): SocksServer {
  const { directory, sessions, recorder, limits, log, now } = options;
  const handshaking = new Set<Socket>();
  let connections = 0;
  let turnedAway = 0;
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
    logIn: createLogin({ directory, now }),
    timeoutMs: options.handshakeTimeoutMs,

    onLoginFailed(client: Socket, reason: string, username: string): void {
      // fail2ban matches this line: what the client chose (`user`) stands behind what it cannot choose.
      log.warn({ client: clientAddress(client), reason, user: username }, 'login failed');
    },

    onLoggedIn(account: Account, needsRehash: boolean, password: Uint8Array): Account {
      directory.loggedIn(account.id, now());
      if (needsRehash) options.rehash(account, password);
      return directory.byId(account.id) ?? account;
    },

    onRequest(client: Socket, account: Account, request: SocksRequest): void {
      handshaking.delete(client);
      // The account may have been closed between its login and its request.
      if (!isStillOpen(account)) return refuse(client, replyFrame(Reply.generalFailure));
      const refusal = limits.refusal(account.id, clientAddress(client));
      if (refusal) return refuseByLimit(client, account, refusal);
      const accountContext = contextByClass.get(limits.egressClass(account.id));
      // The class has gone from the configuration: what it would permit is not known.
      if (!accountContext) return refuseByLimit(client, account, 'unknown-egress-class');
      if (request.command === 'connect') return connect(client, account, request, accountContext);
      if (request.command === 'udp') return associate(client, account, request, accountContext);
      refuse(client, replyFrame(Reply.commandNotSupported));
    },
  };

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
  }

  return {
    accept(client) {
      if (connections >= options.maxConnections) {
        turnedAway += 1;
        client.destroy();
        return;
      }
      connections += 1;
      handshaking.add(client);
      // A reset is followed by 'close', which whoever holds the socket then acts on.
      client.on('error', ignoreError);
      client.once('close', () => {
        connections -= 1;
        handshaking.delete(client);
      });
      startHandshake(client, handshake);
    },
    closeHandshakes() {
      for (const client of handshaking) client.destroy();
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
