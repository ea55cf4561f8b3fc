// The stream of server-sent events: fresh numbers for the overview, and word of what a list should read again.
import type { ChangedEvent, Overview } from '../api-types.js';
import { call, me, online } from './api.js';
import { cell } from './cell.js';

/** The newest overview that came by the stream; null before the first. */
export const liveOverview = cell<Overview | null>(null);

export type Topic = ChangedEvent['topic'];
const listeners = new Set<(topic: Topic | 'everything') => void>();

/** Calls `listener` when something of a topic changed, or of everything: after a lost connection came back. */
export function onChanged(listener: (topic: Topic | 'everything') => void): () => void {
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
  };
}

const RETRY_MS = 2_000;
let source: EventSource | null = null;
let retry: ReturnType<typeof setTimeout> | undefined;

/** Opens the stream while someone is signed in, and closes it when nobody is. Called once, at start. */
export function watchDaemon(): void {
  const follow = () => (me.get() ? open() : close());
  me.subscribe(follow);
  online.subscribe(() => {
    if (!online.get()) comeBack();
  });
  follow();
}

function open(): void {
  if (source) return;
  source = new EventSource('/api/v1/events');
  source.addEventListener('overview', (event) => liveOverview.set(JSON.parse(event.data) as Overview));
  source.addEventListener('changed', (event) => tell((JSON.parse(event.data) as ChangedEvent).topic));
  source.addEventListener('error', () => {
    close();
    comeBack();
  });
}

function close(): void {
  source?.close();
  source = null;
}

/** Asks again until the daemon answers; then whoever shows something reads it anew. */
function comeBack(): void {
  clearTimeout(retry);
  if (!me.get()) return;
  retry = setTimeout(async () => {
    const wasOnline = online.get();
    try {
      me.set(await call('getMe'));
      open();
      if (!wasOnline) tell('everything');
    } catch {
      if (me.get()) comeBack();
    }
  }, RETRY_MS);
}

function tell(topic: Topic | 'everything'): void {
  for (const listener of [...listeners]) listener(topic);
}
