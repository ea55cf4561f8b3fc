// BIND (RFC 1928 §4): waits for one connection from the host that the client names; two replies, then the relay.
import { normalizeAddress } from '../../core/ip.js';
import { Reply } from '../protocols/socks5.js';
import type { WorkerSession } from '../worker/session.js';
import { waitForPeer } from './bind.js';
import { resolveName } from './connect-command.js';
import { permittedAddresses } from './egress.js';
import type { AuthorizedRequest, RunningCommand } from './running-command.js';
import { readTarget } from './target.js';

export function startBind(running: RunningCommand, authorized: AuthorizedRequest): void {
  const { account, egress, request } = authorized;
  const { addressType, address, port } = request;
  const { settings } = running.host;
  if (!settings.bind.enabled) return running.refuseWith(Reply.commandNotSupported);
  const target = readTarget(addressType, address, settings.allowUnderscore);
  if (!target.ok) return running.refuseDestination(account, target.host, port, target.reason);
  const { host } = target;
  const session = running.openSession('bind', authorized, host, port);
  if (session === null) return;
  const name = target.kind === 'name' ? host : null;
  // All zeros: the client does not know its peer. Every host that the egress rules permit may connect.
  if (name === null && address.every((byte) => byte === 0)) {
    return listenForPeer(running, authorized, session, null, host.includes(':'));
  }
  const judge = (addresses: readonly string[]): void => {
    const { permitted, refusal } = permittedAddresses(egress, addresses, name, port);
    const first = permitted.find((each) => !each.includes(':')) ?? permitted[0];
    if (first === undefined) return running.fail(session, Reply.notAllowedByRuleset, refusal);
    listenForPeer(running, authorized, session, permitted, first.includes(':'));
  };
  if (name === null) judge([host]);
  else resolveName(running, session, egress, judge);
}

/** @param expected addresses of the peer; null: every address that the egress rules permit */
function listenForPeer(
  running: RunningCommand,
  { egress }: AuthorizedRequest,
  session: WorkerSession,
  expected: readonly string[] | null,
  isIpv6: boolean,
): void {
  const { io, settings, ownPorts } = running.host;
  const { stream } = running;
  const wait = waitForPeer(
    {
      expected,
      isIpv6,
      settings: settings.bind,
      localAddress: normalizeAddress(stream.local.address),
      egress,
      onListening(bound) {
        running.reply(Reply.succeeded, bound.address, bound.port);
        running.readWhileBinding();
      },
      onWrongPeer: (address) => running.logRefusal(session, `peer ${address} is not the one named`),
      onPeer(peer, address) {
        stream.pause();
        const outboundPort = peer.local.port;
        running.markOutbound(outboundPort);
        const inspect = session.start(address);
        running.reply(Reply.succeeded, address, peer.peer.port);
        running.relay(session, peer, outboundPort, inspect);
      },
      onFailed: (reply, reason) => running.fail(session, reply, reason),
    },
    { io, ownPorts },
  );
  running.wait(wait);
}
