// The main thread's view of one worker's permits, by the worker's tokens. They are released when the worker dies.
import type { SessionPermit, SessionPermits } from '../../core/accounts/access/session-permits.js';
import type { LimitRefusal } from '../../core/accounts/usage/limits.js';
import type { WorkerMessage } from '../messages.js';

type Source = Pick<SessionPermits, 'acquire' | 'hold'> | null;

export class PlanePermits {
  readonly #granted = new Map<number, SessionPermit>();
  #isOver = false;

  /**
   * @param source returns null: there are no other nodes, and every permit is granted
   * @param send to the worker
   */
  constructor(
    private readonly source: () => Source,
    private readonly send: (message: WorkerMessage) => void,
  ) {}

  wanted(token: number, accountId: string, client: string): void {
    const source = this.source();
    if (source === null) return this.#answer(token, null);
    void source
      .acquire(accountId, client, () => this.#revoke(token))
      .then((answer) => {
        if (!answer.ok) return this.#answer(token, answer.reason);
        if (this.#isOver) return answer.permit.release();
        this.#granted.set(token, answer.permit);
        this.#answer(token, null);
      });
  }

  held(token: number, accountId: string, client: string): void {
    const permit = this.source()?.hold(accountId, client, () => this.#revoke(token));
    if (permit) this.#granted.set(token, permit);
  }

  released(token: number): void {
    this.#granted.get(token)?.release();
    this.#granted.delete(token);
  }

  /** Called when the worker has died. */
  releaseAll(): void {
    this.#isOver = true;
    for (const permit of this.#granted.values()) permit.release();
    this.#granted.clear();
  }

  #answer(token: number, refusal: LimitRefusal | null): void {
    this.send({ kind: 'permit', token, refusal });
  }

  #revoke(token: number): void {
    this.send({ kind: 'revoke-permit', token });
  }
}
