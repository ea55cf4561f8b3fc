// Reads data for a component: the answer, the error, and when to read again; and what the daemon says an unsent form would do. The
// stream of server-sent events, from which it is known: fresh numbers for the overview, and the topics that changed.
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { ChangedEvent, Operations, Overview } from '../api-types.js';
import { ApiError, call, callWithEtag, type Input, me, online, type Version } from './api.js';
import { cell, useCell } from './cell.js';

export interface Loaded<T> {
  /** The last answer. It stays during a new request, so that nothing moves. */
  readonly data: T | undefined;
  readonly error: ApiError | null;
  /** True while `data` answers another input than the current one. */
  readonly pending: boolean;
  /** A change of `data` sends this value as If-Match; null: the daemon sent no ETag. */
  readonly etag: string | null;
  reload(): void;
  /** Stores the answer of a change, so that the component shows no old data until the next read. */
  put(version: Version<T>): void;
}

interface LoadOptions {
  /** A change of one of these topics triggers a new read. */
  readonly topics?: readonly Topic[];
  /** Interval of further reads, in ms; 0 or left out: none. */
  readonly everyMs?: number;
}

/** Changes come in bursts. They trigger at most one read in this time. */
const SETTLE_MS = 400;
/** A read that takes longer is given up for a new one. */
const STUCK_MS = 20_000;

const NOTHING = { data: undefined, etag: null, error: null };

/** Reads an operation and keeps the answer fresh. `input` null: reads nothing, and forgets what was read. */
export function useLoad<N extends keyof Operations>(
  name: N,
  input: Input<N> | null,
  { topics = [], everyMs = 0 }: LoadOptions = {},
): Loaded<Operations[N]['answer']> {
  type Answer = Operations[N]['answer'];
  const key = JSON.stringify(input);
  interface State extends Pick<Loaded<Answer>, 'data' | 'etag' | 'error'> {
    readonly key: string | null;
  }
  const [state, setState] = useState<State>({ key: null, ...NOTHING });
  const [round, setRound] = useState(0);
  // Without a signed-in user there is nothing to read. The next sign-in triggers the read.
  const reload = useCallback(() => {
    if (me.get() !== null) setRound((n) => n + 1);
  }, []);
  const read = useRef<{ readonly since: number; isOutdated: boolean } | null>(null);
  /** Reads again after the read that is under way: on a slow line, a read that every change aborts would never end. */
  const refresh = useCallback(() => {
    if (read.current && performance.now() - read.current.since < STUCK_MS) read.current.isOutdated = true;
    else reload();
  }, [reload]);
  const current = useRef(input);
  current.current = input;
  const put = ({ answer, etag }: Version<Answer>) => setState({ key, data: answer, etag, error: null });

  // `key` represents the input.
  useEffect(() => {
    if (current.current === null) return setState({ key, ...NOTHING });
    const abort = new AbortController();
    const own = { since: performance.now(), isOutdated: false };
    read.current = own;
    const ended = () => {
      if (read.current === own) read.current = null;
      if (own.isOutdated && !abort.signal.aborted) reload();
    };
    const ask = callWithEtag as (name: N, input: unknown) => Promise<Version<Answer>>;
    const answered = ask(name, { ...current.current, signal: abort.signal }).then(put, (error: unknown) => {
      if (abort.signal.aborted || me.get() === null) return;
      const failure = error instanceof ApiError ? error : new ApiError(0, 'internal', String(error));
      setState((before) => ({ ...(before.key === key ? before : { key, ...NOTHING }), error: failure }));
    });
    void answered.then(ended);
    return () => {
      abort.abort();
      read.current = null;
    };
  }, [name, key, round, reload]);

  useEffect(() => {
    let was = me.get();
    return me.subscribe(() => {
      if (was === null && me.get()) reload();
      was = me.get();
    });
  }, [reload]);

  const topicKey = topics.join();
  // `topicKey` represents the topics.
  useEffect(() => {
    let settling: ReturnType<typeof setTimeout> | undefined;
    const stop = onChanged((topic) => {
      if (topic !== 'everything' && !topics.includes(topic)) return;
      settling ??= setTimeout(() => {
        settling = undefined;
        if (topic === 'everything') reload();
        else refresh();
      }, SETTLE_MS);
    });
    const timer = everyMs > 0 ? setInterval(() => document.hidden || refresh(), everyMs) : undefined;
    return () => {
      stop();
      clearTimeout(settling);
      clearInterval(timer);
    };
  }, [topicKey, everyMs, refresh, reload]);

  return {
    data: state.data,
    error: state.error,
    pending: state.key !== key,
    etag: state.etag,
    reload,
    put,
  };
}

export interface Preview<T> {
  /** Null until the daemon has answered for exactly this form. */
  readonly result: T | null;
  readonly error: unknown;
}

/** @param form null: there is nothing to ask for yet */
export function usePreview<Form, T>(
  form: Form | null,
  ask: (form: Form, signal: AbortSignal) => Promise<T>,
  settleMs: number,
): Preview<T> & { readonly pending: boolean } {
  const current = form && JSON.stringify(form);
  const question = useSettled(current, settleMs);
  const [answered, setAnswered] = useState<Preview<T> & { readonly question: string | null }>();
  const isOnline = useCell(online);
  useEffect(() => {
    if (question === null) return;
    const abort = new AbortController();
    ask(JSON.parse(question) as Form, abort.signal).then(
      (result) => setAnswered({ question, result, error: null }),
      (error: unknown) => abort.signal.aborted || setAnswered({ question, result: null, error }),
    );
    return () => abort.abort();
  }, [question, isOnline]);
  if (current === null) return { result: null, error: null, pending: false };
  if (answered?.question !== current) return { result: null, error: null, pending: true };
  return { ...answered, pending: false };
}

/** Returns the value after it has not changed for `ms`: for questions while the user types. */
export function useSettled<T>(value: T, ms: number): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}

/** The newest overview from the stream; null before the first one. */
export const liveOverview = cell<Overview | null>(null);

type Topic = ChangedEvent['topic'];
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
