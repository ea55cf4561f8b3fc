// Errors of PostgreSQL (the server does not answer, is shutting down, or has another problem), classified and worded for operators;
// and connection strings, with the names of databases in messages.
import pg from 'pg';
import { codeOf, StartError, type StorageProblem, withStorageProblem } from '../../core/errors.js';

/** The `code` of connection errors without an own code. */
export const NO_CONNECTION = 'PG_NO_CONNECTION';
/** The `code` of the error that the server wants a password and none is set. */
const NO_PASSWORD = 'PG_NO_PASSWORD';

/** SQLSTATE classes: connection exception, operator intervention. */
const AWAY_CLASSES = new Set(['08', '57']);
/** SQLSTATE of a statement that was cancelled or exceeded its time limit. */
export const QUERY_CANCELED = '57014';

/** Whether a SQLSTATE or a system error code is a failure of the connection. */
function isConnection(code: string): boolean {
  if (code === QUERY_CANCELED) return false;
  return code === NO_CONNECTION || /^E[A-Z_]+$/.test(code) || AWAY_CLASSES.has(code.slice(0, 2));
}

/** Adds a missing code to the error, and marks it with the problem of the server. */
export function withCode(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : codeOfPg(error);
  return withStorageProblem(Object.assign(error, { code }), problemOf(code));
}

/** The problem of the server that a code shows; null: the error has another cause. */
function problemOf(code: string): StorageProblem | null {
  if (isConnection(code)) return 'database-away';
  if (code === '53100') return 'disk-full';
  if (code === '25006') return 'database-read-only';
  return /^(53|58|XX)/.test(code) ? 'database-failing' : null;
}

/** Returns the code of an error of pg without one: a missing password, which only the text shows, or a connection error. */
function codeOfPg({ message }: Error): string {
  return /^SASL: .*client password must be/.test(message) ? NO_PASSWORD : NO_CONNECTION;
}

/**
 * Converts an error of the database into a StartError with instructions; returns other errors unchanged. Codes of the server are
 * SQLSTATEs (https://www.postgresql.org/docs/current/errcodes-appendix.html).
 */
export function explainPgError(error: unknown, connection: string): unknown {
  const code = codeOf(error);
  if (error instanceof StartError || code === undefined || !(error instanceof Error)) return error;
  const [kind, text] = REASONS[code] ?? (isConnection(code) ? UNREACHABLE : UNUSABLE);
  const where = nameOf(connection);
  const message = error.message === '' ? code : error.message;
  return new StartError(
    kind,
    text.replace('WHERE', () => where).replace('MESSAGE', () => message),
    { cause: error },
  );
}

type Reason = readonly [code: string, text: string];

const UNREACHABLE: Reason = [
  'database-unreachable',
  'The database WHERE cannot be reached (MESSAGE). Check the connection string, and that the server runs and accepts connections of this machine.',
];
const UNUSABLE: Reason = ['database-unusable', 'The database WHERE cannot be used (MESSAGE).'];
const REFUSED: Reason = [
  'database-login-refused',
  'The server of WHERE refused the login (MESSAGE). Check the user name and password in the connection string, and pg_hba.conf on the server.',
];
const TLS: Reason = [
  'database-tls',
  'The certificate of the server of WHERE is not trusted (MESSAGE). Name the file of its CA certificate in the connection string: sslmode=verify-full&sslrootcert=FILE.',
];
const FULL: Reason = [
  'disk-full',
  'The server of WHERE has no disk space left. Free some space and start again.',
];
const TLS_NAME: Reason = [
  'database-tls',
  'The certificate of the server of WHERE is for another name (MESSAGE). Set the host in the connection string to a name in the certificate.',
];
const TLS_EXPIRED: Reason = [
  'database-tls',
  'The certificate of the server of WHERE has expired (MESSAGE). Renew it on the server.',
];
const READ_ONLY: Reason = [
  'database-read-only',
  'The database WHERE is read-only (MESSAGE). Connect to the primary.',
];

const REASONS: Readonly<Record<string, Reason>> = {
  '28P01': REFUSED,
  '28000': REFUSED,
  [NO_PASSWORD]: [
    'database-login-refused',
    'The server of WHERE requires a password, and none is set. Set one in the connection string, in PGPASSWORD or in ~/.pgpass.',
  ],
  '3D000': [
    'database-unknown',
    'The database WHERE does not exist. Create it: createdb -E UTF8 -T template0 -O USER NAME. Pulsegate creates the tables.',
  ],
  '42501': [
    'database-privileges',
    'The user has too few privileges in the database WHERE (MESSAGE). Make the user its owner: alter database NAME owner to USER.',
  ],
  '42P07': [
    'database-foreign',
    'The database WHERE contains tables of another program (MESSAGE). It was not changed. Create a database only for Pulsegate.',
  ],
  '53100': FULL,
  '53300': [
    'database-full',
    'The server of WHERE has no connections left (MESSAGE). Lower database.poolSize, or raise max_connections of the server.',
  ],
  '25006': READ_ONLY,
  [QUERY_CANCELED]: [
    'database-slow',
    'The database WHERE did not answer in time (MESSAGE). Start again when the server is less busy.',
  ],
  '57P03': UNREACHABLE,
  SELF_SIGNED_CERT_IN_CHAIN: TLS,
  DEPTH_ZERO_SELF_SIGNED_CERT: TLS,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: TLS,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: TLS,
  ERR_TLS_CERT_ALTNAME_INVALID: TLS_NAME,
  CERT_HAS_EXPIRED: TLS_EXPIRED,
};

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
