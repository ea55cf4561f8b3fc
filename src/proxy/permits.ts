// The permits of one worker's sessions, for accounts whose limits apply over several nodes. The control plane grants them.
import type { LimitRefusal } from '../core/accounts/limits.js';
import type { Account } from './account.js';
import type { Events } from './events.js';
import type { Endpoint } from './io/io.js';

/** The right of one session to be open. */
export class Permit {
  readonly #token: number;
  readonly #events: Pick<Events, 'push'>;
  #isUsed = false;
  #isReleased = false;

  constructor(token: number, events: Pick<Events, 'push'>) {
    this.#token = token;
    this.#events = events;
  }

  /** Marks the permit as used by a session, which releases the permit at its end. */
  use(): void {
    this.#isUsed = true;
  }

  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#events.push({ kind: 'permit-released', token: this.#token });
  }

  releaseUnused(): void {
    if (!this.#isUsed) this.release();
  }
}

export type PermitAnswer =
  | { readonly ok: true; readonly permit: Permit }
  | { readonly ok: false; readonly reason: LimitRefusal };

export interface PermitQuestion {
  /** Nobody waits for the answer any longer. */
  cancel(): void;
}

export class Permits {
  readonly #events: Pick<Events, 'push'>;
  readonly #waiting = new Map<number, (answer: PermitAnswer) => void>();
  #token = 0;

  constructor(events: Pick<Events, 'push'>) {
    this.#events = events;
  }

  /** Calls `done` later, unless the request is cancelled before. */
  acquire({ record }: Account, client: Endpoint, done: (answer: PermitAnswer) => void): PermitQuestion {
    const token = this.#nextToken();
    this.#waiting.set(token, done);
    this.#events.push({ kind: 'permit-wanted', token, accountId: record.id, client: client.address });
    return { cancel: () => void this.#waiting.delete(token) };
  }

  answered(token: number, refusal: LimitRefusal | null): void {
    const done = this.#waiting.get(token);
    this.#waiting.delete(token);
    if (refusal !== null) return done?.({ ok: false, reason: refusal });
    const permit = new Permit(token, this.#events);
    if (done) done({ ok: true, permit });
    else permit.release();
  }

  /** For a session that is already open. */
  hold({ record }: Account, client: Endpoint): Permit {
    const token = this.#nextToken();
    const permit = new Permit(token, this.#events);
    permit.use();
    this.#events.push({ kind: 'permit-held', token, accountId: record.id, client: client.address });
    return permit;
  }

  #nextToken(): number {
    this.#token += 1;
    return this.#token;
  }
}
