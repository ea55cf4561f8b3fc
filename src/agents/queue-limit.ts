// Limits the number of queued runs, per agent and in total.

export type QueueLimit = ReturnType<typeof createQueueLimit>;

export function createQueueLimit(max: { readonly total: number; readonly perAgent: number }) {
  const byAgent = new Map<string, number>();
  let total = 0;
  const of = (agent: string): number => byAgent.get(agent) ?? 0;
  /** Reserves a place regardless of the limits, for a run that is already stored. */
  const acquire = (agent: string): void => {
    total++;
    byAgent.set(agent, of(agent) + 1);
  };
  return {
    of,
    /** Reserves a place; returns false when the queue is full, in total or for the agent. */
    tryAcquire(agent: string): boolean {
      if (total >= max.total || of(agent) >= max.perAgent) return false;
      acquire(agent);
      return true;
    },
    acquire,
    release(agent: string): void {
      total--;
      const remaining = of(agent) - 1;
      if (remaining > 0) byAgent.set(agent, remaining);
      else byAgent.delete(agent);
    },
    /** Number of free places in total. */
    left: (): number => Math.max(0, max.total - total),
  };
}
