// How many runs may wait: a bound for each agent and one for all.

export interface QueueRoom {
  readonly total: number;
  of(agent: string): number;
  /** Takes a place; false when the queue is full, overall or for the agent. */
  take(agent: string): boolean;
  /** Takes a place that is not refused: the run is already stored. */
  force(agent: string): void;
  give(agent: string): void;
  /** Places left overall. */
  left(): number;
}

export function createQueueRoom(max: { readonly total: number; readonly perAgent: number }): QueueRoom {
  const byAgent = new Map<string, number>();
  let total = 0;
  const of = (agent: string) => byAgent.get(agent) ?? 0;
  const force = (agent: string) => {
    total++;
    byAgent.set(agent, of(agent) + 1);
  };
  return {
    get total() {
      return total;
    },
    of,
    take(agent) {
      if (total >= max.total || of(agent) >= max.perAgent) return false;
      force(agent);
      return true;
    },
    force,
    give(agent) {
      total--;
      const left = of(agent) - 1;
      if (left > 0) byAgent.set(agent, left);
      else byAgent.delete(agent);
    },
    left: () => Math.max(0, max.total - total),
  };
}
