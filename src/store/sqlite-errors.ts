// What went wrong with the SQLite file, as a person should read it.
import { StartError } from '../core/errors.js';

/** The `code` of a system or SQLite error. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** A StartError as it is; any other error as the StartError that names the file and what to do. */
export function toStartError(error: unknown, file: string): StartError {
  if (error instanceof StartError) return error;
  const code = codeOf(error);
  switch (code) {
    case 'SQLITE_NOTADB':
    case 'SQLITE_CORRUPT':
      return corrupt(file, error);
    case 'SQLITE_FULL':
    case 'ENOSPC':
    case 'EDQUOT':
      return new StartError(
        'disk-full',
        `There is no space left for the database ${file}. Free some and start again.`,
        {
          cause: error,
        },
      );
    case 'SQLITE_BUSY':
    case 'SQLITE_LOCKED':
      return new StartError(
        'database-locked',
        `The database ${file} is locked by another program. End it (fuser ${file} names it), then start again.`,
        { cause: error },
      );
    default:
      return new StartError(
        'data-dir-unusable',
        `The database ${file} cannot be read and written (${code ?? String(error)}). ` +
          'Give the user that runs Pulsegate a data folder of its own (dataDir), readable and writable.',
        { cause: error },
      );
  }
}

/** @param cause the error, or what the check of the file found */
export function corrupt(file: string, cause: unknown): StartError {
  return new StartError(
    'database-corrupt',
    `The file ${file} is damaged or is not a database. It was left as it is. ` +
      'Restore a backup (pulsegate restore FILE), or move the file away to start with an empty database.',
    { cause },
  );
}

/** A whole database, but another program's. */
export function foreign(file: string): StartError {
  return new StartError(
    'database-foreign',
    `The file ${file} is a database of another program. It was left as it is. Choose another data folder (dataDir), or move the file away.`,
  );
}
