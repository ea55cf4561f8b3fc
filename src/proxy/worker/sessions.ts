// The live sessions of one worker: opens and counts them, applies time limits, and reports them to the control plane.
import type { SessionEnd } from '../../core/sessions/session.js';
import type { HandedSession } from '../handover/state.js';
import type { PlaceRefusal, Places } from '../memory/places.js';
import { SlotPool } from '../memory/session-counts.js';
import type { WorkerAccounts } from './accounts.js';
import type { Guards } from './guards.js';
import { type SessionContext, type SessionRequest, WorkerSession } from './session.js';

export interface WorkerSessionsOptions extends Omit<SessionContext, 'onEnded'> {
  readonly accounts: WorkerAccounts;
  readonly places: Pick<Places, 'acquire' | 'count' | 'release'>;
  readonly guards: Pick<Guards, 'refused'>;
}

export class WorkerSessions {
  readonly #context: SessionContext;
  /** By slot. */
  readonly #sessions: (WorkerSession | undefined)[] = [];
  readonly #slots: SlotPool;

  constructor(private readonly options: WorkerSessionsOptions) {
    this.#context = { ...options, onEnded: (session) => this.#remove(session) };
    this.#slots = new SlotPool(options.counts);
  }

  /** The session with this slot and generation; undefined when it has ended. */
  get(slot: number, generation: number): WorkerSession | undefined {
    return this.options.counts.generations[slot] === generation ? this.#sessions[slot] : undefined;
  }

  all(): WorkerSession[] {
    return this.#sessions.filter((session) => session !== undefined);
  }

  /** Opens a session, or returns which limit refuses it. */
  open(request: SessionRequest): WorkerSession | PlaceRefusal {
    const { guards, places } = this.options;
    const refusal = places.acquire(request);
    if (refusal === 'max-connections-per-account')
      guards.refused(request.account, 'maxConnections', request.client.address);
    if (refusal !== null) return refusal;
    const slot = this.#slots.acquire();
    if (slot === -1) {
      places.release(request);
      return 'max-connections';
    }
    const session = new WorkerSession(request, slot, this.#context);
    this.#sessions[slot] = session;
    this.options.accounts.sessionOpened(request.account, session);
    return session;
  }

  /** Continues a session of another process, whatever the limits are; in the slot that the control plane expects. */
  continue(request: SessionRequest, handed: HandedSession): WorkerSession {
    this.options.places.count(request);
    // Even if others, which it has continued before, have ended already.
    const slot = this.#slots.acquire(true);
    const session = new WorkerSession(request, slot, this.#context);
    this.#sessions[slot] = session;
    this.options.accounts.sessionOpened(request.account, session);
    session.continue(handed);
    return session;
  }

  endAll(reason: SessionEnd): void {
    for (const session of this.all()) session.end(reason);
  }

  /** Applies the time limits to every session. Call it about once a second. */
  tick(): void {
    const now = this.options.now();
    for (const session of this.#sessions) session?.tick(now);
  }

  #remove(session: WorkerSession): void {
    this.#sessions[session.slot] = undefined;
    session.releasePermit();
    this.options.accounts.sessionOver(session.account, session);
    this.options.places.release(session);
    this.#slots.release(session.slot);
  }
}
