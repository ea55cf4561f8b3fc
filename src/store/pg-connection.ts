// Parses the connection string of a PostgreSQL database, and formats it without the password for messages.
import pg from 'pg';
import { StartError } from '../core/errors.js';

/** `sslmode` means what it means to psql and every other program: only `verify-full` looks at the server's name. */
export function withLibpqModes(connection: string): string {
  if (!/[?&]sslmode=/.test(connection) || connection.includes('uselibpqcompat=')) return connection;
  return `${connection}&uselibpqcompat=true`;
}

/** The database as messages name it, without the password: `postgres://user@host:5432/name`. */
export function nameOf(connection: string): string {
  const { user, host, port, database } = new pg.Client({ connectionString: withLibpqModes(connection) });
  return `postgres://${user}@${host}:${port}/${database}`;
}

/** @throws StartError `database-connection` for a connection string that cannot be read */
export function requireReadable(connection: string): void {
  try {
    nameOf(connection);
  } catch {
    // The cause holds the password.
    throw new StartError(
      'database-connection',
      'database.connection cannot be read. Write it as postgres://USER:PASSWORD@HOST:5432/NAME; ' +
        'write characters such as @ : / # % in the password as %40 %3A %2F %23 %25. Files named in it (sslrootcert) must be there.',
    );
  }
}
