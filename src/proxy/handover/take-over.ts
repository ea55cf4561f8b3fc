// A worker takes over the connections that another process has handed over. The control plane already knows their sessions.
import { Connection } from '../connection/connection.js';
import { Relayed } from '../connection/relayed.js';
import { inspectorOf } from '../connection/running-command.js';
import type { Io, Stream } from '../io/io.js';
import { Association } from '../udp/association.js';
import type { WorkerAccount } from '../worker/account.js';
import type { WorkerHost } from '../worker/host.js';
import type { SessionTransfer, WorkerSession } from '../worker/session.js';
import type { HandedAssociation, HandedConnection, HandedRelay, HandedSession } from './state.js';
import { agedSince } from './state.js';

/** Until the session has its own. */
const NO_TRANSFER: SessionTransfer = { end() {} };

/** `descriptors` are those of this process. The sessions come in the order of their slots. */
export function takeOver(
  host: WorkerHost,
  connections: readonly HandedConnection[],
  capturedAt: number,
): void {
  for (const handed of connections) {
    if (handed.kind === 'request') {
      host.connections.count(1);
      new Connection(host, host.io.adopt(handed.descriptors[0] ?? -1), handed.arrival).continue(handed);
    } else if (handed.kind !== 'lost') continueSession(host, handed, capturedAt);
  }
}

function continueSession(
  host: WorkerHost,
  handed: HandedRelay<HandedSession> | HandedAssociation<HandedSession>,
  capturedAt: number,
): void {
  const account = host.accounts.byId(handed.session.accountId);
  // The control plane hands a session to the worker that has its account.
  if (account === undefined) throw new Error('a session was handed over without its account');
  const { command, clientProtocol, isByAddress, linkHash, client, destination } = handed.session;
  const transfer = NO_TRANSFER;
  const login = { isByAddress, linkHash, account, client };
  const request = { command, clientProtocol, ...login, destination, transfer };
  const now = agedSince(capturedAt, handed.session);
  const session = host.sessions.continue({ ...request, permit: null }, now);
  if (handed.kind === 'relay') continueRelay(host, session, handed);
  else continueAssociation(host, session, account, handed);
  if (account.record.needsPermit) session.holdPermit();
}

function continueRelay(host: WorkerHost, session: WorkerSession, handed: HandedRelay<HandedSession>): void {
  const [clientFd = -1, destinationFd = -1] = handed.descriptors;
  const { pair, outboundPort, idleMs } = handed;
  host.connections.count(1);
  host.ownPorts.add('tcp-outbound', outboundPort);
  const client = host.io.adopt(clientFd);
  const destination = host.io.adopt(destinationFd);
  // The first bytes of a flow decide. Those that the process before this one has read are gone.
  const hasSentNothing = session.bytesUp === 0 && pair.up.unsent === '';
  const inspect = hasSentNothing ? session.inspectAgain() : null;
  const { egressClass } = session.account.record.limits;
  const denial = hasSentNothing ? (host.egressOf(egressClass)?.bittorrent ?? null) : null;
  const relayed = new Relayed(host, { session, destination, outboundPort, idleMs }, (listener) =>
    host.io.relay({
      client,
      destination,
      early: null,
      inspect: inspectorOf(host, session, denial, inspect),
      meter: session,
      listener,
      handed: pair,
    }),
  );
  if (isClosed(host.io, client) || isClosed(host.io, destination)) relayed.end('relay-failed');
}

/** The system could not watch it. */
const isClosed = (io: Io, stream: Stream): boolean => io.handOver?.(stream).descriptors[0] === -1;

function continueAssociation(
  host: WorkerHost,
  session: WorkerSession,
  account: WorkerAccount,
  handed: HandedAssociation<HandedSession>,
): void {
  const [fd = -1, ...descriptors] = handed.descriptors;
  const { record } = account;
  const egress = host.egressOf(record.limits.egressClass);
  const exit = host.exits.use(handed.exit, record.id) ?? null;
  const stream = host.io.adopt(fd);
  const { clientAddress, declaredAddress } = handed;
  // An association counts as two connections.
  host.connections.count(2);
  const onOver = (): void => void host.connections.count(-2);
  // Without its class, the configuration denies everything.
  if (egress === null) {
    stream.close();
    onOver();
    return session.finish('limits-changed');
  }
  const request = { stream, client: session.client, account, egress, exit };
  const association = new Association({ context: host, request, clientAddress, declaredAddress, onOver });
  session.setTransfer(association);
  host.io.openDatagrams(
    {
      bindAddress: '',
      portRange: host.settings.udp.portRange,
      outside: exit,
      onClientDatagram: association.onClientDatagram,
      onOutsideDatagram: association.onOutsideDatagram,
      ports: host.ownPorts,
      handed: { descriptors, state: handed.datagrams },
      meter: session,
    },
    (opened) => {
      if (opened.ok) return association.start(session, opened.relay, handed);
      association.end('relay-failed');
      session.finish('relay-failed');
    },
  );
}
