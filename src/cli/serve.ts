// `pulsegate serve`: runs the daemon until a signal ends it.
import type { Command } from 'commander';
import { type App, startApp } from '../app.js';
import { readAdminCredentials } from '../config/credentials.js';
import type { Override } from '../config/overrides.js';
import { type Loaded, loadConfig } from '../config.js';
import { createLogger, type Logger } from '../log.js';
import { createServiceManager, type ServiceManager } from '../systemd.js';
import { readVersion } from '../version.js';
import type { AddCommands, Surroundings } from './command.js';
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

export const addServe: AddCommands = (program, around) => {
  program
    .command('serve')
    .description('run the daemon')
    .option('--data-dir <folder>', 'where the database is')
    .option('--socks-host <address>', 'where players connect')
    .option('--socks-port <port>', '0 picks a free one')
    .option('--admin-host <address>', 'where the account API and the console are')
    .option('--admin-port <port>', '0 picks a free one')
    .option('--log-level <level>', 'trace, debug, info, warn, error, fatal or silent')
    .addHelpText(
      'after',
      '\nExample:\n  pulsegate serve --config /etc/pulsegate/pulsegate.yaml --socks-port 1081',
    )
    .action(async (_options, command: Command) => serve(command, around));
};

async function serve(command: Command, around: Surroundings): Promise<void> {
  const { config: file } = command.optsWithGlobals<{ config?: string }>();
  const read = () => loadConfig({ file, env: around.env, flags: overrides(command) });
  const loaded = await read();
  const given = await readAdminCredentials(around.env);
  const log = createLogger({ level: loaded.config.log.level });
  for (const warning of loaded.warnings) log.warn({}, warning);
  const service = createServiceManager(around.env, (err) => log.warn({ err }, 'systemd could not be told'));
  endOnBreakage(log);

  const signals = catchSignals();
  const app = await startApp(loaded.config, log, given, loaded);
  const firstSignal = signals.next();
  sayReady(app, loaded, log, around);
  await service.ready();
  process.on('SIGHUP', () => void reload(read, app, log));
  await untilStopped(app, firstSignal, signals, service, log);
  await flush(log);
  // Whatever might still hold the process (an agent's pipe, a console on the debugger port) no longer matters.
  process.exit(0);
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
  app: App,
  firstSignal: Promise<NodeJS.Signals>,
  signals: { next(): Promise<NodeJS.Signals> },
  service: ServiceManager,
  log: Logger,
): Promise<void> {
  const signal = await firstSignal;
  log.info({ signal }, 'stopping; a second signal ends at once');
  void service.stopping();
  const stopped = app.stop();
  void signals.next().then(() => {
    void app.stop();
    setTimeout(() => process.exit(1), FORCED_END_MS).unref();
  });
  await stopped;
  service.close();
  log.info({}, 'stopped');
}

function sayReady(
  app: App,
  { config, file }: Loaded,
  log: Logger,
  { env, stderr, stdout }: Surroundings,
): void {
  const ready = {
    ...app.ready,
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
  if (app.firstRun)
    stderr.write(
      firstRunBanner(app.firstRun, app.ready, {
        isJournal: !stderr.isTTY && isService(env),
        certificate: app.certificate,
        certificateFile: config.admin.tls.cert ?? '',
      }),
    );
}

function isService(env: Surroundings['env']): boolean {
  return env['INVOCATION_ID'] !== undefined || env['JOURNAL_STREAM'] !== undefined;
}

/** SIGHUP: the log level and what is read from files of its own take effect at once; other keys need a restart. */
async function reload(read: () => Promise<Loaded>, app: App, log: Logger): Promise<void> {
  try {
    const { config } = await read();
    app.reload(config);
    log.level = config.log.level;
    log.info(
      {},
      'configuration read again: log.level, webhook secrets, key files and the certificate are in effect, other keys need a restart',
    );
  } catch (error) {
    log.error({ err: error }, 'the configuration was not read again; the old one stays');
  }
}

/** A defect must not leave a half-working daemon: it is logged, and the service manager starts a new one. */
function endOnBreakage(log: Logger): void {
  const end = (error: unknown) => {
    log.fatal({ err: error }, 'unexpected error; the daemon ends');
    void flush(log).then(() => process.exit(1));
    setTimeout(() => process.exit(1), 1000).unref();
  };
  process.on('uncaughtException', end);
  process.on('unhandledRejection', end);
}

function flush(log: Logger): Promise<void> {
  return new Promise((resolve) => log.flush(() => resolve()));
}
