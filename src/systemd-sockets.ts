// Listening sockets that the service manager has opened and hands over (sd_listen_fds(3)): ports below 1024 need no
// capability then, and connections wait in them while the daemon is started anew.

/** The first descriptor that is handed over. */
const FIRST_FD = 3;

export interface GivenSocket {
  readonly fd: number;
  /** Who is served there: players, unless its FileDescriptorName= is `admin`. */
  readonly use: 'socks' | 'admin';
}

/**
 * The sockets that LISTEN_FDS says are there, if they are meant for this process (LISTEN_PID): those named `admin` are the
 * admin API's, those named `socks…`, not named, or named like their unit by default are players'.
 */
export function givenSockets(
  env: Readonly<Record<string, string | undefined>>,
  pid: number = process.pid,
): GivenSocket[] {
  const count = Number(env['LISTEN_FDS']);
  if (env['LISTEN_PID'] !== String(pid) || !Number.isInteger(count) || count <= 0) return [];
  const names = env['LISTEN_FDNAMES']?.split(':') ?? [];
  return Array.from({ length: count }, (_, i) => {
    const name = names[i] ?? '';
    return { fd: FIRST_FD + i, use: name === 'admin' ? 'admin' : 'socks' };
  });
}
