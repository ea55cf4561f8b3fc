// UDP ASSOCIATE (RFC 1928 §4, §6, §7): opens a relay for the client and replies with its address.
import { isIPv6 } from 'node:net';
import { type Endpoint, formatIp, normalizeAddress, unmap } from '../../core/addresses/ip.js';
import type { Arrival } from '../connection/connections.js';
import type { AuthorizedRequest, CommandConnection } from '../connection/running-command.js';
import type { OpenedRelay } from '../io/datagrams.js';
import { replyForRefusal } from '../memory/places.js';
import type { UdpSettings } from '../plane-settings.js';
import { UNIX_CLIENT } from '../protocols/proxy-header.js';
import { AddressType, type ClientRequest, Reply, type ReplyCode, replyFrame } from '../protocols/socks5.js';
import type { WorkerHost } from '../worker/host.js';
import { Association } from './association.js';

interface AssociatingConnection extends CommandConnection {
  readonly isProxied: boolean;
  readonly arrival: Arrival;
}

/** Serves one UDP ASSOCIATE of a logged-in client, or refuses it. */
export function associate(
  host: WorkerHost,
  connection: AssociatingConnection,
  { account, egress, exit, permit, request }: AuthorizedRequest,
): void {
  const { client, stream, isByAddress, linkHash } = connection;
  const { udp } = host.settings;
  const refuse = (reply: ReplyCode): void => connection.refuse(replyFrame(reply));
  const refuseFor = (reason: string, reply: ReplyCode): void => {
    host.log.info({ account: account.record.username, client: client.address, reason }, 'session refused');
    refuse(reply);
  };
  if (!udp.enabled) return refuse(Reply.commandNotSupported);
  host.accounts.makeRoomForAssociation(account, udp.maxAssociationsPerAccount);
  let release = (): void => {};
  const association = new Association({
    context: host,
    request: { stream, client, account, egress, exit },
    clientAddress: datagramAddress(client),
    declaredAddress: declaredAddress(request),
    onOver() {
      release();
      connection.closed();
    },
  });
  const destination = { host: '*', port: 0 };
  const session = host.sessions.open({
    command: 'udp-associate',
    clientProtocol: 'socks5',
    isByAddress,
    linkHash,
    account,
    client,
    destination,
    transfer: association,
    permit,
  });
  if (typeof session === 'string') return refuseFor(session, replyForRefusal(session));
  session.exit = exit?.name ?? null;
  // An association has up to three sockets in addition to the TCP connection: twice as many as a CONNECT.
  const releaseSecond = host.connections.tryAcquire();
  if (releaseSecond === null) {
    session.abandon();
    return refuseFor('max-connections', Reply.generalFailure);
  }
  release = releaseSecond;

  const { bindAddress, advertisedAddress } = addressesFor(connection, udp);
  const onOpen = (result: OpenedRelay): void => {
    // If it has ended meanwhile, the client's connection is closed too.
    if (association.isOver) {
      session.abandon();
      if (result.ok) result.relay.close();
      return;
    }
    if (!result.ok) {
      session.abandon();
      release();
      host.log.warn(
        { account: account.record.username, code: result.code },
        'cannot open UDP socket for association',
      );
      return refuse(Reply.generalFailure);
    }
    stream.write(replyFrame(Reply.succeeded, advertisedAddress, result.relay.local.port));
    association.start(session, result.relay);
  };
  host.io.openDatagrams(
    {
      bindAddress,
      portRange: udp.portRange,
      outside: exit,
      onClientDatagram: association.onClientDatagram,
      onOutsideDatagram: association.onOutsideDatagram,
      ports: host.ownPorts,
      meter: session,
    },
    onOpen,
  );
}

/** The expected source address of the client's datagrams, from its connection: without a zone, IPv4-mapped as IPv4. */
function datagramAddress({ address }: Endpoint): string {
  return address === UNIX_CLIENT ? '127.0.0.1' : normalizeAddress(address);
}

/**
 * DST.ADDR is the address from which the client will send, if it knows it (RFC 1928 §7). Zeros and names are ignored. A
 * client behind NAT may declare its private address, which is harmless, because that of its TCP connection is valid too.
 */
function declaredAddress({ addressType, address }: ClientRequest): string | null {
  if (addressType === AddressType.domain || address.every((byte) => byte === 0)) return null;
  return formatIp(unmap(address));
}

/** The local address of the relay, and the address that the reply contains (BND.ADDR). */
function addressesFor(
  { stream, client, isProxied, arrival }: AssociatingConnection,
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
  // Behind a proxy or NAT, datagrams may arrive at another local address than the connection.
  const takesEvery = advertised !== undefined || isProxied || arrival.isUnix || !isOfFamily(local);
  return {
    bindAddress: takesEvery ? everyAddress : local,
    advertisedAddress: advertised ?? (isOfFamily(local) ? local : everyAddress),
  };
}
