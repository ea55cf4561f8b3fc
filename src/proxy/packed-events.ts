// Packs events for the control plane. A new session is sent as a list of its values: in a message between threads, the names of the
// fields cost more than the values.
import type { SessionSummary } from '../core/sessions/session.js';
import type { SessionFacts, WorkerEvent } from './messages.js';

type WithFacts = Extract<WorkerEvent, { readonly session: SessionFacts }>;

/** The first value is the summary of a session that has already ended; null: the session is open. */
type PackedSession = readonly [
  summary: SessionSummary | PackedSummary | null,
  accountId: string,
  username: string,
  command: SessionFacts['command'],
  clientProtocol: SessionFacts['clientProtocol'],
  clientAddress: string,
  clientPort: number,
  host: string,
  address: string,
  port: number,
  openedAt: number,
  gameId: string | null,
  via: string | null,
  exit: string | null,
  outgoingAddress: string | null,
  outgoingPort: number,
  connectMs: number | null,
  slot: number,
  generation: number,
];

/** Summary of a session without datagrams. */
type PackedSummary = readonly [
  bytesUp: number,
  bytesDown: number,
  end: SessionSummary['end'],
  durationMs: number,
  gameId: string | null,
];

export type PackedEvent = Exclude<WorkerEvent, WithFacts> | PackedSession;

export function packEvent(event: WorkerEvent): PackedEvent {
  if (event.kind !== 'session-opened' && event.kind !== 'session-passed') return event;
  const { session } = event;
  return [
    event.kind === 'session-opened' ? null : packSummary(event.summary),
    session.accountId,
    session.username,
    session.command,
    session.clientProtocol,
    session.client.address,
    session.client.port,
    session.destination.host,
    session.destination.address,
    session.destination.port,
    session.openedAt,
    session.gameId,
    session.via,
    session.exit,
    session.outgoing?.address ?? null,
    session.outgoing?.port ?? 0,
    session.connectMs,
    session.slot,
    session.generation,
  ];
}

export function unpackEvent(packed: PackedEvent): WorkerEvent {
  if ('kind' in packed) return packed;
  // biome-ignore format: one line a kind of field
  const [
    summary, accountId, username, command, clientProtocol,
    clientAddress, clientPort, host, address, port,
    openedAt, gameId, via, exit, outgoingAddress, outgoingPort, connectMs, slot, generation,
  ] = packed;
  const session: SessionFacts = {
    accountId,
    username,
    command,
    clientProtocol,
    client: { address: clientAddress, port: clientPort },
    destination: { host, address, port },
    openedAt,
    gameId,
    via,
    exit,
    outgoing: outgoingAddress === null ? null : { address: outgoingAddress, port: outgoingPort },
    connectMs,
    slot,
    generation,
  };
  if (summary === null) return { kind: 'session-opened', session };
  return { kind: 'session-passed', session, summary: unpackSummary(summary) };
}

function packSummary(summary: SessionSummary): PackedSummary | SessionSummary {
  if (summary.dropped !== undefined) return summary;
  return [summary.bytesUp, summary.bytesDown, summary.end, summary.durationMs, summary.gameId];
}

function unpackSummary(packed: PackedSummary | SessionSummary): SessionSummary {
  if ('end' in packed) return packed;
  const [bytesUp, bytesDown, end, durationMs, gameId] = packed;
  return { bytesUp, bytesDown, end, durationMs, gameId };
}
