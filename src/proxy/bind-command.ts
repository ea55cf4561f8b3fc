// BIND (RFC 1928 §4): waits for one connection from the host that the client names; two replies, then the relay.
import { normalizeAddress } from '../core/ip.js';
import { waitForPeer } from './bind.js';
import type { Command, CommandConnection } from './command.js';
import { resolveName } from './connect-command.js';
import { permittedAddresses } from './egress.js';
import { Reply } from './protocols/socks5.js';
import type { Session } from './session.js';
import { readTarget } from './target.js';

export function startBind(connection: CommandConnection, command: Command): void {
  const { account, egress, request } = command;
  const { addressType, address, port } = request;
  const { settings } = connection.host;
  if (!settings.bind.enabled) return connection.refuseWith(Reply.commandNotSupported);
  const target = readTarget(addressType, address, settings.allowUnderscore);
  if (!target.ok) return connection.refuseDestination(account, target.host, port, target.reason);
  const { host } = target;
  const session = connection.openSession('bind', command, host, port);
  if (session === null) return;
  const name = target.kind === 'name' ? host : null;
  // All zeros: the client does not know its peer. Every host that the egress rules permit may connect.
  if (name === null && address.every((byte) => byte === 0)) {
    return listenForPeer(connection, command, session, null, host.includes(':'));
  }
  const judge = (addresses: readonly string[]): void => {
    const { permitted, refusal } = permittedAddresses(egress, addresses, name, port);
    const first = permitted.find((each) => !each.includes(':')) ?? permitted[0];
    if (first === undefined) return connection.fail(session, Reply.notAllowedByRuleset, refusal);
    listenForPeer(connection, command, session, permitted, first.includes(':'));
  };
  if (name === null) judge([host]);
  else resolveName(connection, session, egress, judge);
}

/** @param expected addresses of the peer; null: every address that the egress rules permit */
function listenForPeer(
  connection: CommandConnection,
  { egress }: Command,
  session: Session,
  expected: readonly string[] | null,
  isIpv6: boolean,
): void {
  const { io, settings, ownPorts } = connection.host;
  const { stream } = connection;
  const wait = waitForPeer(
    {
      expected,
      isIpv6,
      settings: settings.bind,
      localAddress: normalizeAddress(stream.local.address),
      egress,
      onListening(bound) {
        connection.reply(Reply.succeeded, bound.address, bound.port);
        connection.readWhileBinding();
      },
      onWrongPeer: (address) => connection.logRefusal(session, `peer ${address} is not the one named`),
      onPeer(peer, address) {
        stream.pause();
        const outboundPort = peer.local.port;
        connection.markOutbound(outboundPort);
        const inspect = session.start(address);
        connection.reply(Reply.succeeded, address, peer.peer.port);
        connection.relay(session, peer, outboundPort, inspect);
      },
      onFailed: (reply, reason) => connection.fail(session, reply, reason),
    },
    { io, ownPorts },
  );
  connection.wait(wait);
}
