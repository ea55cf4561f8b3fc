// How many runs may wait: a bound for each agent and one for all.

export interface QueueLimit {
  readonly total: number;
  of(agent: string): number;
  /** Takes a place; returns false when the queue is full, overall or for the agent. */
  tryAcquire(agent: string): boolean;
  /** Takes a place that is not refused: the run is already stored. */
  acquire(agent: string): void;
  release(agent: string): void;
  /** Places left overall. */
  left(): number;
}

export function createQueueLimit(max: { readonly total: number; readonly perAgent: number }): QueueLimit {
  const byAgent = new Map<string, number>();
  let total = 0;
  const of = (agent: string) => byAgent.get(agent) ?? 0;
  const acquire = (agent: string) => {
    total++;
    byAgent.set(agent, of(agent) + 1);
  };
  return {
    get total() {
      return total;
    },
    of,
    tryAcquire(agent) {
      if (total >= max.total || of(agent) >= max.perAgent) return false;
      acquire(agent);
      return true;
    },
    acquire,
    release(agent) {
      total--;
      const left = of(agent) - 1;
      if (left > 0) byAgent.set(agent, left);
      else byAgent.delete(agent);
    },
    left: () => Math.max(0, max.total - total),
  };
}
