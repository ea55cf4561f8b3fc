// Parses the connection string of a PostgreSQL database, and formats it without the password for messages.
import pg from 'pg';
import { StartError } from '../../core/errors.js';

/** Makes `sslmode` mean the same as in psql and other libpq programs: only `verify-full` checks the server's name. */
export function withLibpqModes(connection: string): string {
  if (!/[?&]sslmode=/.test(connection) || connection.includes('uselibpqcompat=')) return connection;
  return `${connection}&uselibpqcompat=true`;
}

/** The database for messages, without the password: `postgres://user@host:5432/name`. */
export function nameOf(connection: string): string {
  const { user, host, port, database } = new pg.Client({ connectionString: withLibpqModes(connection) });
  return `postgres://${user}@${host}:${port}/${database}`;
}

/** @throws StartError `database-connection` for an invalid connection string */
export function requireReadable(connection: string): void {
  try {
    nameOf(connection);
  } catch {
    // Without the cause, which contains the password.
    throw new StartError(
      'database-connection',
      'database.connection is invalid. Write it as postgres://USER:PASSWORD@HOST:5432/NAME; ' +
        'write characters such as @ : / # % in the password as %40 %3A %2F %23 %25. Files that it names (sslrootcert) must exist.',
    );
  }
}
