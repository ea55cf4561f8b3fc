// Runs the daemon until a signal ends it, for `pulsegate serve`.
import type { Command } from 'commander';
import { changedKeys } from '../config/changed-keys.js';
import { adminCredentialsGivenBy, readAdminCredentials } from '../config/credentials.js';
import type { Override } from '../config/overrides.js';
import { type Loaded, loadConfig } from '../config.js';
import { MIN_ADMIN_PASSWORD_CHARACTERS } from '../core/auth/admin-credentials.js';
import type { Daemon } from '../daemon.js';
import { createLogger, type Logger } from '../log.js';
import { readVersion } from '../program.js';
import type { Broken } from '../proxy/plane.js';
import { createServiceManager, type ServiceManager } from '../systemd.js';
import { givenSockets } from '../systemd-sockets.js';
import type { Surroundings } from './command.js';
import { firstRunBanner } from './first-run.js';

/** What a flag of `serve` sets. */
const FLAGS: Readonly<Record<string, readonly string[]>> = {
  dataDir: ['dataDir'],
  socksHost: ['socks', 'host'],
  socksPort: ['socks', 'port'],
  adminHost: ['admin', 'host'],
  adminPort: ['admin', 'port'],
  logLevel: ['log', 'level'],
};

/** How long an end that was asked for twice may take, in ms. */
const FORCED_END_MS = 5000;
/** How long the log may take to write its last lines, in ms: its reader may have stopped reading. */
const FLUSH_MS = 1000;
/** Stopped as asked, but a part of the daemon did not stop in order: the log names it, and what it had not written is lost. */
const EXIT_NOT_IN_ORDER = 3;
/** It could not go on: the service manager is to start it again. */
const EXIT_BROKEN = 1;

/** Runs the daemon that `command` describes; resolves never, the process ends by its exit code. */
export async function serve(command: Command, around: Surroundings): Promise<void> {
  const { config: file } = command.optsWithGlobals<{ config?: string }>();
  const read = () => loadConfig({ file, env: around.env, flags: overrides(command) });
  const loaded = await read();
  const given = {
    ...(await readAdminCredentials(around.env)),
    givenBy: await adminCredentialsGivenBy(around.env),
  };
  const log = createLogger({ level: loaded.config.log.level });
  for (const warning of loaded.warnings) log.warn({}, warning);
  if (given.password !== undefined && [...given.password].length < MIN_ADMIN_PASSWORD_CHARACTERS)
    log.warn(
      { givenBy: given.givenBy.password, atLeast: MIN_ADMIN_PASSWORD_CHARACTERS },
      'the administrator password is too short: choose a longer one',
    );
  let running: Daemon | null = null;
  const service = createServiceManager(around.env, (err) => log.warn({ err }, 'sd_notify failed'), {
    isAlive: () => running?.isAlive() ?? true,
  });
  endOnBreakage(log);

  const signals = catchSignals();
  const { startDaemon } = await import('../daemon.js');
  const source = { ...loaded, needsRestart: async () => needsRestart(loaded, await read()) };
  const sockets = givenSockets(around.env);
  const daemon = await startDaemon({ config: loaded.config, source, log, given, sockets });
  running = daemon;
  const firstSignal = signals.next();
  sayReady(daemon, loaded, log, around);
  await service.ready();
  process.on('SIGHUP', () => void reload(read, loaded, daemon, log));
  const cause = await Promise.race([firstSignal, daemon.broken]);
  const isInOrder = await untilStopped(daemon, cause, signals, service, log);
  await flush(log);
  if (typeof cause === 'object') endBroken(cause);
  // Whatever might still hold the process (an agent's pipe, a console on the debugger port) no longer matters.
  process.exit(isInOrder ? 0 : EXIT_NOT_IN_ORDER);
}

/** The service manager starts the daemon again after exit code 1, and after SIGKILL. */
function endBroken({ hasUnendableThread }: Broken): never {
  if (hasUnendableThread) process.kill(process.pid, 'SIGKILL');
  process.exit(EXIT_BROKEN);
}

function overrides(command: Command): Override[] {
  return Object.entries(FLAGS).flatMap(([name, path]) => {
    const text: unknown = command.opts()[name];
    const where = `flag --${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    return typeof text === 'string' ? [{ path, text, where }] : [];
  });
}

/** Takes over SIGTERM and SIGINT. One that nobody waits for ends the process at once: during the start, or the third. */
function catchSignals(): { next(): Promise<NodeJS.Signals> } {
  let waiting: ((signal: NodeJS.Signals) => void) | null = null;
  let exitCode = 0;
  for (const name of ['SIGTERM', 'SIGINT'] as const) {
    process.on(name, (signal) => {
      if (!waiting) process.exit(exitCode);
      waiting(signal);
      waiting = null;
      exitCode = 1;
    });
  }
  return {
    next: () =>
      new Promise((resolve) => {
        waiting = resolve;
      }),
  };
}

async function untilStopped(
  daemon: Daemon,
  cause: NodeJS.Signals | Broken,
  signals: { next(): Promise<NodeJS.Signals> },
  service: ServiceManager,
  log: Logger,
): Promise<boolean> {
  if (typeof cause === 'string') log.info({ signal: cause }, 'stopping');
  else log.error({}, 'data plane failed; stopping');
  void service.stopping();
  const stopped = daemon.stop();
  void signals.next().then(() => {
    void daemon.stop();
    setTimeout(() => process.exit(1), FORCED_END_MS).unref();
  });
  const isInOrder = await stopped;
  service.close();
  if (isInOrder) log.info({}, 'stopped');
  else log.error({ exitCode: EXIT_NOT_IN_ORDER }, 'stopped with errors');
  return isInOrder;
}

function sayReady(
  daemon: Daemon,
  { config, file }: Loaded,
  log: Logger,
  { env, stderr, stdout }: Surroundings,
): void {
  const ready = {
    ...daemon.ready,
    version: readVersion(),
    node: process.version,
    dataDir: config.dataDir,
    config: file,
  };
  // Scripts wait for this line, whatever the level of the log.
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

function isService(env: Surroundings['env']): boolean {
  return env['INVOCATION_ID'] !== undefined || env['JOURNAL_STREAM'] !== undefined;
}

/** What SIGHUP takes over: texts and files that these keys name. All others need a restart. */
const RELOADED: ReadonlySet<string> = new Set([
  'log.level',
  'webhooks.secret',
  'webhooks.secretFile',
  'webhooks.previousSecret',
  'webhooks.previousSecretFile',
]);

/** Of `admin.tls` the pair that is served is replaced; HTTPS itself is settled at the start. */
const isReloaded = (key: string, hasTls: boolean): boolean =>
  RELOADED.has(key) || (hasTls && (key === 'admin.tls.cert' || key === 'admin.tls.key'));

/** The keys that have changed since the start, and that SIGHUP does not take over. */
function needsRestart(started: Loaded, { config, settings }: Loaded): string[] {
  const hasTls = started.config.admin.tls.cert !== null && config.admin.tls.cert !== null;
  return changedKeys(started.settings, settings).filter((key) => !isReloaded(key, hasTls));
}

/** SIGHUP: what can be taken over takes effect at once; other keys that have changed since the start are named. */
async function reload(
  read: () => Promise<Loaded>,
  started: Loaded,
  daemon: Daemon,
  log: Logger,
): Promise<void> {
  try {
    const now = await read();
    daemon.reload(now.config);
    log.level = now.config.log.level;
    const needRestart = needsRestart(started, now);
    if (needRestart.length > 0)
      log.warn({ needRestart }, 'configuration reloaded; some changed keys need a restart');
    else log.info({}, 'configuration reloaded');
  } catch (error) {
    log.error({ err: error }, 'configuration reload failed; the old one stays in effect');
  }
}

/** A defect must not leave a half-working daemon: it is logged, and the service manager starts a new one. */
function endOnBreakage(log: Logger): void {
  const end = (error: unknown) => {
    log.fatal({ err: error }, 'uncaught exception; exiting');
    void flush(log).then(() => process.exit(1));
    setTimeout(() => process.exit(1), 1000).unref();
  };
  process.on('uncaughtException', end);
  process.on('unhandledRejection', end);
}

function flush(log: Logger): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, FLUSH_MS);
    log.flush(() => resolve());
  });
}
