// Limits the number of queued runs, per agent and in total.

export interface QueueLimit {
  of(agent: string): number;
  /** Reserves a place; returns false when the queue is full, in total or for the agent. */
  tryAcquire(agent: string): boolean;
  /** Reserves a place regardless of the limits, for a run that is already stored. */
  acquire(agent: string): void;
  release(agent: string): void;
  /** Number of free places in total. */
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
    of,
    tryAcquire(agent) {
      if (total >= max.total || of(agent) >= max.perAgent) return false;
      acquire(agent);
      return true;
    },
    acquire,
    release(agent) {
      total--;
      const remaining = of(agent) - 1;
      if (remaining > 0) byAgent.set(agent, remaining);
      else byAgent.delete(agent);
    },
    left: () => Math.max(0, max.total - total),
  };
}
