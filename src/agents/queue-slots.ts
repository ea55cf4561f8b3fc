// How many runs may wait: a bound for each agent and one for all.

export interface QueueSlots {
  readonly total: number;
  queuedOf(agent: string): number;
  /** False when the queue is full, overall or for the agent. */
  tryAcquire(agent: string): boolean;
  /** Without a bound: the run is already stored. */
  acquire(agent: string): void;
  release(agent: string): void;
  /** Free slots overall. */
  free(): number;
}

export function createQueueSlots(max: { readonly total: number; readonly perAgent: number }): QueueSlots {
  const byAgent = new Map<string, number>();
  let total = 0;
  const queuedOf = (agent: string) => byAgent.get(agent) ?? 0;
  const acquire = (agent: string) => {
    total++;
    byAgent.set(agent, queuedOf(agent) + 1);
  };
  return {
    get total() {
      return total;
    },
    queuedOf,
    tryAcquire(agent) {
      if (total >= max.total || queuedOf(agent) >= max.perAgent) return false;
      acquire(agent);
      return true;
    },
    acquire,
    release(agent) {
      total--;
      const left = queuedOf(agent) - 1;
      if (left > 0) byAgent.set(agent, left);
      else byAgent.delete(agent);
    },
    free: () => Math.max(0, max.total - total),
  };
}
