// Checks which ways out of exits work, at an interval and after a change of exits: greets each proxy, and opens a socket at each
// address. Only the first worker does; it reports what it finds, and the others are told.
import type { Stream } from '../io/io.js';
import type { WorkerHost } from '../worker/host.js';
import { askUpstreams } from './ask.js';
import type { ExitWay, WorkerExits } from './exits.js';

/** In place of an account, for addresses and limits of lookups. */
const CLIENT = { accountId: 'exit-check', source: 'exit-check' };
/** Maximum number of checks that begin in a second. */
const MAX_PER_TICK = 256;
/** Failures that say nothing about a way out: limits of this daemon. */
const OF_DAEMON = /(?:EMFILE|ENFILE|ENOMEM|too-many|over-rate)$/;

export class ExitChecks {
  readonly #host: Pick<WorkerHost, 'io' | 'egressOf' | 'resolve' | 'settings'>;
  readonly #exits: WorkerExits;
  #waiting: readonly ExitWay[] = [];
  #running = 0;
  #dueAt = 0;

  constructor(host: Pick<WorkerHost, 'io' | 'egressOf' | 'resolve' | 'settings'>, exits: WorkerExits) {
    this.#host = host;
    this.#exits = exits;
  }

  /** The exits have changed. */
  checkSoon(): void {
    this.#dueAt = 0;
  }

  /** Call it every second. */
  tick(): void {
    const { io, settings } = this.#host;
    const { intervalMs } = settings.exitChecks;
    if (this.#waiting.length === 0) {
      if (intervalMs === 0 || this.#running > 0 || io.now() < this.#dueAt) return;
      this.#dueAt = io.now() + intervalMs;
      this.#waiting = this.#exits.ways(CLIENT.accountId);
    }
    for (const way of this.#waiting.slice(0, MAX_PER_TICK)) this.#check(way);
    this.#waiting = this.#waiting.slice(MAX_PER_TICK);
  }

  #check({ id, exit, upstream, end, isIpv6 }: ExitWay): void {
    const { io, egressOf, resolve, settings } = this.#host;
    const { timeoutMs: connectTimeoutMs } = settings.exitChecks;
    const egress = egressOf(null);
    if (egress === null) return;
    this.#running += 1;
    const finish = (isUp: boolean, reason = ''): void => {
      this.#running -= 1;
      if (!OF_DAEMON.test(reason)) this.#exits.setUp(id, isUp, reason, true);
    };
    if (upstream === null) {
      const address = end?.address ?? (isIpv6 ? '::' : '0.0.0.0');
      const onConnection = (peer: Stream): void => peer.close();
      io.listen({ address, port: 0, onConnection, end: end ?? undefined }, (result) => {
        if (result.ok) result.close();
        finish(result.ok, result.ok ? '' : result.code);
      });
      return;
    }
    askUpstreams(
      {
        upstreams: [upstream],
        exit,
        command: 'greet',
        destination: { host: upstream.host, port: upstream.port },
        client: CLIENT,
        onConnected(stream) {
          stream.close();
          finish(true);
        },
        onFailed: (_reply, reason) => finish(false, reason),
      },
      { io, resolve, exits: this.#exits, egress, connectTimeoutMs },
    );
  }
}
