// Error messages for failures of the PostgreSQL server. No message contains a password.
import { codeOf, StartError } from '../../core/errors.js';
import { isConnection, NO_PASSWORD, QUERY_CANCELED } from './away.js';
import { nameOf } from './connection.js';

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
