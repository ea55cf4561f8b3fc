// Error messages for failures of the PostgreSQL server. No message contains a password.
import { StartError } from '../core/errors.js';
import type { StorageProblem } from '../core/storage.js';
import { isConnection } from './pg-away.js';
import { nameOf } from './pg-connection.js';

/** The SQLSTATE of an error of the server (https://www.postgresql.org/docs/current/errcodes-appendix.html), or the system's code. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** An error of the database as the StartError that says what to do; any other as it is. */
export function explainPgError(error: unknown, connection: string): unknown {
  const code = codeOf(error);
  if (error instanceof StartError || code === undefined || !(error instanceof Error)) return error;
  const [kind, text] = REASONS[code] ?? (isConnection(code) ? UNREACHABLE : UNUSABLE);
  const where = nameOf(connection);
  const said = error.message === '' ? code : error.message;
  return new StartError(
    kind,
    text.replace('WHERE', () => where).replace('SAID', () => said),
    { cause: error },
  );
}

type Reason = readonly [code: string, text: string];

const UNREACHABLE: Reason = [
  'database-unreachable',
  'The database WHERE cannot be reached (SAID). Check database.connection, and that the server runs and lets this machine in.',
];
const UNUSABLE: Reason = ['database-unusable', 'The database WHERE cannot be used (SAID).'];
const REFUSED: Reason = [
  'database-login-refused',
  'The server of WHERE refuses the login (SAID). Check the user name and password in database.connection, and pg_hba.conf on the server.',
];
const TLS: Reason = [
  'database-tls',
  'The certificate of the server of WHERE is not trusted (SAID). Name the file of its authority in database.connection: sslmode=verify-full&sslrootcert=FILE.',
];
const TLS_NAME: Reason = [
  'database-tls',
  'The certificate of the server of WHERE is for another name (SAID). Write the host in database.connection as the certificate names it.',
];
const TLS_EXPIRED: Reason = [
  'database-tls',
  'The certificate of the server of WHERE has expired (SAID). Renew it on the server.',
];
const FULL: Reason = ['disk-full', 'The server of WHERE has no space left. Free some and start again.'];
const READ_ONLY: Reason = [
  'database-read-only',
  'The database WHERE takes no writes (SAID). Set database.connection to the primary.',
];

const REASONS: Readonly<Record<string, Reason>> = {
  '28P01': REFUSED,
  '28000': REFUSED,
  '3D000': [
    'database-unknown',
    'There is no database WHERE. Make it: createdb -E UTF8 -T template0 -O USER NAME. Pulsegate makes the tables in it.',
  ],
  '42501': [
    'database-privileges',
    'The user may not do what Pulsegate needs in the database WHERE (SAID). Make it the owner: alter database NAME owner to USER.',
  ],
  '42P07': [
    'database-foreign',
    'The database WHERE holds tables of another program (SAID). It was left as it is. Make one for Pulsegate alone.',
  ],
  '53100': FULL,
  '53300': [
    'database-full',
    'The server of WHERE has no connection left (SAID). Lower database.poolSize, or raise max_connections of the server.',
  ],
  '25006': READ_ONLY,
  '57014': [
    'database-slow',
    'The database WHERE did not answer in time (SAID). Start again when it is less busy.',
  ],
  '57P03': UNREACHABLE,
  SELF_SIGNED_CERT_IN_CHAIN: TLS,
  DEPTH_ZERO_SELF_SIGNED_CERT: TLS,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: TLS,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: TLS,
  ERR_TLS_CERT_ALTNAME_INVALID: TLS_NAME,
  CERT_HAS_EXPIRED: TLS_EXPIRED,
};

/** What an error says of the database server; null for one that has other causes. */
export function problemOf(error: unknown): StorageProblem | null {
  const code = codeOf(error) ?? '';
  if (isConnection(code)) return 'database-away';
  if (code === '53100') return 'disk-full';
  if (code === '25006') return 'database-read-only';
  return /^(53|58|XX)/.test(code) ? 'database-failing' : null;
}
