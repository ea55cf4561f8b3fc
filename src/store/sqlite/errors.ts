// Error messages for failures of the SQLite file.
import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { codeOf, StartError, type StorageProblem, tryOr } from '../../core/errors.js';

/** Converts any error into a StartError with the file and instructions; returns a StartError unchanged. */
export function toStartError(error: unknown, file: string): StartError {
  if (error instanceof StartError) return error;
  const code = codeOf(error);
  switch (problemOf(error, file)) {
    case 'database-corrupt':
      return corrupt(file, error);
    case 'database-locked':
      return new StartError(
        'database-locked',
        `The database ${file} is locked by another program. Stop that program (fuser ${file} shows it), then start again.`,
        { cause: error },
      );
    default:
      if (
        ['SQLITE_FULL', 'ENOSPC', 'EDQUOT'].includes(code ?? '') ||
        (code?.startsWith('SQLITE_') && isDiskFull(file))
      )
        return new StartError(
          'disk-full',
          `There is no space left for the database ${file}. Free some space and start again.`,
          { cause: error },
        );
      return new StartError(
        'data-dir-unusable',
        `The database ${file} cannot be read or written (${code ?? String(error)}). ` +
          'Set dataDir to a folder that the user of the daemon owns and can read and write.',
        { cause: error },
      );
  }
}

/** With less free space than this, SQLite may report an I/O error instead of a full disk. */
const LEAST_SPACE_BYTES = 64 * 1024;

function isDiskFull(file: string): boolean {
  const space = tryOr(null, () => statfsSync(dirname(file)));
  return space !== null && space.bavail * space.bsize < LEAST_SPACE_BYTES;
}

const PROBLEMS: Readonly<Record<string, StorageProblem>> = {
  SQLITE_FULL: 'disk-full',
  SQLITE_BUSY: 'database-locked',
  SQLITE_LOCKED: 'database-locked',
  SQLITE_CORRUPT: 'database-corrupt',
  SQLITE_NOTADB: 'database-corrupt',
  SQLITE_READONLY: 'database-read-only',
  SQLITE_IOERR: 'database-failing',
  SQLITE_CANTOPEN: 'database-failing',
};

/** The problem of the storage that an error of SQLite shows; null: the error has another cause. */
export function problemOf(error: unknown, file: string): StorageProblem | null {
  const problem = PROBLEMS[codeOf(error) ?? ''] ?? null;
  return problem === 'database-failing' && isDiskFull(file) ? 'disk-full' : problem;
}

/** The StartError for a damaged file. @param cause the error, or the finding of a check */
export function corrupt(file: string, cause: unknown): StartError {
  return new StartError(
    'database-corrupt',
    `The file ${file} is damaged or is not a database. It was not changed. ` +
      'Restore a backup (pulsegate restore FILE), or move the file away to start with an empty database.',
    { cause },
  );
}

/** The StartError for a valid database of another program. */
export function foreign(file: string): StartError {
  return new StartError(
    'database-foreign',
    `The file ${file} is a database of another program. It was not changed. Choose another data folder (dataDir), or move the file away.`,
  );
}
