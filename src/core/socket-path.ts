// What the path of a Unix socket may be.

/** unix(7): `sun_path` has 108 bytes with the final NUL. */
export const MAX_SOCKET_PATH_BYTES = 107;

/** Whether a Unix socket can have this path. */
export function isSocketPath(path: string): boolean {
  return path !== '' && !path.includes('\0') && Buffer.byteLength(path) <= MAX_SOCKET_PATH_BYTES;
}
