// UDP ASSOCIATE, RFC 1928 §4, §6 and §7: opens a relay for the client and tells it where to send.
import { isIPv6 } from 'node:net';
import { formatIp, normalizeAddress, unmap } from '../../core/ip.js';
import type { OpenedRelay } from '../io/datagrams.js';
import type { Endpoint } from '../io/io.js';
import { UNIX_CLIENT } from '../protocols/proxy-header.js';
import { AddressType, Reply, type ReplyCode, replyFrame } from '../protocols/socks5.js';
import type { SessionOwner } from '../session.js';
import type { UdpSettings } from '../settings.js';
import { type AssociateRequest, Association, type AssociationContext } from './association.js';

/** Serves one UDP ASSOCIATE of a logged-in client; null when it was refused. */
export function associate(context: AssociationContext, request: AssociateRequest): SessionOwner | null {
  const { account, client, stream, refuse } = request;
  const { udp } = context.settings;
  const refuseFor = (reason: string, reply: ReplyCode): null => {
    context.log.info({ account: account.record.username, client: client.address, reason }, 'session refused');
    refuse(reply);
    return null;
  };
  if (!udp.enabled) {
    refuse(Reply.commandNotSupported);
    return null;
  }
  if (context.associations(account) >= udp.maxAssociationsPerAccount) {
    return refuseFor('too-many-associations', Reply.notAllowedByRuleset);
  }
  // Beside the TCP connection there are up to three sockets: twice what a CONNECT holds.
  const release = context.tryAcquireConnection();
  if (release === null) return refuseFor('max-connections', Reply.generalFailure);

  const association = new Association({
    context,
    request,
    clientAddress: datagramAddress(client),
    declaredAddress: declaredAddress(request),
    onOver() {
      release();
      request.onClosed();
    },
  });
  const destination = { host: '*', port: 0 };
  const session = context.openSession({
    command: 'udp-associate',
    clientProtocol: 'socks5',
    isByAddress: request.isByAddress,
    account,
    client,
    destination,
    owner: association,
    permit: request.permit,
  });
  if (session === null) {
    release();
    return refuseFor('max-sessions', Reply.generalFailure);
  }

  const { bindAddress, advertisedAddress } = addressesFor(request, udp);
  context.io.openDatagrams(
    {
      bindAddress,
      portRange: udp.portRange,
      onClientDatagram: association.onClientDatagram,
      onOutsideDatagram: association.onOutsideDatagram,
      ports: context.ownPorts,
      rates: session.rates(),
      counts: session.counts,
      countAt: session.countAt,
    },
    onOpen,
  );
  return session.isEnded ? null : association;

  function onOpen(result: OpenedRelay): void {
    // Whatever ended it meanwhile has also closed the client's connection.
    if (association.isOver) {
      session?.abandon();
      if (result.ok) result.relay.close();
      return;
    }
    if (!result.ok) {
      session?.abandon();
      release?.();
      context.log.warn(
        { account: account.record.username, code: result.code },
        'no UDP socket for an association',
      );
      return refuse(Reply.generalFailure);
    }
    stream.write(replyFrame(Reply.succeeded, advertisedAddress, result.relay.local.port));
    if (session) association.start(session, result.relay);
  }
}

/** The address that the client's datagrams come from, as far as its connection tells: without a zone, unmapped. */
function datagramAddress({ address }: Endpoint): string {
  return address === UNIX_CLIENT ? '127.0.0.1' : normalizeAddress(address);
}

/**
 * DST.ADDR is where the client will send from, if it knows (RFC 1928 §7). Zeros and names say nothing; what a client
 * behind NAT believes of itself does no harm beside the address of its TCP connection.
 */
function declaredAddress({ addressType, address }: AssociateRequest): string | null {
  if (addressType === AddressType.domain || address.every((byte) => byte === 0)) return null;
  return formatIp(unmap(address));
}

/** Where the relay is bound, and the address that the client is to send to (BND.ADDR). */
function addressesFor(
  { stream, client, isProxied, isUnix }: AssociateRequest,
  udp: UdpSettings,
): { readonly bindAddress: string; readonly advertisedAddress: string } {
  if (client.address === UNIX_CLIENT) {
    return { bindAddress: '127.0.0.1', advertisedAddress: '127.0.0.1' };
  }
  const isV6 = isIPv6(datagramAddress(client));
  const isOfFamily = (address: string): boolean => address !== '' && isIPv6(address) === isV6;
  const everyAddress = isV6 ? '::' : '0.0.0.0';
  const local = stream.local.address;
  const advertised = udp.publicAddresses.find(isOfFamily);
  // Behind a proxy or a translator datagrams may come in on another address than the connection did.
  const takesEvery = advertised !== undefined || isProxied || isUnix || !isOfFamily(local);
  return {
    bindAddress: takesEvery ? everyAddress : local,
    advertisedAddress: advertised ?? (isOfFamily(local) ? local : everyAddress),
  };
}
