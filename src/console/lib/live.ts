// The stream of server-sent events: fresh numbers for the overview, and the topics that changed, so that lists read them again.
import type { ChangedEvent, Overview } from '../api-types.js';
import { call, me, online } from './api.js';
import { cell } from './cell.js';

/** The newest overview from the stream; null before the first one. */
export const liveOverview = cell<Overview | null>(null);

export type Topic = ChangedEvent['topic'];
const listeners = new Set<(topic: Topic | 'everything') => void>();

/** Calls `listener` with each topic that changes, and with 'everything' after a lost connection is back. */
export function onChanged(listener: (topic: Topic | 'everything') => void): () => void {
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
  };
}

const RETRY_MS = 2_000;
let source: EventSource | null = null;
let retry: ReturnType<typeof setTimeout> | undefined;

/** Opens the stream while a user is signed in and closes it otherwise. Called once, at start. */
export function watchDaemon(): void {
  const follow = () => (me.get() ? open() : close());
  me.subscribe(follow);
  online.subscribe(() => {
    if (!online.get()) reconnect();
  });
  follow();
  // The user's data has the names of exits that forms offer.
  onChanged((topic) => {
    if (topic === 'settings')
      void call('getMe').then(
        (user) => me.get() && me.set(user),
        () => {},
      );
  });
}

function open(): void {
  if (source) return;
  source = new EventSource('/api/v1/events');
  source.addEventListener('overview', (event) => liveOverview.set(JSON.parse(event.data) as Overview));
  source.addEventListener('changed', (event) => publish((JSON.parse(event.data) as ChangedEvent).topic));
  source.addEventListener('error', () => {
    close();
    reconnect();
  });
}

function close(): void {
  source?.close();
  source = null;
}

/** Retries until the daemon answers. Then every listener reads its data again. */
function reconnect(): void {
  clearTimeout(retry);
  if (!me.get()) return;
  retry = setTimeout(async () => {
    try {
      me.set(await call('getMe'));
      open();
      // Another request may have noticed first that the daemon answers again: what failed before is read again anyway.
      publish('everything');
    } catch {
      if (me.get()) reconnect();
    }
  }, RETRY_MS);
}

function publish(topic: Topic | 'everything'): void {
  for (const listener of [...listeners]) listener(topic);
}
