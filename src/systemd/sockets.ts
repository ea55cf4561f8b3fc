// systemd socket activation (sd_listen_fds(3)): listening sockets that systemd opens and passes to the daemon. Ports below
// 1024 then need no capability, and new connections wait in the backlog while the daemon restarts.

/** SD_LISTEN_FDS_START: the first file descriptor that systemd passes. */
const FIRST_FD = 3;

type Environment = Readonly<Record<string, string | undefined>>;

export interface GivenSocket {
  readonly fd: number;
  /** `admin` for sockets with FileDescriptorName=admin, else `socks`. */
  readonly use: 'socks' | 'admin';
}

/**
 * The sockets of LISTEN_FDS if LISTEN_PID is this process. Sockets named `admin` serve the admin API. All other sockets serve
 * players: those named `socks…`, those without a name, and those named after their unit (the default).
 */
export function givenSockets(env: Environment, pid: number = process.pid): GivenSocket[] {
  return named(env, pid)
    .filter(({ name }) => !name.startsWith(PARCEL_NAME))
    .map(({ fd, name }) => ({ fd, use: name === 'admin' ? 'admin' : 'socks' }));
}

/** The name of each descriptor of a parcel in the descriptor store, before its number. */
export const PARCEL_NAME = 'handover-';

/** The parcel that the process before has left in the descriptor store (carrier.ts), in its order; empty: there is none. */
export function storedParcel(env: Environment, pid: number = process.pid): number[] {
  return named(env, pid)
    .filter(({ name }) => name.startsWith(PARCEL_NAME))
    .sort((a, b) => a.name.localeCompare(b.name))
    .map(({ fd }) => fd);
}

function named(env: Environment, pid: number): { readonly fd: number; readonly name: string }[] {
  const count = Number(env['LISTEN_FDS']);
  if (env['LISTEN_PID'] !== String(pid) || !Number.isInteger(count) || count <= 0) return [];
  const names = env['LISTEN_FDNAMES']?.split(':') ?? [];
  return Array.from({ length: count }, (_, i) => ({ fd: FIRST_FD + i, name: names[i] ?? '' }));
}
