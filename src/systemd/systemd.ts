// sd_notify(3): reports the state of the daemon to systemd by datagrams to NOTIFY_SOCKET. Node has no Unix datagram sockets,
// so this uses the direct system calls of the data plane. Without them, it runs systemd-notify, which needs NotifyAccess=all
// in the unit, and the log says so. One helper process, started early, runs systemd-notify for every message: a watchdog message then needs no fork
// and no free file descriptor.
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { tryOr } from '../core/errors.js';
import { MAX_PARCEL, sendDescriptor } from '../proxy/io/native/carrier.js';
import { AF_UNIX, codeOf, loadLibc, SOCK_DGRAM } from '../proxy/io/native/libc.js';
import { PARCEL_NAME } from './sockets.js';

export type ServiceManager = ReturnType<typeof createServiceManager>;

export interface ServiceManagerOptions {
  /** Called before each watchdog message; false suppresses the message. */
  readonly isAlive?: () => boolean;
  /** Called when systemd-notify sends the messages. */
  readonly needsHelper?: () => void;
  /** Returns null when direct system calls are not available. */
  readonly openSocket?: typeof openNotifySocket | (() => null);
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Runs systemd-notify for every line of stdin, and prints its exit status and output. Exits at the end of stdin. It ignores
 * signals to the whole unit, so that it can still send STOPPING=1.
 */
const HELPER = `set -f
trap '' TERM INT HUP
while IFS= read -r states; do
  output=$(systemd-notify $states 2>&1)
  echo "$? $output" | tr '\\n' ' '
  echo
done`;

const ANSWER_TIMEOUT_MS = 10_000;
const RETRY_MS = 50;
/** How long a program that replaces this one may take to start, in µs: TimeoutStartSec= of our unit. */
const RESTART_USEC = 15 * 60 * 1_000_000;

/**
 * Sends messages to NOTIFY_SOCKET; without it, every call does nothing.
 * Calls `failed` when a message cannot be sent. A failure never stops the daemon.
 */
export function createServiceManager(
  env: Environment,
  failed: (error: Error) => void,
  { isAlive = () => true, needsHelper = () => {}, openSocket = openNotifySocket }: ServiceManagerOptions = {},
) {
  let watchdog: NodeJS.Timeout | undefined;
  const path = env['NOTIFY_SOCKET'];
  const socket = path ? openSocket(path) : null;
  const newHelper = () => startHelper({ PATH: env['PATH'], NOTIFY_SOCKET: path }, failed);
  let helper = path && !socket ? newHelper() : null;
  if (helper) needsHelper();

  function send(...states: string[]): Promise<void> {
    if (!path) return Promise.resolve();
    if (socket) return untilSent(() => socket.send(states.join('\n')), failed);
    if (!helper?.isAlive()) helper = newHelper();
    return helper.send(states.join(' '));
  }

  return {
    /** Sends READY=1 and starts the watchdog messages if the unit sets WatchdogSec=. */
    async ready(): Promise<void> {
      await send('READY=1', 'STATUS=Ready');
      const intervalMs = watchdogIntervalMs(env);
      if (intervalMs === null) return;
      await send(`WATCHDOG_USEC=${env['WATCHDOG_USEC']}`);
      // This timer runs in the main event loop. When the loop or a worker of the data plane hangs, the messages stop and
      // systemd restarts the daemon.
      watchdog = setInterval(() => {
        if (isAlive()) void send('WATCHDOG=1');
      }, intervalMs);
    },
    async stopping(): Promise<void> {
      await send('STOPPING=1', 'STATUS=Stopping');
    },
    /** Before another program replaces this one, which then sends no messages until it is ready. */
    async restarting(): Promise<void> {
      clearInterval(watchdog);
      // A migration may take as long as TimeoutStartSec= of the unit allows.
      if (watchdogIntervalMs(env) !== null) await send(`WATCHDOG_USEC=${RESTART_USEC}`);
      await send('STATUS=Restarting');
    },
    /** Whether descriptors can be left with systemd. */
    canStore: socket !== null,
    /** Leaves a parcel (carrier.ts) with systemd for the next start (FDSTORE=1, sd_pid_notify_with_fds(3)). */
    async store(parcel: readonly number[]): Promise<void> {
      for (const [i, fd] of parcel.entries()) {
        // Without FDPOLL=0 systemd drops a pair of which the other end is closed.
        const text = `FDSTORE=1\nFDNAME=${PARCEL_NAME}${i}\nFDPOLL=0`;
        await untilSent(() => socket?.sendDescriptor(text, fd) ?? null, failed);
      }
    },
    /** Removes what an earlier process has left: it is taken. */
    async emptyStore(): Promise<void> {
      for (let i = 0; i < MAX_PARCEL; i += 1) await send('FDSTOREREMOVE=1', `FDNAME=${PARCEL_NAME}${i}`);
    },
    /** Stops the watchdog messages. */
    close(): void {
      clearInterval(watchdog);
      helper?.close();
      socket?.close();
    },
  };
}

/** Retries for a while when the receive buffer of systemd is full (EAGAIN). @param attempt returns a system error code, or null */
async function untilSent(attempt: () => string | null, failed: (error: Error) => void): Promise<void> {
  let code = attempt();
  for (let waitedMs = 0; code === 'EAGAIN' && waitedMs < ANSWER_TIMEOUT_MS; waitedMs += RETRY_MS) {
    await pause(RETRY_MS, undefined, { ref: false });
    code = attempt();
  }
  if (code !== null) failed(new Error(`NOTIFY_SOCKET: ${code}`));
}

function startHelper(env: Environment, failed: (error: Error) => void) {
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
  child.once('exit', (code, signal) => end(new Error(`systemd-notify helper exited (${code ?? signal})`)));
  child.stdin.on('error', end);
  createInterface({ input: child.stdout }).on('line', (line) => {
    const [, status = '', output = ''] = /^(\d+) ?(.*)$/.exec(line) ?? [];
    waiting.shift()?.(
      status === '0' ? null : new Error(`systemd-notify: ${output.trim() || `status ${status}`}`),
    );
  });
  // The helper must not keep the process running.
  child.unref();
  for (const stream of [child.stdin, child.stdout]) (stream as unknown as { unref?(): void }).unref?.();

  return {
    isAlive: () => isAlive,
    /** Resolves when the message is sent, or when its failure is reported. */
    send: (states: string): Promise<void> =>
      new Promise((resolve) => {
        const timer = setTimeout(() => settle(new Error('systemd-notify timed out')), ANSWER_TIMEOUT_MS);
        const settle = (error: Error | null): void => {
          clearTimeout(timer);
          if (error) failed(error);
          resolve();
        };
        waiting.push(settle);
        if (isAlive) child.stdin.write(`${states}\n`);
        else end(new Error('systemd-notify helper could not be started'));
      }),
    close() {
      isAlive = false;
      // Closing the helper is not a failure of the pending messages.
      for (const settle of waiting.splice(0)) settle(null);
      child.stdin.end();
    },
  };
}

/** Half of WatchdogSec=, as sd_watchdog_enabled(3) recommends; null when the watchdog is off. */
function watchdogIntervalMs(env: Environment): number | null {
  const usec = Number(env['WATCHDOG_USEC']);
  const forUs = env['WATCHDOG_PID'] === undefined || env['WATCHDOG_PID'] === String(process.pid);
  return env['NOTIFY_SOCKET'] && forUs && usec > 0 ? Math.max(1, Math.floor(usec / 2000)) : null;
}

/**
 * Opens a socket for datagrams to `path`; one that begins with `@` is an abstract address (unix(7)).
 * @returns null where there are no direct system calls, or no descriptor
 */
function openNotifySocket(path: string) {
  const libc = tryOr(null, loadLibc);
  if (libc === null) return null;
  const fd = libc.socket(AF_UNIX, SOCK_DGRAM);
  if (fd < 0) return null;
  const isAbstract = path.startsWith('@');
  const name = Buffer.from(path);
  if (isAbstract) name[0] = 0;
  // The length of an abstract address is its end; a path ends with a NUL.
  const address = Buffer.concat([Buffer.from([AF_UNIX, 0]), name, Buffer.alloc(isAbstract ? 0 : 1)]);
  return {
    /** @returns null once it is sent; else a system error code, EAGAIN when the receiver is behind */
    send(text: string): string | null {
      const bytes = Buffer.from(text);
      return libc.sendTo(fd, bytes, bytes.length, address, address.length) < 0 ? codeOf(libc.errno()) : null;
    },
    /** Sends a descriptor with the text. */
    sendDescriptor: (text: string, given: number): string | null =>
      sendDescriptor(libc, fd, address, text, given),
    close: () => void libc.close(fd),
  };
}
