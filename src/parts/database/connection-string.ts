// The connection string of a PostgreSQL database.
import { readSecretFile } from '../../agents/secrets.js';
import type { Config } from '../../config.js';

/** The schema guarantees that exactly one of the two is set. @throws StartError `secret-file` */
export function connectionOf({ connection, connectionFile }: Config['database']): string {
  return connection?.reveal() ?? readSecretFile(connectionFile, 'database.connectionFile') ?? '';
}
