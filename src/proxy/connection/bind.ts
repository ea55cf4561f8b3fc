// Waits for the peer of a BIND (RFC 1928 §4, §6): one connection from the host that the client names.
import type { EgressPolicy } from '../../core/egress/egress.js';
import { type Endpoint, normalizeAddress, parseIp } from '../../core/ip.js';
import type { Timer } from '../../core/timers.js';
import { candidatePorts } from '../io/candidate-ports.js';
import type { Io, ListenResult, Stream } from '../io/io.js';
import type { OwnPorts } from '../memory/own-ports.js';
import type { BindSettings } from '../plane-settings.js';
import { Reply, type ReplyCode, replyForErrno } from '../protocols/socks5.js';

/** Number of connections from other hosts after which BIND fails. */
const MAX_WRONG_PEERS = 100;
const PORT_TRIES = 50;

export interface BindRequest {
  /** Addresses of the peer; null: every address that the egress rules permit. */
  readonly expected: readonly string[] | null;
  readonly isIpv6: boolean;
  readonly settings: BindSettings;
  /** The local address of the client's connection: the reply contains it when no better address is known. */
  readonly localAddress: string;
  readonly egress: EgressPolicy;
  /** The address on which BIND waits: the first reply (RFC 1928 §6). Peers are accepted from then on. */
  readonly onListening: (bound: Endpoint) => void;
  /** The first connection from another host. */
  readonly onWrongPeer: (address: string) => void;
  readonly onPeer: (peer: Stream, address: string) => void;
  readonly onFailed: (reply: ReplyCode, reason: string) => void;
}

export interface BindWait {
  cancel(): void;
}

/** Starts waiting. `onFailed` may be called before it returns. No callback follows `cancel`, `onPeer` or `onFailed`. */
export function waitForPeer(
  request: BindRequest,
  context: { readonly io: Io; readonly ownPorts: OwnPorts },
): BindWait {
  const { expected, isIpv6, settings, egress } = request;
  const { io, ownPorts } = context;
  let listener: Extract<ListenResult, { ok: true }> | null = null;
  let timer: Timer | null = null;
  let isOver = false;
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
    request.onFailed(reply, reason);
  }

  function onConnection(peer: Stream): void {
    const { address, port } = peer.peer;
    if (isOver || !isListening || !mayBePeer(normalizeAddress(address), port)) {
      peer.close();
      if (isOver) return;
      wrongPeers += 1;
      if (wrongPeers === 1) request.onWrongPeer(normalizeAddress(address));
      if (wrongPeers >= MAX_WRONG_PEERS) fail(Reply.notAllowedByRuleset, 'too-many-wrong-peers');
      return;
    }
    stop();
    request.onPeer(peer, normalizeAddress(address));
  }

  function mayBePeer(address: string, port: number): boolean {
    if (expected !== null) return expected.some((each) => normalizeAddress(each) === address);
    const ip = parseIp(address);
    return ip !== null && egress.judge({ host: null, ip, port }).ok;
  }

  function listening(result: Extract<ListenResult, { ok: true }>): void {
    listener = result;
    const { port } = result.local;
    ownPorts.add('tcp-listener', port);
    timer = io.timer(settings.timeoutMs, () => fail(Reply.ttlExpired, 'no-peer-in-time'));
    const isOfFamily = (address: string): boolean => address.includes(':') === isIpv6;
    const publicAddress = settings.publicAddresses.find(isOfFamily);
    const tell = (address: string | null): void => {
      if (isOver) return;
      isListening = true;
      request.onListening({ address: publicAddress ?? address ?? request.localAddress, port });
    };
    const towards = expected?.find(isOfFamily);
    if (towards === undefined) tell(null);
    else io.sourceAddressFor(towards, tell);
  }

  const ports = candidatePorts(settings.portRange);
  const attempt = (port: number, triesLeft: number): void => {
    // On every address of the family: it is not known which one the peer can reach.
    io.listen({ address: isIpv6 ? '::' : '0.0.0.0', port, onConnection }, (result) => {
      if (isOver) {
        if (result.ok) result.close();
        return;
      }
      if (result.ok) return listening(result);
      const next = result.code === 'EADDRINUSE' && triesLeft > 0 ? ports.next().value : undefined;
      if (next !== undefined) attempt(next, triesLeft - 1);
      else fail(replyForErrno(result.code), result.code);
    });
  };
  attempt(ports.next().value ?? 0, PORT_TRIES - 1);
  return { cancel: stop };
}
