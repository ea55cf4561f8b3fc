// CONNECT (RFC 1928 §4): resolves the destination, applies the egress rules to its addresses, and connects to a permitted
// one, directly or through an upstream proxy.
import { type Endpoint, formatHostPort, parseIp } from '../../core/addresses/ip.js';
import type { EgressPolicy } from '../../core/egress/egress.js';
import type { Stream } from '../io/io.js';
import { count } from '../io/rates.js';
import { type ClientRequest, Reply, replyForErrno } from '../protocols/socks5.js';
import { askUpstreams } from '../upstreams/ask.js';
import { type ExitUse, leavingBy, proxiesOf } from '../upstreams/exits.js';
import type { Upstream } from '../upstreams/rules.js';
import type { WorkerSession } from '../worker/session.js';
import { dial } from './dial.js';
import type { AuthorizedRequest, RunningCommand } from './running-command.js';
import { permittedAddresses, readTarget } from './target.js';

/** The reply when the name of a destination has no address. */
const REPLY_BY_RESOLVE_FAILURE = {
  'not-found': Reply.hostUnreachable,
  timeout: Reply.hostUnreachable,
  'too-many': Reply.generalFailure,
  'over-rate': Reply.notAllowedByRuleset,
} as const;

/** Failures that the guard counts: not those of this machine. */
const UNREACHED = ['ECONNREFUSED', 'ETIMEDOUT', 'EHOSTUNREACH', 'ECONNRESET'];

export function startConnect(running: RunningCommand, authorized: AuthorizedRequest): void {
  const { account, egress, exit, request } = authorized;
  const { settings, upstreams } = running.host;
  const { addressType, address, port } = request;
  const target = readTarget(addressType, address, settings.allowUnderscore);
  if (!target.ok) return running.refuseDestination(account, target.host, port, target.reason);
  const { host } = target;
  const session = running.openSession('connect', authorized, host, port);
  if (session === null) return;
  session.exit = exit?.name ?? null;
  const connect = new ConnectCommand(running, session, authorized);
  if (target.kind === 'address') return connect.judgeAndDial([host], null);

  const rule = upstreams.isEmpty ? undefined : upstreams.selectForName(host, port);
  const proxies = proxiesOf(rule, exit);
  if (proxies[0]?.names !== 'proxy')
    return resolveName(running, session, egress, (found) => connect.judgeAndDial(found, host));
  const verdict = egress.judgeName({ host, port });
  if (verdict.ok) connect.goThrough(proxies, rule ? null : exit, host);
  else running.fail(session, Reply.notAllowedByRuleset, verdict);
}

/** Resolves the name of the session's destination; refuses the client when the name is denied or cannot be resolved. */
export function resolveName(
  running: RunningCommand,
  session: WorkerSession,
  egress: EgressPolicy,
  found: (addresses: readonly string[]) => void,
): void {
  const { host, port } = session.destination;
  // A name that a rule denies is not looked up. Otherwise its addresses decide.
  const verdict = egress.judgeName({ host, port });
  if (!verdict.ok && verdict.reason === 'denied-by-rule') {
    return running.fail(session, Reply.notAllowedByRuleset, verdict);
  }
  const client = running.host.guards.lookupsOf(session.account, running.client.address);
  running.host.resolve(host, client, (result) => {
    if (session.isEnded) return;
    if (result.ok) found(result.addresses);
    else running.fail(session, REPLY_BY_RESOLVE_FAILURE[result.reason], `resolve-${result.reason}`);
  });
}

class ConnectCommand {
  readonly #running: RunningCommand;
  readonly #session: WorkerSession;
  readonly #egress: EgressPolicy;
  readonly #request: ClientRequest;
  readonly #exit: ExitUse | null;

  constructor(running: RunningCommand, session: WorkerSession, { request, egress, exit }: AuthorizedRequest) {
    this.#request = request;
    this.#running = running;
    this.#session = session;
    this.#egress = egress;
    this.#exit = exit;
  }

  /** Applies the egress rules to every address, and connects to a permitted one, directly or through an upstream proxy. */
  judgeAndDial(addresses: readonly string[], name: string | null): void {
    const { exits, io, settings, upstreams } = this.#running.host;
    const { host, port } = this.#session.destination;
    const { permitted, refusal } = permittedAddresses(this.#egress, addresses, name, port);
    const [first] = permitted;
    if (first === undefined) return this.#running.fail(this.#session, Reply.notAllowedByRuleset, refusal);
    const ruleOf = (address: string): Upstream | null | undefined => {
      const ip = upstreams.isEmpty ? null : parseIp(address);
      return ip === null ? undefined : upstreams.select(host, ip, port);
    };
    const rule = ruleOf(first);
    const alike = upstreams.isEmpty ? permitted : permitted.filter((address) => ruleOf(address) === rule);
    const proxies = proxiesOf(rule, this.#exit);
    if (proxies.length > 0) {
      // The upstream proxy gets only one address; every proxy supports IPv4.
      const asked = alike.find((each) => !each.includes(':')) ?? first;
      return this.goThrough(proxies, rule ? null : this.#exit, asked);
    }
    const leaving = leavingBy(this.#exit, alike);
    if (leaving.length === 0)
      return this.#running.fail(this.#session, Reply.networkUnreachable, 'exit-without-family');
    const attempt = dial(io, {
      addresses: leaving,
      port,
      exit: this.#exit,
      timeoutMs: settings.connectTimeoutMs,
      onConnected: (stream, address) => {
        const { local } = stream;
        this.#connected(stream, local, address, local, null);
      },
      onFailed: (code) => {
        exits.failed(this.#session.exit);
        if (UNREACHED.includes(code)) this.#running.host.guards.failed(this.#session.account, this.#request);
        this.#running.fail(this.#session, replyForErrno(code), code);
      },
    });
    this.#running.wait(attempt);
  }

  /**
   * @param exit where the connection to a proxy leaves from
   * @param asked the name or address to which a proxy must connect
   */
  goThrough(proxies: readonly Upstream[], exit: ExitUse | null, asked: string): void {
    const { exits, guards, io, resolve, settings } = this.#running.host;
    const session = this.#session;
    session.exit = proxies[0]?.exit ?? null;
    const attempt = askUpstreams(
      {
        upstreams: proxies,
        exit,
        command: 'connect',
        destination: { host: asked, port: session.destination.port },
        client: guards.lookupsOf(session.account, this.#running.client.address),
        onConnected: (stream, bound, ahead, upstream) => {
          session.via = formatHostPort(upstream.host, upstream.port);
          this.#connected(stream, stream.local, parseIp(asked) === null ? '' : asked, bound, ahead);
        },
        onFailed: (reply, reason) => {
          exits.failed(session.exit);
          this.#running.fail(session, reply, reason);
        },
      },
      { io, resolve, exits, egress: this.#egress, connectTimeoutMs: settings.connectTimeoutMs },
    );
    this.#running.wait(attempt);
  }

  /** @param ahead what the destination has already sent */
  #connected(
    destination: Stream,
    outgoing: Endpoint,
    address: string,
    bound: Endpoint,
    ahead: Buffer | null,
  ): void {
    const session = this.#session;
    this.#running.markOutbound(outgoing.port);
    const inspect = session.start(address, outgoing);
    const { forward } = this.#running;
    if (forward !== null)
      return this.#running.exchange(session, destination, outgoing.port, forward, inspect, ahead);
    this.#running.reply(Reply.succeeded, bound.address, bound.port);
    if (ahead !== null) {
      count(session, session.countAt + 1, ahead.length);
      this.#running.stream.write(ahead);
    }
    this.#running.relay(session, destination, outgoing.port, inspect);
  }
}
