// Which database file a write-ahead log belongs to. SQLite applies `pulsegate.db-wal` to whatever file is beside it under the name
// `pulsegate.db`, even to a backup that was put in the place of the database, and so damages it
// (https://www.sqlite.org/howtocorrupt.html, section 1.4). Nothing in the log names its file.
import { randomInt } from 'node:crypto';
import { open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import type { Knex } from 'knex';
import { StartError } from '../../core/errors.js';
import { parseJson } from '../../core/text.js';
import { giveToFolderOwner } from '../data-folder.js';

/** The user version (https://www.sqlite.org/fileformat2.html#user_version_number) is a random mark, which each backup replaces. */
const MARK_AT_BYTE = 60;
const NO_MARK = 0;

/** Written by the daemon when the database is open. */
interface LogRecord {
  /** The marks that the file may have on the disk: a new one is there only after a checkpoint. */
  readonly marks: readonly number[];
  readonly file: string | null;
  readonly log: string | null;
}

const recordFile = (file: string) => `${file}-wal-owner`;
const logOf = (file: string) => `${file}-wal`;

/** Device, inode and time of creation, because inodes are used again; null: there is no such file. */
export async function identityOf(path: string): Promise<string | null> {
  const found = await stat(path, { bigint: true }).catch(() => null);
  return found && `${found.dev}:${found.ino}:${found.birthtimeNs}`;
}

/**
 * Moves the log of another database away. Call it before the file is opened: closing a file drops every lock that the process has on
 * it.
 * @returns the new path of the log; null: the log belongs to the file, or there is none
 */
export async function setForeignLogAside(file: string): Promise<string | null> {
  if (!(await isForeignLog(file))) return null;
  const { mtime } = await stat(logOf(file));
  const aside = `${file}.set-aside-${mtime.toISOString().replaceAll(':', '-')}-wal`;
  await rename(logOf(file), aside);
  // The index of the log.
  await rm(`${file}-shm`, { force: true });
  await rm(recordFile(file), { force: true });
  return aside;
}

/** @throws StartError `database-replaced` for a command: a daemon may still use the log */
export async function refuseForeignLog(file: string): Promise<void> {
  if (!(await isForeignLog(file))) return;
  throw new StartError(
    'database-replaced',
    `The database ${file} was replaced or moved, and ${logOf(file)} belongs to the file before. ` +
      'Restart the daemon (systemctl restart pulsegate): at its start it sets that log aside.',
  );
}

async function isForeignLog(file: string): Promise<boolean> {
  const { size } = await stat(logOf(file)).catch(() => ({ size: 0 }));
  const record = await readRecord(file);
  if (size === 0 || !record) return false;
  const isRecordedLog = (await identityOf(logOf(file))) === record.log;
  if (isRecordedLog && (await identityOf(file)) !== record.file) return true;
  // The identities differ in a copy of the whole folder.
  return !isOpenHere(file) && !record.marks.includes(await markOnDisk(file));
}

const openHere = new Set<string>();
const isOpenHere = (file: string) => openHere.has(file);

/** Records that the log belongs to this file. `db` must be the only connection that this process has. */
export async function recordLog(db: Knex, file: string): Promise<void> {
  openHere.add(file);
  const before = await readRecord(file);
  const [found]: { user_version: number }[] = await db.raw('pragma user_version');
  let mark = found?.user_version ?? NO_MARK;
  const isKnown = mark !== NO_MARK && before?.marks.length === 1 && before.marks[0] === mark;
  const marks = [mark];
  if (!isKnown) {
    // Until the new record is complete, a crash must leave none that does not fit.
    await rm(recordFile(file), { force: true });
    if (mark === NO_MARK) {
      mark = newMark();
      await db.raw(`pragma user_version = ${mark}`);
    }
    const [done]: { log: number; checkpointed: number }[] = await db.raw('pragma wal_checkpoint(passive)');
    marks.splice(0, 1, mark, ...(done?.log === done?.checkpointed ? [] : [NO_MARK]));
  }
  const record: LogRecord = { marks, file: await identityOf(file), log: await identityOf(logOf(file)) };
  if (JSON.stringify(record) === JSON.stringify(before)) return;
  const unfinished = `${recordFile(file)}.part`;
  await writeFile(unfinished, JSON.stringify(record), { mode: 0o600 });
  await giveToFolderOwner(unfinished);
  await rename(unfinished, recordFile(file));
}

export function forgetOpenFile(file: string): void {
  openHere.delete(file);
}

/** Gives a new copy of a database its own mark, and waits until it is on the disk. No connection may have it open. */
export async function markCopy(file: string): Promise<void> {
  const mark = Buffer.alloc(4);
  mark.writeInt32BE(newMark());
  const handle = await open(file, 'r+');
  try {
    await handle.write(mark, 0, mark.length, MARK_AT_BYTE);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

const newMark = (): number => randomInt(1, 2 ** 31 - 1);

async function markOnDisk(file: string): Promise<number> {
  const handle = await open(file, 'r').catch(() => null);
  if (!handle) return Number.NaN;
  try {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(4), 0, 4, MARK_AT_BYTE);
    return bytesRead === 4 ? buffer.readInt32BE() : Number.NaN;
  } finally {
    await handle.close();
  }
}

/** Null: there is no record, or it is not complete after a power failure. */
async function readRecord(file: string): Promise<LogRecord | null> {
  const text = await readFile(recordFile(file), 'utf8').catch(() => '');
  return (parseJson(text) ?? null) as LogRecord | null;
}
