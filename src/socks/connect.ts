// CONNECT, RFC 1928 §4 and §6: resolve, judge the addresses, dial exactly those, answer, relay.
// A destination that a rule sends through a parent proxy is judged all the same, by what is known of it here.
import type { Socket } from 'node:net';
import type { Account } from '../core/accounts/account.js';
import { formatHostPort, parseIp } from '../core/ip.js';
import type { SocksContext } from './context.js';
import { dial } from './dial.js';
import type { SocksRequest } from './handshake.js';
import { openSession } from './opening.js';
import { permittedAddresses } from './permitted.js';
import { Reply, replyForErrno, replyFrame } from './protocol.js';
import { askUpstream } from './upstream.js';
import type { Upstream } from './upstreams.js';

/** How long one attempt runs alone before the next address is tried beside it, in ms (RFC 8305 §5). */
const ATTEMPT_DELAY_MS = 250;

/** Serves one CONNECT of a logged-in client: ends in a relayed session, or in a refusal with the reply that says why. */
export function connect(
  client: Socket,
  account: Account,
  request: SocksRequest,
  context: SocksContext,
): void {
  const { egress, upstreams, connectTimeoutMs } = context;
  const { port } = request;
  const opening = openSession('connect', client, account, request, context);
  if (opening === null) return;
  const { session, host, name, fail } = opening;
  const parentForName = name === null ? null : upstreams.selectForName(name, port);
  if (parentForName !== null) judgeNameAndAsk(parentForName);
  else opening.resolve(judgeAndDial);

  function judgeNameAndAsk(upstream: Upstream): void {
    const verdict = egress.judgeName({ host, port });
    if (verdict.ok) goThrough(upstream, host);
    else fail(Reply.notAllowedByRuleset, verdict.reason);
  }

  function judgeAndDial(addresses: readonly string[]): void {
    const { permitted, refusal } = permittedAddresses(egress, addresses, name, port);
    const [first] = permitted;
    if (first === undefined) return fail(Reply.notAllowedByRuleset, refusal);
    const upstream = upstreamOf(first);
    const alike = upstreams.isEmpty
      ? permitted
      : permitted.filter((address) => upstreamOf(address) === upstream);
    // A parent is asked for one address only: IPv4 is what every parent has.
    if (upstream !== null) return goThrough(upstream, alike.find((each) => !each.includes(':')) ?? first);
    const giveUp = dial({
      addresses: alike,
      port,
      timeoutMs: connectTimeoutMs,
      attemptDelayMs: ATTEMPT_DELAY_MS,
      onConnected: (socket, address) => {
        connected(socket, address, socket.localAddress ?? '', socket.localPort ?? 0);
      },
      onFailed: (code) => fail(replyForErrno(code), code),
    });
    session.whileWaiting(giveUp);
  }

  function upstreamOf(address: string): Upstream | null {
    const ip = upstreams.isEmpty ? null : parseIp(address);
    return ip === null ? null : upstreams.select(host, ip, port);
  }

  /** `asked`: the name or the address that the parent is to connect to. */
  function goThrough(upstream: Upstream, asked: string): void {
    const giveUp = askUpstream(
      {
        upstream,
        command: 'connect',
        destination: { host: asked, port },
        onConnected: (socket, boundAddress, boundPort) => {
          session.via = formatHostPort(upstream.host, upstream.port);
          connected(socket, parseIp(asked) === null ? '' : asked, boundAddress, boundPort);
        },
        onFailed: fail,
      },
      account.id,
      context,
    );
    session.whileWaiting(giveUp);
  }

  function connected(socket: Socket, address: string, boundAddress: string, boundPort: number): void {
    const { localAddress = '', localPort = 0, remoteAddress = '', remotePort = 0 } = socket;
    const [local, remote] = [
      { address: localAddress, port: localPort },
      { address: remoteAddress, port: remotePort },
    ] as const;
    // Known before the destination can see a byte, so that a management request through the proxy is recognised.
    context.outbound.add(local, remote);
    socket.once('close', () => context.outbound.delete(local, remote));
    client.write(replyFrame(Reply.succeeded, boundAddress, boundPort));
    session.startRelay(socket, address);
  }
}
