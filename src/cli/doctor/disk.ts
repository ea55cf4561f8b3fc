// `pulsegate doctor`: checks the free disk space of the data folder.
import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Finding } from './finding.js';

const MIB = 1024 * 1024;
/** Below this, SQLite writes fail: each needs space for the write-ahead log. */
const STOP_BYTES = 16 * MIB;
/** Below this, a busy day or a backup may fill the disk. */
const WARN_BYTES = 512 * MIB;

/** Checks the file system of `dataDir`, which need not exist yet. No finding if the system does not report free space. */
export async function checkDisk(dataDir: string): Promise<Finding[]> {
  const found = await statfs(dataDir).catch(() => null);
  if (found) return [freeSpaceFinding(dataDir, found.bavail * found.bsize)];
  return dataDir === dirname(dataDir) ? [] : checkDisk(dirname(dataDir));
}

/** @param bytes space available to an unprivileged user */
export function freeSpaceFinding(folder: string, bytes: number): Finding {
  const text = `${Math.floor(bytes / MIB)} MiB free in ${folder}`;
  const check = 'disk';
  if (bytes < STOP_BYTES)
    return { check, state: 'stop', text: `${text}: database writes will fail; free disk space` };
  if (bytes < WARN_BYTES) return { check, state: 'warn', text: `${text}: low disk space; free disk space` };
  return { check, state: 'ok', text };
}
