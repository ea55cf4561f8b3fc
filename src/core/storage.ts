// Problems of the database while the daemon runs, with their texts.

/** `gone` and `replaced`: writes would go to a file that no longer has a name. */
export type StorageProblem =
  | 'database-gone'
  | 'database-replaced'
  | 'database-corrupt'
  | 'database-locked'
  | 'database-read-only'
  | 'database-away'
  | 'database-failing'
  | 'disk-full';

export const STORAGE_PROBLEMS: Readonly<Record<StorageProblem, string>> = {
  'database-gone':
    'the database file is gone; changes are refused. Restore a backup, or stop the daemon and start it anew',
  'database-replaced':
    'another file has taken the place of the database; changes are refused. Restart the daemon to use it',
  'database-corrupt':
    'the database file is damaged. Stop the daemon and restore a backup (pulsegate restore FILE)',
  'database-locked': 'another program holds the database locked for longer than database.busyTimeout',
  'database-read-only': 'the database cannot be written: its file or its disk is read-only',
  'database-away': 'the database server cannot be reached or does not answer; the error says why',
  'database-failing': 'the database cannot be read and written; the error says why',
  'disk-full': 'there is no space left for the database',
};

/** What a check found; `error` is what the database or the system said, if anything. */
export interface StorageFault {
  readonly problem: StorageProblem;
  readonly error: unknown;
}

/** Marks an error of a database that does not answer: what was asked for can be asked for again. */
export const AWAY = Symbol('database away');

/** Marks the error of a COMMIT that was not answered: whether the transaction was done is unknown. */
export const COMMIT_UNKNOWN = Symbol('commit unknown');

export function isCommitUnknown(error: unknown): boolean {
  return error instanceof Error && COMMIT_UNKNOWN in error;
}

export function isDatabaseAway(error: unknown): boolean {
  return error instanceof Error && AWAY in error;
}
