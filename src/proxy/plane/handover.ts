// The data plane's part of a handover: joins what the workers have captured with what the control plane knows, and gives each worker
// its connections in the next process.
import { closeSync } from 'node:fs';
import { within } from '../../core/time/timers.js';
import {
  agedSince,
  type CapturedSession,
  type HandedConnection,
  type PlaneHandover,
} from '../handover/state.js';
import { OwnedDescriptors } from '../memory/owned-descriptors.js';
import type { PlaneAccounts } from './accounts.js';
import type { PlaneRequests } from './requests.js';
import type { PlaneSession } from './sessions.js';
import type { PlaneWorker } from './worker-handle.js';

/** Time limit for each answer of a worker, in ms: the sessions of one that is stuck end. */
const ANSWER_MS = 4_000;

interface CapturedConnections {
  readonly connections: HandedConnection[];
  readonly descriptors: readonly number[];
}

/** Number of connections that a worker takes over at once: it serves those that it has before it takes more. */
const TAKEN_AT_ONCE = 8;

/** Freezes the workers, and captures their connections. @param count called once all events of the workers have been processed */
export async function captureAll(
  workers: readonly PlaneWorker[],
  requests: Pick<PlaneRequests, 'nextToken'>,
  count: () => void,
): Promise<CapturedConnections> {
  const askAll = (kind: 'freeze' | 'capture') =>
    Promise.all(
      workers.map((worker) => within(ANSWER_MS, worker.ask({ kind, token: requests.nextToken() }), null)),
    );
  await askAll('freeze');
  // All are frozen: no connection is on its way from one to another after this.
  const answers = await askAll('capture');
  for (const worker of workers) worker.readAll();
  count();
  const connections: HandedConnection[] = [];
  const descriptors: number[] = [];
  for (const [i, worker] of workers.entries()) {
    const answer = answers[i];
    const captured = answer?.kind === 'captured' ? answer.connections : [];
    const owned = new OwnedDescriptors(worker.shared.owned);
    for (const whole of joined(worker.sessions(), captured)) {
      const indices: number[] = [];
      for (const fd of whole.descriptors) {
        indices.push(descriptors.push(fd) - 1);
        // A thread that dies must not take it along.
        owned.remove(fd);
      }
      connections.push(Object.assign(whole, { descriptors: indices }));
    }
  }
  return { connections, descriptors };
}

/** With what the control plane knows of each session. Sessions that their worker has not captured are lost. */
function joined(
  sessions: readonly PlaneSession[],
  captured: readonly HandedConnection<CapturedSession>[],
): HandedConnection[] {
  const bySlot = new Map(sessions.map((session) => [session.slot, session]));
  const whole = captured.flatMap((handed): HandedConnection[] => {
    if (handed.kind === 'request') return [handed];
    const session = bySlot.get(handed.session.slot)?.handOver(handed.session);
    bySlot.delete(handed.session.slot);
    return session ? [Object.assign(handed, { session })] : [];
  });
  const lost = [...bySlot.values()].map((session): HandedConnection => {
    const { ageMs, gameId } = session;
    return {
      kind: 'lost',
      session: session.handOver({ isByAddress: false, linkHash: null, ageMs, gameId }),
      descriptors: [],
    };
  });
  return [...whole, ...lost];
}

/** Those that transfer bytes come first: their players notice a pause. Only what has no session yet may open one: it comes last. */
const quietMs = (handed: HandedConnection): number =>
  handed.kind === 'request' ? Number.MAX_VALUE : 'idleMs' in handed ? handed.idleMs : 0;

interface Part {
  readonly worker: PlaneWorker;
  /** Not sent yet. */
  connections: HandedConnection[];
  /** Number of its sessions, which get the first slots. */
  slots: number;
}

/** Why a session ends instead of being continued. */
type LostReason = 'not-handed-over' | 'account-unknown' | 'node-engine';

/** Gives each worker its connections. All workers have started. Returns the number of sessions that end instead, by reason. */
export function distribute(
  { state, descriptors }: PlaneHandover,
  workers: readonly PlaneWorker[],
  accounts: PlaneAccounts,
): Partial<Record<LostReason, number>> {
  const parts = workers.map((worker): Part => ({ worker, connections: [], slots: 0 }));
  const lost: Partial<Record<LostReason, number>> = {};
  const inOrder = [...state.connections].sort((a, b) => quietMs(a) - quietMs(b));
  for (const [i, handed] of inOrder.entries()) {
    const username = handed.kind === 'request' ? handed.login?.username : handed.session.username;
    const part = parts[username === undefined ? i % parts.length : accounts.workerOf(username)];
    if (part === undefined) continue;
    const here = { ...handed, descriptors: handed.descriptors.map((at) => descriptors[at] ?? -1) };
    const reason = add(part, here as HandedConnection, accounts, state.capturedAt);
    if (reason !== null) lost[reason] = (lost[reason] ?? 0) + 1;
    if (part.connections.length === TAKEN_AT_ONCE) give(part, state.capturedAt, false);
  }
  for (const part of parts) give(part, state.capturedAt, true);
  accounts.resumedAll();
  return lost;
}

/** The worker takes them over while the others are prepared. */
function give(part: Part, capturedAt: number, isLast: boolean): void {
  const { worker, connections } = part;
  const owned = new OwnedDescriptors(worker.shared.owned);
  for (const each of connections) for (const fd of each.descriptors) owned.tryGive(fd);
  worker.send({ kind: 'take-over', connections, capturedAt, isLast });
  part.connections = [];
}

/** Returns why a session has ended; null: it continues, or is no session yet. */
function add(
  part: Part,
  handed: HandedConnection,
  accounts: PlaneAccounts,
  capturedAt: number,
): LostReason | null {
  const { worker, connections } = part;
  const isNative = worker.engine === 'native';
  if (handed.kind === 'request') {
    if (isNative) connections.push(handed);
    else closeAll(handed);
    return null;
  }
  const slot = part.slots;
  const session = agedSince(capturedAt, handed.session);
  worker.resume(session, handed.kind === 'association' ? handed.recorded : [], slot);
  const reason = lostReason(handed, isNative, accounts);
  if (reason !== null) {
    closeAll(handed);
    worker.lose(slot);
    return reason;
  }
  part.slots += 1;
  accounts.counted(session, session.bytesUp + session.bytesDown);
  connections.push(handed);
  return null;
}

function lostReason(
  { kind, session }: Exclude<HandedConnection, { kind: 'request' }>,
  isNative: boolean,
  accounts: PlaneAccounts,
): LostReason | null {
  if (kind === 'lost') return 'not-handed-over';
  if (!isNative) return 'node-engine';
  return accounts.has(session.accountId) ? null : 'account-unknown';
}

function closeAll({ descriptors }: HandedConnection): void {
  for (const fd of descriptors) closeSync(fd);
}
