// The permits of one worker's sessions, for accounts whose limits apply over several nodes. The control plane grants them.
import type { LimitRefusal } from '../../core/accounts/usage/limits.js';
import type { Endpoint } from '../../core/addresses/ip.js';
import type { AccountSession, WorkerAccount } from './account.js';
import type { Events } from './events.js';

/** The right of one session to be open. */
export class Permit {
  #session: Pick<AccountSession, 'end'> | null = null;
  #isReleased = false;

  constructor(private readonly onRelease: () => void) {}

  /** Gives the permit to a session, which releases it at its end. */
  use(session: Pick<AccountSession, 'end'>): void {
    this.#session = session;
  }

  revoke(): void {
    this.#session?.end('limits-changed');
  }

  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.onRelease();
  }

  releaseUnused(): void {
    if (this.#session === null) this.release();
  }
}

export type PermitAnswer =
  | { readonly ok: true; readonly permit: Permit }
  | { readonly ok: false; readonly reason: LimitRefusal };

export interface PermitRequest {
  /** The answer is no longer needed. */
  cancel(): void;
}

export class WorkerPermits {
  readonly #waiting = new Map<number, (answer: PermitAnswer) => void>();
  /** Permits that have not been released. */
  readonly #open = new Map<number, Permit>();
  #token = 0;

  constructor(private readonly events: Pick<Events, 'push'>) {}

  /** Calls `done` later, unless the request is cancelled before. */
  acquire({ record }: WorkerAccount, client: Endpoint, done: (answer: PermitAnswer) => void): PermitRequest {
    const token = this.#nextToken();
    this.#waiting.set(token, done);
    this.events.push({ kind: 'permit-wanted', token, accountId: record.id, client: client.address });
    return { cancel: () => void this.#waiting.delete(token) };
  }

  answered(token: number, refusal: LimitRefusal | null): void {
    const done = this.#waiting.get(token);
    this.#waiting.delete(token);
    if (refusal !== null) return done?.({ ok: false, reason: refusal });
    const permit = this.#opened(token);
    if (done) done({ ok: true, permit });
    else permit.release();
  }

  /** For a session that is already open. */
  hold({ record }: WorkerAccount, client: Endpoint, session: Pick<AccountSession, 'end'>): Permit {
    const token = this.#nextToken();
    const permit = this.#opened(token);
    permit.use(session);
    this.events.push({ kind: 'permit-held', token, accountId: record.id, client: client.address });
    return permit;
  }

  /** Ends the session of a permit. */
  revoke(token: number): void {
    this.#open.get(token)?.revoke();
  }

  #opened(token: number): Permit {
    const permit = new Permit(() => {
      this.#open.delete(token);
      this.events.push({ kind: 'permit-released', token });
    });
    this.#open.set(token, permit);
    return permit;
  }

  #nextToken(): number {
    this.#token += 1;
    return this.#token;
  }
}
