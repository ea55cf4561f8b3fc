// The data plane as a part of the daemon: chooses the engine and its settings, and starts it, with the sessions of the process before.
import { once } from 'node:events';
import type { Config } from '../../config.js';
import type { Log } from '../../core/log.js';
import type { SessionRegistry } from '../../core/sessions/session-registry.js';
import { within } from '../../core/time/timers.js';
import type { PlaneHandover } from '../../proxy/handover/state.js';
import { type PlaneFailure, ProxyPlane } from '../../proxy/plane/plane.js';
import type { ProxyObserver } from '../../proxy/plane/worker-handle.js';
import { descriptorLimit } from '../capacity.js';
import type { GeoPart } from '../geo.js';
import type { Grace } from '../lifecycle.js';
import { anyLibc, chooseEngine, workerCount } from './engine.js';
import { proxySettings } from './proxy-settings.js';

/** Maximum number of file descriptors in shared memory, which has one byte for each. */
const MAX_DESCRIPTORS = 4 * 1024 * 1024;

export type PlanePart = ReturnType<typeof createPlanePart>;

/**
 * It has no accounts but those that were handed over. Throws StartError (`no-native-engine`) when `socks.engine` is native and the
 * native engine is not available.
 */
export function createPlanePart(deps: {
  readonly config: Config;
  readonly geo: Pick<GeoPart, 'files' | 'onLoaded'>;
  readonly sessions: SessionRegistry;
  /** From the process before; null: nothing. */
  readonly handed: PlaneHandover | null;
  readonly log: Log;
}) {
  const { config, geo, sessions, handed, log } = deps;
  const libc = chooseEngine(config.socks.engine, log);
  let reportBroken: (failure: PlaneFailure) => void = () => {};
  const broken = new Promise<PlaneFailure>((resolve) => {
    reportBroken = resolve;
  });
  let setHandover: (handover: PlaneHandover) => void = () => {};
  const handover = new Promise<PlaneHandover>((resolve) => {
    setHandover = resolve;
  });
  const observer: Partial<ProxyObserver> = { sessions };
  const plane = new ProxyPlane({
    engine: libc ? 'native' : 'node',
    workers: libc ? workerCount(config.socks.workers) : 1,
    settings: proxySettings(config),
    resolver: config.dns,
    geo: geo.files,
    libc: libc ?? anyLibc(),
    maxDescriptors: Math.min(MAX_DESCRIPTORS, descriptorLimit()),
    handed: handed ?? undefined,
    observer: observer as ProxyObserver,
    onBroken: (failure) => reportBroken(failure),
    log,
  });
  geo.onLoaded((files) => plane.tell({ kind: 'geo', files }));
  return {
    name: 'data plane',
    plane,
    /** Sets who hears of events, `sessions` apart. Call it before `plane.report()`. */
    observe: (others: Omit<ProxyObserver, 'sessions'>) => void Object.assign(observer, others),
    /** Null with the node engine. */
    libc,
    /** Resolves when the data plane has failed and the process must restart; the log contains the reason. */
    broken,
    start: () => plane.start(),

    async drain(grace: Grace) {
      grace.signal.addEventListener('abort', () => plane.tell({ kind: 'end-all', reason: 'shutdown' }), {
        once: true,
      });
      plane.drain(Math.min(HANDSHAKE_MS, grace.ms));
      await plane.drained;
      await drainSessions(sessions, plane, grace);
    },

    stop: () => plane.stop(),

    // New connections wait in the listeners, which the successor accepts from. Its threads stay as they are, because they end with the
    // process sooner.
    async handOver() {
      setHandover(await plane.handOver());
    },

    /** What the successor of this process takes. */
    handover,
  };
}

/** How long connections that were accepted before a stop may take for their request, in ms. */
const HANDSHAKE_MS = 2_000;
/** How long sessions may take to end after `endAll`, in ms. */
const END_GRACE_MS = 1_000;
/** How often to look whether all have ended, in ms. */
const LOOK_MS = 20;

/** Waits until all connections and sessions have ended. After the grace period, ends them. */
async function drainSessions(
  sessions: SessionRegistry,
  plane: Pick<ProxyPlane, 'connections'>,
  { ms, signal }: Grace,
): Promise<void> {
  let looking: NodeJS.Timeout | undefined;
  const allEnded = new Promise<void>((resolve) => {
    const look = (): void => {
      if (sessions.size === 0 && plane.connections === 0) resolve();
    };
    looking = setInterval(look, LOOK_MS);
    look();
  });
  const graceOver = signal.aborted ? undefined : once(signal, 'abort');
  await within(ms, Promise.race([allEnded, graceOver]), undefined);
  sessions.endAll('shutdown');
  await within(END_GRACE_MS, allEnded, undefined);
  clearInterval(looking);
}
