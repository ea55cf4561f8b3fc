// What `pulsegate doctor` says of the room left on the disk of the data folder: nothing can be written to a full one.
import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Finding } from './doctor-finding.js';

const MIB = 1024 * 1024;
/** Below it the next writes fail: SQLite needs some room beside the database for each. */
const STOP_BYTES = 16 * MIB;
/** Below it a busy day or a backup may fill the disk. */
const WARN_BYTES = 512 * MIB;

/** Looks at the disk that `dataDir` is on, or will be. A system that does not tell gives no finding. */
export async function checkDisk(dataDir: string): Promise<Finding[]> {
  const found = await statfs(dataDir).catch(() => null);
  if (found) return [judgeRoom(dataDir, found.bavail * found.bsize)];
  return dataDir === dirname(dataDir) ? [] : checkDisk(dirname(dataDir));
}

/** `bytes`: what a user other than root may still write. */
export function judgeRoom(folder: string, bytes: number): Finding {
  const text = `${Math.floor(bytes / MIB)} MiB are free in ${folder}`;
  const check = 'disk';
  if (bytes < STOP_BYTES) return { check, state: 'stop', text: `${text}: nothing can be saved; make room` };
  if (bytes < WARN_BYTES) return { check, state: 'warn', text: `${text}: make room before it is full` };
  return { check, state: 'ok', text };
}
