// Packs events for the control plane. A new session is sent as a list of its values: in a message between threads, the names of the
// fields cost more than the values.
import type { SessionSummary } from '../core/sessions/session.js';
import type { SessionFacts, WorkerEvent } from './messages.js';

type WithFacts = Extract<WorkerEvent, { readonly session: SessionFacts }>;
export type PackedEvent = Exclude<WorkerEvent, WithFacts> | ReturnType<typeof packSession>;

export function packEvent(event: WorkerEvent): PackedEvent {
  return event.kind === 'session-opened' || event.kind === 'session-passed' ? packSession(event) : event;
}

/** The first value is the summary of a session that has already ended; null: the session is open. */
function packSession(event: WithFacts) {
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
  ] as const;
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

/** The list is the summary of a session without datagrams. */
function packSummary(summary: SessionSummary) {
  if (summary.dropped !== undefined) return summary;
  return [summary.bytesUp, summary.bytesDown, summary.end, summary.durationMs, summary.gameId] as const;
}

function unpackSummary(packed: ReturnType<typeof packSummary>): SessionSummary {
  if ('end' in packed) return packed;
  const [bytesUp, bytesDown, end, durationMs, gameId] = packed;
  return { bytesUp, bytesDown, end, durationMs, gameId };
}
