// `pulsegate doctor`: free space on the disk of the data folder.
import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Finding } from './doctor-finding.js';

const MIB = 1024 * 1024;
/** Below it, the next writes fail: SQLite needs some space beside the database for each. */
const STOP_BYTES = 16 * MIB;
/** Below it a busy day or a backup may fill the disk. */
const WARN_BYTES = 512 * MIB;

/** Looks at the disk that `dataDir` is on, or will be. No finding where the system does not report it. */
export async function checkDisk(dataDir: string): Promise<Finding[]> {
  const found = await statfs(dataDir).catch(() => null);
  if (found) return [judgeRoom(dataDir, found.bavail * found.bsize)];
  return dataDir === dirname(dataDir) ? [] : checkDisk(dirname(dataDir));
}

/** `bytes`: what a user other than root may still write. */
export function judgeRoom(folder: string, bytes: number): Finding {
  const text = `${Math.floor(bytes / MIB)} MiB are free in ${folder}`;
  const check = 'disk';
  if (bytes < STOP_BYTES)
    return { check, state: 'stop', text: `${text}: nothing can be saved; free some space` };
  if (bytes < WARN_BYTES) return { check, state: 'warn', text: `${text}: free some space before it is full` };
  return { check, state: 'ok', text };
}
