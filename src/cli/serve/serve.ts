// `pulsegate serve`: runs the daemon until a signal stops it.
import { setImmediate as turn } from 'node:timers/promises';
import { readAdminCredentials } from '../../config/credentials.js';
import type { Override } from '../../config/overrides.js';
import { fromHandedConfig, hashSources } from '../../config/sources.js';
import type { Loaded } from '../../config.js';
import type { GivenCredentials } from '../../core/auth/admin-credentials.js';
import { MIN_PASSWORD_CHARACTERS } from '../../core/auth/people-passwords.js';
import { createRecentLog } from '../../core/stats/recent-log.js';
import { once } from '../../core/time/turns.js';
import { type Daemon, handedState, startDaemon } from '../../daemon.js';
import { createLogger, type Logger } from '../../log.js';
import { lowAddressSpace } from '../../parts/capacity.js';
import { anyLibc } from '../../parts/players/engine.js';
import { readVersion } from '../../program.js';
import type { Carried } from '../../proxy/io/native/carrier.js';
import type { Libc } from '../../proxy/io/native/libc.js';
import type { PlaneFailure } from '../../proxy/plane/plane.js';
import { provideThread } from '../../proxy/plane/threads.js';
import { type GivenSocket, givenSockets } from '../../systemd/sockets.js';
import { createServiceManager, type ServiceManager } from '../../systemd/systemd.js';
import type { CommandIo } from '../shared/command.js';
import { firstRunBanner } from './first-run.js';
import { findParcel } from './parcel.js';
import { needsRestart, reload } from './reload.js';
import { catchHangups, catchSignals, type Signals } from './signals.js';
import type { Restarts } from './successor.js';
import { createRestarts, execute, isRestarting, packWhileStopping, takeHandover } from './successor.js';

/** How long the daemon may take to stop after a second signal, in ms. */
const FORCED_EXIT_MS = 5000;
/** Time limit for flushing the log, in ms: the reader of a pipe may have stopped reading. */
const FLUSH_MS = 1000;
/** Stopped on request, but a part failed to stop cleanly. The log names it; its unwritten data is lost. */
const EXIT_STOP_FAILED = 3;
/** The data plane failed. The service manager restarts the daemon. */
const EXIT_FAILED = 1;
/** As shells and service managers see the end by SIGKILL. */
const EXIT_KILLED = 137;

/**
 * Runs the daemon. Never resolves: exits the process instead.
 * @param flags override the configuration
 */
export async function serve(
  flags: readonly Override[],
  file: string | undefined,
  io: CommandIo,
): Promise<never> {
  const given = { file, env: io.env, flags };
  const read = async () => (await import('../../config/load.js')).loadConfig(given);
  const libc = anyLibc();
  const parcel = io.parcel ?? findParcel(process.env);
  provideThread(parcel.thread);
  const taken = takeHandover(parcel.descriptors, libc);
  const sources = await hashSources(given);
  const known = fromHandedConfig(handedState(taken.handed).config, sources);
  /** Sessions wait for none of it, if the process before had the same configuration. */
  const load = once(read);
  const config = known ?? (await load()).config;
  ignoreClosedOutput(io);
  const recentLog = createRecentLog({ ...config.log.recent, startedAt: Date.now() });
  const log = createLogger({ level: config.log.level, recent: recentLog });
  if (taken.problem) log.warn(taken.problem, 'handover of the previous process not usable');
  let running: Daemon | null = null;
  const service = createServiceManager(io.env, (err) => log.warn({ err }, 'sd_notify failed'), {
    isAlive: () => running?.isAlive() ?? true,
    needsHelper: () => log.warn('without koffi, notifications to systemd need NotifyAccess=all in the unit'),
  });
  exitOnUncaughtError(log);

  const signals = catchSignals();
  const hangups = catchHangups();
  const restarts = createRestarts(libc !== null);
  const loadControlPlane = async () => {
    const loaded = await load();
    const credentials = await readAdminCredentials(io.env);
    if (running === null) warnOfConfig(loaded, credentials, log);
    const source = { ...loaded, needsRestart: async () => needsRestart(loaded, await read()) };
    const options = { config: loaded.config, source, given: credentials, log, recentLog, restarts };
    return { options, ...(await import('../../parts/control-plane.js')) };
  };
  let sockets: readonly GivenSocket[] = givenSockets(io.env);
  let { handed } = taken;
  // Also one that comes during a restart.
  const signal = signals.next();
  for (;;) {
    const daemon = await startDaemon({ config, sources, log, sockets, handed, loadControlPlane }).catch(
      async (error: unknown) => {
        const { storeOptions } = await import('../../parts/database/database.js');
        const { explainStartError } = await import('../../store/store.js');
        throw await explainStartError(error, storeOptions((await load()).config));
      },
    );
    running = daemon;
    const loaded = await load();
    reportReady(daemon, loaded, log, io);
    await service.ready();
    if (service.canStore) await service.emptyStore();
    hangups.handle(() => reload(read, loaded, daemon, log));
    const cause = await Promise.race([signal, restarts.requested(), daemon.broken]);
    if (cause === 'restart') {
      if (libc === null) throw new Error('a restart needs direct system calls');
      handed = await replaceProgram(libc, daemon, service, restarts, signal, log);
      // Those from systemd are handed over too.
      sockets = [];
      continue;
    }
    if (libc && service.canStore && typeof cause === 'string' && (await isRestarting(io.env))) {
      log.info({ signal: cause }, 'stopping for a restart');
      await leaveWithSystemd(libc, daemon, service, log);
    }
    const exitCode = await stopDaemon(daemon, cause, signals, service, log);
    await flush(log);
    if (typeof cause === 'object' && cause.hasStuckThread) process.kill(process.pid, 'SIGKILL');
    // Exit even if an open handle, such as an agent's pipe or the debugger port, would keep the process running.
    process.exit(exitCode);
  }
}

function warnOfConfig({ warnings }: Loaded, { password, givenBy }: GivenCredentials, log: Logger): void {
  for (const warning of warnings) log.warn({}, warning);
  const limitBytes = lowAddressSpace();
  if (limitBytes !== null)
    log.warn({ limitBytes }, 'address space too small for V8; raise ulimit -v or LimitAS= to 4 GiB or more');
  if (password !== undefined && [...password].length < MIN_PASSWORD_CHARACTERS)
    log.warn(
      { givenBy: givenBy?.password, atLeast: MIN_PASSWORD_CHARACTERS },
      'administrator password is too short',
    );
}

/** Lets the program on disk continue in this process. Resolves only when that fails: with what this program continues with. */
async function replaceProgram(
  libc: Libc,
  daemon: Daemon,
  service: ServiceManager,
  restarts: Restarts,
  signal: Promise<NodeJS.Signals>,
  log: Logger,
): Promise<Carried> {
  log.info({}, 'restarting');
  await service.restarting();
  const leaving = daemon.handOver();
  const problem = await packWhileStopping(libc, leaving).then(async (parcel) => {
    await flush(log);
    // The next program would not hear of it.
    const stopped = await Promise.race([signal, turn(null)]);
    return execute(libc, parcel, process.env, stopped);
  }, String);
  log.error({ problem }, 'restart failed; continuing with the running program');
  await daemon.endRest();
  restarts.failed(problem);
  return leaving.carried;
}

/** Hands over to the process that systemd starts next, and exits. */
async function leaveWithSystemd(
  libc: Libc,
  daemon: Daemon,
  service: ServiceManager,
  log: Logger,
): Promise<never> {
  void service.stopping();
  let exitCode = 0;
  try {
    await service.store(await packWhileStopping(libc, daemon.handOver()));
    log.info({}, 'stopped');
  } catch (err) {
    log.error({ err }, 'handover failed');
    exitCode = EXIT_FAILED;
  }
  await flush(log);
  // At once: players wait, and Node would first end every thread.
  return libc.exit(exitCode);
}

/** The service manager starts the daemon again after exit code 1, and after SIGKILL (137). */
export function exitCodeAfter(cause: NodeJS.Signals | PlaneFailure, isClean: boolean): number {
  if (typeof cause === 'object') return cause.hasStuckThread ? EXIT_KILLED : EXIT_FAILED;
  return isClean ? 0 : EXIT_STOP_FAILED;
}

/** The daemon continues when the readers of its output are gone (EPIPE). The log, too, ignores that. */
function ignoreClosedOutput({ stdout, stderr }: CommandIo): void {
  for (const stream of [stdout, stderr]) stream.removeAllListeners('error').on('error', () => {});
}

async function stopDaemon(
  daemon: Daemon,
  cause: NodeJS.Signals | PlaneFailure,
  signals: Signals,
  service: ServiceManager,
  log: Logger,
): Promise<number> {
  if (typeof cause === 'string') log.info({ signal: cause }, 'stopping');
  else log.error({}, 'data plane failed; stopping');
  void service.stopping();
  const stopped = daemon.stop();
  void signals.next().then(() => {
    void daemon.stop();
    setTimeout(() => process.exit(1), FORCED_EXIT_MS).unref();
  });
  const exitCode = exitCodeAfter(cause, await stopped);
  service.close();
  if (exitCode === 0) log.info({}, 'stopped');
  else log.error({ exitCode }, 'stopped with errors');
  return exitCode;
}

function reportReady(
  daemon: Daemon,
  { config, file }: Loaded,
  log: Logger,
  { env, stderr, stdout }: CommandIo,
): void {
  const ready = {
    ...daemon.ready,
    version: readVersion(),
    node: process.version,
    dataDir: config.dataDir,
    config: file,
  };
  // Scripts wait for this line, so write it at every log level.
  if (log.isLevelEnabled('info')) log.info(ready, 'ready');
  else
    stdout.write(
      `${JSON.stringify({ level: 'info', time: new Date().toISOString(), msg: 'ready', ...ready })}\n`,
    );
  if (daemon.firstRun)
    stderr.write(
      firstRunBanner(daemon.firstRun, daemon.ready, {
        isJournal: !stderr.isTTY && isService(env),
        certificate: daemon.certificate,
        certificateFile: config.admin.tls.cert ?? '',
      }),
    );
}

const isService = (env: CommandIo['env']): boolean =>
  env['INVOCATION_ID'] !== undefined || env['JOURNAL_STREAM'] !== undefined;

/** Logs an uncaught exception and exits, so that the service manager restarts the daemon. */
function exitOnUncaughtError(log: Logger): void {
  const exit = (error: unknown) => {
    log.fatal({ err: error }, 'uncaught exception; exiting');
    void flush(log).then(() => process.exit(1));
    setTimeout(() => process.exit(1), 1000).unref();
  };
  process.on('uncaughtException', exit);
  process.on('unhandledRejection', exit);
}

function flush(log: Logger): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, FLUSH_MS);
    log.flush(() => resolve());
  });
}
