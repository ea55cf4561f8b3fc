// BIND, RFC 1928 §4 and §6: waits for one connection from the host that the client names, answers twice, relays.
import { createSocket } from 'node:dgram';
import { type AddressInfo, createServer, isIPv6, type Server, type Socket } from 'node:net';
import type { Account } from '../core/accounts/account.js';
import { normalizeAddress, parseIp } from '../core/ip.js';
import type { BindOptions } from './bind-options.js';
import type { SocksContext } from './context.js';
import type { SocksRequest } from './handshake.js';
import { openSession } from './opening.js';
import { permittedAddresses } from './permitted.js';
import { Reply, replyForErrno, replyFrame } from './protocol.js';
import { refuse } from './refuse.js';

/** What a client may send ahead of its peer, in bytes; more is left in the kernel. */
const MAX_EARLY_BYTES = 64 * 1024;
/** Connections from other hosts than the named one, before waiting is given up. */
const MAX_WRONG_PEERS = 100;
const PORT_TRIES = 50;

/** Serves one BIND of a logged-in client: ends in a relayed session, or in a refusal with the reply that says why. */
export function bind(client: Socket, account: Account, request: SocksRequest, context: SocksContext): void {
  const options = context.bind;
  if (!options.enabled) return refuse(client, replyFrame(Reply.commandNotSupported));
  const { port } = request;
  const opening = openSession('bind', client, account, request, context);
  if (opening === null) return;
  const { session, host, name, log, fail } = opening;
  // All zeros: the client does not know who will connect; whoever may be reached may also call.
  if (name === null && request.address.every((byte) => byte === 0)) listen(null, isIPv6(host));
  else opening.resolve(judge);

  function judge(addresses: readonly string[]): void {
    const { permitted, refusal } = permittedAddresses(context.egress, addresses, name, port);
    const first = permitted.find((address) => !address.includes(':')) ?? permitted[0];
    if (first === undefined) return fail(Reply.notAllowedByRuleset, refusal);
    listen(permitted, isIPv6(first));
  }

  /** `expected`: addresses of the peer; null for whomever the egress rules permit. */
  function listen(expected: readonly string[] | null, isV6: boolean): void {
    const towards = expected?.find((address) => isIPv6(address) === isV6);
    const told = options.publicAddresses.find((address) => isIPv6(address) === isV6);
    openListener(isV6, options, (server, code) => {
      if (server === null) return fail(replyForErrno(code), code);
      const atPort = (server.address() as AddressInfo).port;
      const waiting = wait(server, atPort, expected);
      if (session.isEnded) return waiting.stop();
      session.whileWaiting(waiting.stop);
      localAddressTowards(towards, (local) => {
        if (session.isEnded) return;
        const fallback = normalizeAddress(client.localAddress ?? '');
        client.write(replyFrame(Reply.succeeded, told ?? local ?? fallback, atPort));
        waiting.start();
      });
    });
  }

  function wait(server: Server, atPort: number, expected: readonly string[] | null) {
    const early: Buffer[] = [];
    let earlyBytes = 0;
    let wrongPeers = 0;
    let timer: NodeJS.Timeout | undefined;
    options.ownPorts.add(atPort);

    // What the client sends is kept for the peer; reading it is how its end is noticed.
    const onData = (chunk: Buffer): void => {
      early.push(chunk);
      earlyBytes += chunk.length;
      if (earlyBytes >= MAX_EARLY_BYTES) client.pause();
    };
    const onEnd = (): void => session.end('client-closed');
    const stop = (): void => {
      clearTimeout(timer);
      options.ownPorts.delete(atPort);
      server.off('connection', onPeer).close();
      client.off('data', onData).off('end', onEnd);
    };
    const onPeer = (peer: Socket): void => {
      peer.on('error', ignoreError);
      const address = normalizeAddress(peer.remoteAddress ?? '');
      if (!mayBePeer(address, peer.remotePort ?? 0, expected)) {
        peer.destroy();
        wrongPeers += 1;
        if (wrongPeers === 1) log(`peer ${address} is not the one named`);
        if (wrongPeers < MAX_WRONG_PEERS) return;
        stop();
        return fail(Reply.notAllowedByRuleset, 'too-many-wrong-peers');
      }
      stop();
      client.pause();
      if (early.length > 0) client.unshift(Buffer.concat(early));
      client.write(replyFrame(Reply.succeeded, address, peer.remotePort ?? 0));
      session.startRelay(peer, address);
    };

    const start = (): void => {
      timer = setTimeout(() => {
        stop();
        fail(Reply.ttlExpired, 'no-peer-in-time');
      }, options.timeoutMs);
      client.on('data', onData).on('end', onEnd).resume();
      server.on('connection', onPeer);
    };
    return { start, stop };
  }

  function mayBePeer(address: string, fromPort: number, expected: readonly string[] | null): boolean {
    if (expected !== null) return expected.some((each) => normalizeAddress(each) === address);
    const ip = parseIp(address);
    return ip !== null && context.egress.judge({ host: null, ip, port: fromPort }).ok;
  }
}

type Opened = (...result: [server: Server, code: ''] | [server: null, code: string]) => void;

/** Listens on every address of the family: which one the peer reaches us by is not known yet. */
function openListener(isV6: boolean, { portRange, random }: BindOptions, done: Opened): void {
  const [first, last] = portRange ?? [0, 0];
  const size = last - first + 1;
  const startAt = Math.floor(random() * size);
  const attempt = (tried: number): void => {
    const server = createServer({
      allowHalfOpen: true,
      noDelay: true,
      pauseOnConnect: true,
    });
    server.once('error', (error: NodeJS.ErrnoException) => {
      const mayTryAgain = error.code === 'EADDRINUSE' && tried + 1 < Math.min(size, PORT_TRIES);
      if (mayTryAgain) attempt(tried + 1);
      else done(null, error.code ?? 'UNKNOWN');
    });
    const port = first + ((startAt + tried) % size);
    server.listen({ host: isV6 ? '::' : '0.0.0.0', port, ipv6Only: true, backlog: 8 }, () => {
      server.removeAllListeners('error').on('error', ignoreError);
      done(server, '');
    });
  };
  attempt(0);
}

/** The address of this machine that `address` sees as its peer's, by asking the routing table; null when unknown. */
function localAddressTowards(address: string | undefined, done: (local: string | null) => void): void {
  if (address === undefined) return done(null);
  const socket = createSocket({
    type: isIPv6(address) ? 'udp6' : 'udp4',
    lookup: (host, family, found) => found(null, host, Number(family)),
  });
  const finish = (local: string | null): void => {
    socket.close();
    done(local);
  };
  socket.once('error', () => finish(null));
  // Connecting a UDP socket sends nothing; the port does not matter.
  socket.connect(9, address, () => finish(socket.address().address));
}

function ignoreError(): void {}
