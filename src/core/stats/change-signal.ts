// Tells whoever watches that something changed: at most once in a while for each topic, however much changes.

export type Topic = 'accounts' | 'sessions' | 'settings' | 'runs' | 'agents' | 'tokens' | 'audit';

export interface Changed {
  readonly topic: Topic;
  /** null: more than one object, or none in particular. */
  readonly id: string | null;
}

export interface ChangeBell {
  ring(topic: Topic, id?: string | null): void;
  /** Calls `listener` with what changed; returns how to stop. */
  listen(listener: (changed: Changed) => void): () => void;
  /** Whether anybody listens. */
  isHeard(): boolean;
  close(): void;
}

/** Changes within `quietMs` of each other are told as one. */
export function createChangeBell(quietMs: number): ChangeBell {
  const listeners = new Set<(changed: Changed) => void>();
  const waiting = new Map<Topic, string | null>();
  let timer: NodeJS.Timeout | undefined;

  function tell(): void {
    timer = undefined;
    const due = [...waiting];
    waiting.clear();
    for (const [topic, id] of due) for (const listener of [...listeners]) listener({ topic, id });
  }

  return {
    ring(topic, id = null) {
      if (listeners.size === 0) return;
      waiting.set(topic, waiting.has(topic) && waiting.get(topic) !== id ? null : id);
      timer ??= setTimeout(tell, quietMs).unref();
    },
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    isHeard: () => listeners.size > 0,
    close() {
      clearTimeout(timer);
      listeners.clear();
    },
  };
}
