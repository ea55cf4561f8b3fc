// /api/v1: the overview, its history, and the stream of events.
import { Readable } from 'node:stream';
import type { ChangeBell } from '../../core/stats/change-signal.js';
import type { History } from '../../core/stats/history.js';
import type { OverviewNow } from '../../core/stats/overview.js';
import type { Caller } from '../caller.js';
import type { overviewRoutes } from './contract/overview.js';
import type { Handlers } from './serve.js';
import { iso } from './times.js';

export interface OverviewUses {
  readonly overview: () => Promise<OverviewNow>;
  readonly history: History;
  readonly bell: ChangeBell;
  /** Streams of events at once; each holds a connection. */
  readonly maxEventStreams: number;
  /** Whether the one who opened a stream may still see it. */
  readonly mayStillWatch: (caller: Caller) => boolean;
}

const OVERVIEW_EVERY_MS = 2_000;
/** Proxies close what is silent; a comment (a line with a colon first) keeps the stream alive. */
const COMMENT_EVERY_MS = 15_000;
/** A reader that is so far behind is cut off; it reads everything anew when it comes back. */
const MAX_UNREAD_BYTES = 1024 * 1024;

export function overviewHandlers(uses: OverviewUses): Handlers<(typeof overviewRoutes)[number]> {
  let streams = 0;

  function open(caller: Caller): Readable {
    streams += 1;
    const stream = new Readable({ read() {} });
    const send = (text: string): void => {
      if (stream.destroyed) return;
      if (stream.readableLength > MAX_UNREAD_BYTES) stream.destroy();
      else stream.push(text);
    };
    const event = (name: string, data: unknown): void =>
      send(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
    const tick = async (): Promise<void> => {
      // Ended as one ends a stream that is complete: the page comes back and is told that it is signed out.
      if (!uses.mayStillWatch(caller)) return void stream.push(null);
      try {
        event('overview', presentOverview(await uses.overview()));
      } catch {
        send(': the database does not answer\n\n');
      }
    };
    const overviews = setInterval(() => void tick(), OVERVIEW_EVERY_MS);
    const comments = setInterval(() => send(':\n\n'), COMMENT_EVERY_MS);
    const stopListening = uses.bell.listen((changed) => event('changed', changed));
    stream.once('close', () => {
      streams -= 1;
      clearInterval(overviews);
      clearInterval(comments);
      stopListening();
    });
    send('retry: 2000\n\n');
    void tick();
    return stream;
  }

  return {
    getOverview: async () => ({ status: 200, body: presentOverview(await uses.overview()) }),

    async getOverviewHistory({ query: { range } }) {
      const { at, stepMs, values } = await uses.history.columns(range);
      const { bytesUp, bytesDown, ...counts } = values;
      return {
        status: 200,
        body: {
          range,
          stepSeconds: stepMs / 1000,
          at: at.map(iso),
          ...counts,
          bytesPerSecondUp: bytesUp,
          bytesPerSecondDown: bytesDown,
        },
      };
    },

    async streamEvents({ caller }) {
      if (streams >= uses.maxEventStreams) {
        return { problem: 'too-many-requests', detail: 'as many streams are open as there may be' };
      }
      const headers = { 'Content-Type': 'text/event-stream; charset=utf-8', 'X-Accel-Buffering': 'no' };
      return { status: 200, body: open(caller), headers };
    },
  };
}

function presentOverview(now: OverviewNow): Record<string, unknown> {
  const { runs, today, at, ...rest } = now;
  const { logins, failures, bytesUp, bytesDown, heartbeats } = today;
  return {
    at: iso(at),
    ...rest,
    today: { logins, failures, bytesUp, bytesDown, heartbeats },
    runs: {
      queued: runs.queued,
      running: runs.running,
      succeededToday: runs.succeeded,
      failedToday: runs.failed,
    },
  };
}
