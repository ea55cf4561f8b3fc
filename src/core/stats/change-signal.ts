// Notifies listeners of changes, and combines frequent changes of a topic.
import type { Timer, Timers } from '../time/timers.js';

type Topic = 'accounts' | 'sessions' | 'settings' | 'runs' | 'agents' | 'tokens' | 'audit' | 'notices';

export interface Changed {
  readonly topic: Topic;
  /** null: more than one object, or none in particular. */
  readonly id: string | null;
}

export type ChangeSignal = ReturnType<typeof createChangeSignal>;

/** Publishes the changes of a topic at most once per `quietMs`. */
export function createChangeSignal(quietMs: number, timers: Timers) {
  const listeners = new Set<(changed: Changed) => void>();
  const waiting = new Map<Topic, string | null>();
  let timer: Timer | undefined;

  function publish(): void {
    timer = undefined;
    const due = [...waiting];
    waiting.clear();
    for (const [topic, id] of due) for (const listener of [...listeners]) listener({ topic, id });
  }

  return {
    notify(topic: Topic, id: string | null = null): void {
      if (listeners.size === 0) return;
      waiting.set(topic, waiting.has(topic) && waiting.get(topic) !== id ? null : id);
      timer ??= timers.after(quietMs, publish);
    },
    /** Calls `listener` with each change. Returns a function that unsubscribes. */
    subscribe(listener: (changed: Changed) => void): () => void {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    hasListeners: (): boolean => listeners.size > 0,
    close(): void {
      timer?.clear();
      listeners.clear();
    },
  };
}
