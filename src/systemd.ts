// Tells systemd how the daemon is (sd_notify(3)): by a datagram to NOTIFY_SOCKET. Node has no Unix datagram sockets; where
// the data plane's direct system calls are not there either, systemd's own tool sends for us, which the unit allows with
// NotifyAccess=all. One helper process, started before there is anything else, runs the tool: a sign of life costs this
// process neither a fork nor a descriptor, which a crowd at its ports may have used up.
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { type NotifySocket, openNotifySocket } from './proxy/io/native/notify.js';

export interface ServiceManager {
  /** Every listener is up. Starts the watchdog's signs of life, if the unit asks for them. */
  ready(): Promise<void>;
  stopping(): Promise<void>;
  /** Ends the signs of life. */
  close(): void;
}

export interface ServiceManagerOptions {
  /** Asked before each of the watchdog's signs of life: false withholds it. */
  readonly isAlive?: () => boolean;
  /** null: there are no direct system calls here. */
  readonly openSocket?: (path: string) => NotifySocket | null;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Runs the tool for every line it reads, and answers each with its exit status and what it had to say. It ends with its input:
 * a signal to the whole unit must not end it before "stopping" is sent.
 */
const HELPER = `set -f
trap '' TERM INT HUP
while IFS= read -r states; do
  said=$(systemd-notify $states 2>&1)
  echo "$? $said" | tr '\\n' ' '
  echo
done`;

const ANSWER_TIMEOUT_MS = 10_000;
const RETRY_MS = 50;

/**
 * Speaks to the service manager named by NOTIFY_SOCKET; without one every call does nothing.
 * A message that cannot be sent goes to `failed` and never stops the daemon.
 */
export function createServiceManager(
  env: Environment,
  failed: (error: Error) => void,
  { isAlive = () => true, openSocket = openNotifySocket }: ServiceManagerOptions = {},
): ServiceManager {
  let watchdog: NodeJS.Timeout | undefined;
  const path = env['NOTIFY_SOCKET'];
  const socket = path ? openSocket(path) : null;
  const newHelper = (): Helper => startHelper({ PATH: env['PATH'], NOTIFY_SOCKET: path }, failed);
  let helper = path && !socket ? newHelper() : null;

  function send(...states: string[]): Promise<void> {
    if (!path) return Promise.resolve();
    if (socket) return sendTo(socket, states.join('\n'), failed);
    if (!helper?.isAlive()) helper = newHelper();
    return helper.send(states.join(' '));
  }

  return {
    async ready() {
      await send('READY=1', 'STATUS=Ready');
      const intervalMs = watchdogIntervalMs(env);
      if (intervalMs === null) return;
      // From the main loop: when that hangs, or a worker of the data plane does, the signs of life stop and systemd
      // restarts the daemon.
      watchdog = setInterval(() => {
        if (isAlive()) void send('WATCHDOG=1');
      }, intervalMs);
    },
    async stopping() {
      await send('STOPPING=1', 'STATUS=Stopping');
    },
    close() {
      clearInterval(watchdog);
      helper?.close();
      socket?.close();
    },
  };
}

/** A manager that is behind (EAGAIN) is tried again for a while. */
async function sendTo(socket: NotifySocket, text: string, failed: (error: Error) => void): Promise<void> {
  let code = socket.send(text);
  for (let waitedMs = 0; code === 'EAGAIN' && waitedMs < ANSWER_TIMEOUT_MS; waitedMs += RETRY_MS) {
    await pause(RETRY_MS, undefined, { ref: false });
    code = socket.send(text);
  }
  if (code !== null) failed(new Error(`NOTIFY_SOCKET: ${code}`));
}

interface Helper {
  isAlive(): boolean;
  /** Resolves once the message is sent, or has failed and is reported. */
  send(states: string): Promise<void>;
  close(): void;
}

function startHelper(env: Environment, failed: (error: Error) => void): Helper {
  const child: ChildProcessByStdio<Writable, Readable, null> = spawn('/bin/sh', ['-c', HELPER], {
    env,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const waiting: ((error: Error | null) => void)[] = [];
  let isAlive = true;
  const end = (error: Error): void => {
    isAlive = false;
    for (const settle of waiting.splice(0)) settle(error);
  };
  child.once('error', end);
  child.once('exit', (code, signal) => end(new Error(`the helper for systemd ended (${code ?? signal})`)));
  child.stdin.on('error', end);
  createInterface({ input: child.stdout }).on('line', (line) => {
    const [, status = '', said = ''] = /^(\d+) ?(.*)$/.exec(line) ?? [];
    waiting.shift()?.(
      status === '0' ? null : new Error(`systemd-notify: ${said.trim() || `status ${status}`}`),
    );
  });
  // Nothing here keeps the daemon from ending.
  child.unref();
  for (const stream of [child.stdin, child.stdout]) (stream as unknown as { unref?(): void }).unref?.();

  return {
    isAlive: () => isAlive,
    send: (states) =>
      new Promise((resolve) => {
        const timer = setTimeout(
          () => settle(new Error('systemd-notify does not answer')),
          ANSWER_TIMEOUT_MS,
        );
        const settle = (error: Error | null): void => {
          clearTimeout(timer);
          if (error) failed(error);
          resolve();
        };
        waiting.push(settle);
        if (isAlive) child.stdin.write(`${states}\n`);
        else end(new Error('the helper for systemd could not be started'));
      }),
    close() {
      isAlive = false;
      child.stdin.end();
    },
  };
}

/** Half of what the unit's WatchdogSec allows, as sd_watchdog_enabled(3) recommends; null when it is off. */
function watchdogIntervalMs(env: Environment): number | null {
  const usec = Number(env['WATCHDOG_USEC']);
  const forUs = env['WATCHDOG_PID'] === undefined || env['WATCHDOG_PID'] === String(process.pid);
  return env['NOTIFY_SOCKET'] && forUs && usec > 0 ? Math.max(1, Math.floor(usec / 2000)) : null;
}
