// Converts runs to and from table rows.
import type { DeliveryState, NewRun, Run, RunKind, RunOrigin, RunStatus } from '../../core/agents/runs.js';
import { type Integer, toNumber } from '../sql/integers.js';

export interface RunRow {
  id: string;
  kind: string;
  agent: string;
  session: string | null;
  message: string | null;
  origin: string;
  rerun_of: string | null;
  status: string;
  owner: string | null;
  attempt: number;
  accepted_at: Integer;
  started_at: Integer | null;
  finished_at: Integer | null;
  reply: string | null;
  error: string | null;
  delivery: string;
  delivery_tries: number;
  next_delivery_at: Integer | null;
}

/** All columns except the long texts. */
export const SHORT_COLUMNS = [
  'id',
  'kind',
  'agent',
  'session',
  'origin',
  'rerun_of',
  'status',
  'attempt',
  'accepted_at',
  'started_at',
  'finished_at',
  'error',
  'delivery',
  'delivery_tries',
  'next_delivery_at',
] as const;

export function toRun(row: RunRow): Run {
  return {
    id: row.id,
    kind: row.kind as RunKind,
    agent: row.agent,
    session: row.session,
    message: row.message,
    origin: row.origin as RunOrigin,
    rerunOf: row.rerun_of,
    status: row.status as RunStatus,
    attempt: row.attempt,
    acceptedAt: Number(row.accepted_at),
    startedAt: toNumber(row.started_at),
    finishedAt: toNumber(row.finished_at),
    reply: row.reply,
    error: row.error,
    delivery: row.delivery as DeliveryState,
    deliveryTries: row.delivery_tries,
    nextDeliveryAt: toNumber(row.next_delivery_at),
  };
}

export function newRow(run: NewRun, owner: string | null): RunRow {
  return {
    id: run.id,
    kind: run.kind,
    agent: run.agent,
    session: run.session,
    message: run.message,
    origin: run.origin,
    rerun_of: run.rerunOf,
    status: 'queued',
    owner,
    attempt: 0,
    accepted_at: run.acceptedAt,
    started_at: null,
    finished_at: null,
    reply: null,
    error: null,
    delivery: 'none',
    delivery_tries: 0,
    next_delivery_at: null,
  };
}
