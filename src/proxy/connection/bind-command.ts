// BIND (RFC 1928 §4, §6): waits for one connection from the host that the client names; two replies, then the relay.
import { normalizeAddress, parseIp } from '../../core/addresses/ip.js';
import { isPrivate } from '../../core/egress/egress.js';
import type { Timer } from '../../core/time/timers.js';
import type { ListenResult, Stream } from '../io/io.js';
import { candidatePorts } from '../io/local-end.js';
import { Reply, type ReplyCode, replyForErrno } from '../protocols/socks5.js';
import type { WorkerSession } from '../worker/session.js';
import { resolveName } from './connect-command.js';
import type { AuthorizedRequest, HandedListener, RunningCommand } from './running-command.js';
import { permittedAddresses, readTarget } from './target.js';

/** Number of connections from other hosts after which BIND fails. */
const MAX_WRONG_PEERS = 100;
const PORT_TRIES = 50;

/** @param handed the socket at which another process has let it wait; null: it is new */
export function startBind(
  running: RunningCommand,
  authorized: AuthorizedRequest,
  handed: HandedListener | null,
): void {
  const { account, egress, exit, request } = authorized;
  const { addressType, address, port } = request;
  const { settings } = running.host;
  // A proxy of an exit would have to listen in our place.
  if (!settings.bind.enabled || (exit !== null && exit.upstreams.length > 0))
    return running.refuseWith(Reply.commandNotSupported);
  const target = readTarget(addressType, address, settings.allowUnderscore);
  if (!target.ok) return running.refuseDestination(account, target.host, port, target.reason);
  const { host } = target;
  const session = running.openSession('bind', authorized, host, port);
  if (session === null) return;
  session.exit = exit?.name ?? null;
  if (handed !== null) {
    const isIpv6 = (handed.expected ?? [host]).every((each) => each.includes(':'));
    return waitForPeer(running, authorized, session, handed.expected, isIpv6, handed);
  }
  const name = target.kind === 'name' ? host : null;
  // All zeros: the client does not know its peer. Every host that the egress rules permit may connect.
  if (name === null && address.every((byte) => byte === 0)) {
    return waitForPeer(running, authorized, session, null, host.includes(':'));
  }
  const judge = (addresses: readonly string[]): void => {
    const { permitted, refusal } = permittedAddresses(egress, addresses, name, port);
    const first = permitted.find((each) => !each.includes(':')) ?? permitted[0];
    if (first === undefined) return running.fail(session, Reply.notAllowedByRuleset, refusal);
    waitForPeer(running, authorized, session, permitted, first.includes(':'));
  };
  if (name === null) judge([host]);
  else resolveName(running, session, egress, judge);
}

/** @param expected addresses of the peer; null: every address that the egress rules permit */
function waitForPeer(
  running: RunningCommand,
  { egress, exit }: AuthorizedRequest,
  session: WorkerSession,
  expected: readonly string[] | null,
  isIpv6: boolean,
  handed: HandedListener | null = null,
): void {
  const { io, settings, ownPorts, exits } = running.host;
  const { portRange, publicAddresses, timeoutMs } = settings.bind;
  const end = (isIpv6 ? exit?.ipv6 : exit?.ipv4) ?? undefined;
  const towards = expected?.find((address) => address.includes(':') === isIpv6);
  // The route to the peer says where an interface or a mark lets it in; without a peer only an address of the exit does.
  const isByPolicy = end !== undefined && (end.interface !== null || end.mark !== null);
  if (isByPolicy && end.address === null && towards === undefined)
    return running.fail(session, Reply.commandNotSupported, 'exit-without-address');
  if (exit !== null && end === undefined)
    return running.fail(session, Reply.networkUnreachable, 'exit-without-family');
  let listener: Extract<ListenResult, { ok: true }> | null = null;
  let timer: Timer | null = null;
  let isOver = false;
  /** The first reply is sent: peers are accepted from then on. */
  let isListening = false;
  let wrongPeers = 0;

  function stop(): void {
    isOver = true;
    timer?.clear();
    if (listener === null) return;
    ownPorts.remove('tcp-listener', listener.local.port);
    listener.close();
    listener = null;
  }

  function fail(reply: ReplyCode, reason: string): void {
    if (isOver) return;
    stop();
    running.fail(session, reply, reason);
  }

  function onConnection(peer: Stream): void {
    const address = normalizeAddress(peer.peer.address);
    if (isOver || !isListening || !mayBePeer(address, peer.peer.port)) {
      peer.close();
      if (isOver) return;
      wrongPeers += 1;
      if (wrongPeers === 1) running.logRefusal(session, `peer ${address} is not the one named`);
      if (wrongPeers >= MAX_WRONG_PEERS) fail(Reply.notAllowedByRuleset, 'too-many-wrong-peers');
      return;
    }
    stop();
    running.stream.pause();
    const outgoing = peer.local;
    running.markOutbound(outgoing.port);
    const inspect = session.start(address, outgoing);
    running.reply(Reply.succeeded, address, peer.peer.port);
    running.relay(session, peer, outgoing.port, inspect);
  }

  function mayBePeer(address: string, port: number): boolean {
    if (expected !== null) return expected.some((each) => normalizeAddress(each) === address);
    const ip = parseIp(address);
    return ip !== null && egress.judge({ host: null, ip, port }).ok;
  }

  function listening(result: Extract<ListenResult, { ok: true }>): void {
    listener = result;
    const { local, fd } = result;
    const { port } = local;
    ownPorts.add('tcp-listener', port);
    const waitMs = handed?.leftMs ?? timeoutMs;
    const endsAt = io.now() + waitMs;
    timer = io.timer(waitMs, () => fail(Reply.ttlExpired, 'no-peer-in-time'));
    const wait = (): void => {
      isListening = true;
      if (fd !== undefined)
        running.captureBind = () => ({ fd, expected, leftMs: Math.max(0, endsAt - io.now()) });
      running.readWhileBinding();
    };
    // Its client has got the first reply.
    if (handed !== null) return wait();
    const publicAddress = publicAddresses.find((address) => address.includes(':') === isIpv6);
    // An exit has a public address of its own, if it is not behind NAT.
    const own = end?.address ? parseIp(end.address) : null;
    const isReachable = own !== null && !isPrivate(own);
    // When no better address is known, the reply contains the local one of the client's connection.
    const reply = (address = normalizeAddress(running.stream.local.address)): void => {
      if (isOver) return;
      running.reply(Reply.succeeded, isReachable ? address : (publicAddress ?? address), port);
      wait();
    };
    if (towards === undefined || end?.address) reply(end?.address ?? undefined);
    else
      io.sourceAddressFor(
        towards,
        (source) => {
          if (source === null && isByPolicy) fail(Reply.networkUnreachable, 'ENETUNREACH');
          else reply(source ?? undefined);
        },
        end,
      );
  }

  const ports = candidatePorts(portRange);
  const attempt = (port: number, triesLeft: number): void => {
    // Without an exit on every address of the family: it is not known which one the peer can reach.
    io.listen({ address: end?.address ?? (isIpv6 ? '::' : '0.0.0.0'), port, onConnection, end }, (result) => {
      if (isOver) {
        if (result.ok) result.close();
        return;
      }
      if (result.ok) return listening(result);
      const next = result.code === 'EADDRINUSE' && triesLeft > 0 ? ports.next().value : undefined;
      if (next !== undefined) attempt(next, triesLeft - 1);
      else {
        exits.failed(session.exit);
        fail(replyForErrno(result.code), result.code);
      }
    });
  };
  if (handed !== null) handed.isTaken = true;
  if (handed === null) attempt(ports.next().value ?? 0, PORT_TRIES - 1);
  else
    io.listen({ address: '', port: 0, onConnection, fd: handed.fd }, (result) => {
      if (result.ok) listening(result);
    });
  running.wait({ cancel: stop });
}
