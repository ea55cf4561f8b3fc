// UDP ASSOCIATE, RFC 1928 §4, §6 and §7: opens a relay for the client and tells it where to send.
import { isIPv6, type Socket } from 'node:net';
import type { Account } from '../../core/accounts/account.js';
import { formatIp, unmap, withoutMapping } from '../../core/ip.js';
import type { OpenedRelay } from '../../core/sessions/datagram-relay.js';
import { clientEnd, datagramAddress, isProxied, UNIX_CLIENT } from '../client-end.js';
import type { SocksContext } from '../context.js';
import type { SocksRequest } from '../handshake.js';
import { keepAlive } from '../keep-alive.js';
import { AddressType, Reply, replyFrame } from '../protocol.js';
import { refuse } from '../refuse.js';
import { UdpAssociation } from './association.js';

/** Serves one UDP ASSOCIATE of a logged-in client: ends in an association, or in a refusal. */
export function associate(
  client: Socket,
  account: Account,
  request: SocksRequest,
  context: SocksContext,
): void {
  const { udp } = context;
  if (!udp.enabled) return refuse(client, replyFrame(Reply.commandNotSupported));
  // Beside the TCP connection there are up to three sockets: twice what a CONNECT holds.
  const giveBack = context.takeConnection();
  if (giveBack === null) return refuse(client, replyFrame(Reply.generalFailure));

  const association = new UdpAssociation(context, account, client, declaredAddress(request), giveBack);
  const { bindAddress, toldAddress } = addressesFor(client, context);
  udp.engine(
    {
      bindAddress,
      portRange: udp.portRange,
      onClientDatagram: association.onClientDatagram,
      onOutsideDatagram: association.onOutsideDatagram,
      ports: udp.ownPorts,
      rates: context.limits.rates(account.id),
    },
    opened,
  );

  function opened(result: OpenedRelay): void {
    if (!result.ok) {
      association.abandon();
      context.log.warn({ account: account.username, code: result.code }, 'no UDP socket for an association');
      return refuse(client, replyFrame(Reply.generalFailure));
    }
    // Whatever ended it meanwhile has also closed the client's connection.
    if (association.isEnded) return result.relay.end();
    association.start(result.relay);
    keepAlive(client);
    client.write(replyFrame(Reply.succeeded, toldAddress, result.relay.local.port));
  }
}

/**
 * DST.ADDR is where the client will send from, if it knows (RFC 1928 §7). Zeros and names say nothing; what a client
 * behind NAT believes of itself does no harm beside the address of its TCP connection.
 */
function declaredAddress({ addressType, address }: SocksRequest): string | null {
  if (addressType === AddressType.domain || address.every((byte) => byte === 0)) return null;
  return formatIp(unmap(address));
}

/** Where the relay is bound, and which address the client is told (BND.ADDR). */
function addressesFor(client: Socket, { udp }: SocksContext): { bindAddress: string; toldAddress: string } {
  const end = clientEnd(client);
  const isV6 = isIPv6(datagramAddress(end));
  const isOfFamily = (address: string): boolean => isIPv6(address) === isV6;
  const everyAddress = isV6 ? '::' : '0.0.0.0';
  const local = client.localAddress === undefined ? everyAddress : withoutMapping(client.localAddress);
  if (end.address === UNIX_CLIENT)
    return { bindAddress: datagramAddress(end), toldAddress: datagramAddress(end) };
  const told = udp.publicAddresses.find(isOfFamily);
  // Behind a proxy or a translator datagrams may come in on another address than the connection did.
  const takesEvery = told !== undefined || isProxied(client) || !isOfFamily(local);
  return {
    bindAddress: takesEvery ? everyAddress : local,
    toldAddress: told ?? (isOfFamily(local) ? local : everyAddress),
  };
}
