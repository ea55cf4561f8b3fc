// Tells systemd how the daemon is (sd_notify). Node has no Unix datagram sockets, so systemd's own tool sends for us;
// the unit allows that with NotifyAccess=all.
import { execFile } from 'node:child_process';

export interface ServiceManager {
  /** Every listener is up. Starts the watchdog's signs of life, if the unit asks for them. */
  ready(): Promise<void>;
  stopping(): Promise<void>;
  /** Ends the signs of life. */
  close(): void;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Speaks to the service manager named by NOTIFY_SOCKET; without one every call does nothing.
 * A message that cannot be sent goes to `failed` and never stops the daemon.
 */
export function createServiceManager(env: Environment, failed: (error: Error) => void): ServiceManager {
  let watchdog: NodeJS.Timeout | undefined;
  const socket = env['NOTIFY_SOCKET'];

  function send(...states: string[]): Promise<void> {
    if (!socket) return Promise.resolve();
    return new Promise((resolve) => {
      const options = { env: { PATH: env['PATH'], NOTIFY_SOCKET: socket }, timeout: 10_000 };
      execFile('systemd-notify', states, options, (error) => {
        if (error) failed(error);
        resolve();
      });
    });
  }

  return {
    async ready() {
      await send('READY=1', 'STATUS=Ready');
      const intervalMs = watchdogIntervalMs(env);
      // From the main loop: when that hangs, the signs of life stop and systemd restarts the daemon.
      if (intervalMs !== null) watchdog = setInterval(() => void send('WATCHDOG=1'), intervalMs);
    },
    async stopping() {
      await send('STOPPING=1', 'STATUS=Stopping');
    },
    close() {
      clearInterval(watchdog);
    },
  };
}

/** Half of what the unit's WatchdogSec allows, as sd_watchdog_enabled(3) recommends; null when it is off. */
function watchdogIntervalMs(env: Environment): number | null {
  const usec = Number(env['WATCHDOG_USEC']);
  const forUs = env['WATCHDOG_PID'] === undefined || env['WATCHDOG_PID'] === String(process.pid);
  return env['NOTIFY_SOCKET'] && forUs && usec > 0 ? Math.max(1, Math.floor(usec / 2000)) : null;
}
