// Authentication for the admin API: administrator and operators, console sessions, API tokens, and the key of the secrets of second factors.
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { configError } from '../config/config-error.js';
import type { Config } from '../config.js';
import { type ApiTokens, createApiTokens } from '../core/auth/api-tokens.js';
import { createKnownSources } from '../core/auth/attempt-limit.js';
import { createConsoleSessions } from '../core/auth/console-sessions.js';
import { createOperators, type Operators } from '../core/auth/operators.js';
import { openPrincipals } from '../core/auth/principals.js';
import { SEAL_KEY_BYTES } from '../core/auth/sealed.js';
import type { TotpKeys } from '../core/auth/totp.js';
import { codeOf } from '../core/errors.js';
import type { Core, PartDeps } from './core.js';
import type { Part } from './lifecycle.js';

/** The keys of settings on which the validity of console sessions depends. */
const CREDENTIAL_KEYS = /^admin\.(credentials|totp|operators)$|^operator\./;

export type Auth = Awaited<ReturnType<typeof openAuth>>;

/** Loads operators, console sessions and API tokens. Rejects when the database cannot be read. */
export async function openAuth(
  deps: PartDeps<keyof Config, 'store' | 'settings' | 'passwords' | 'credentials'>,
) {
  const { log, now } = deps;
  const { store, settings, passwords, credentials } = deps.core;
  const { session, maxTokens } = deps.config.admin;
  const onError = (err: unknown): void =>
    log.warn({ err }, 'saving the last use of a session or token failed');
  const operators = operatorsOf(deps.core, now);
  const principals = await openPrincipals({
    credentials,
    operators,
    passwords,
    now,
    settings: store.settings,
    totpKeys: await openTotpKeys(deps.config),
    onError: (err) => log.warn({ err }, 'renewing a password hash or encrypting a second factor failed'),
    onUnreadable: ({ name }) =>
      log.error(
        { operator: name },
        'a second factor cannot be checked: its key is missing or another one; see pulsegate doctor',
      ),
    open: settings.open,
  });
  const sessions = createConsoleSessions({
    store: store.consoleSessions,
    now,
    credentials: (operatorId) =>
      operatorId === null && !credentials.isSettled()
        ? null
        : (principals.get(operatorId)?.fingerprint() ?? null),
    idleMs: session.idleTimeoutMs,
    maxAgeMs: session.maxAgeMs,
    confirmForMs: session.confirmForMs,
    maxSessions: session.max,
    onError,
  });
  const apiTokens = await settings.open(tokensOf(deps.core, { maxTokens, now, onError }));
  const consoleSessions = await settings.open(sessions);
  settings.onReloaded((key) => {
    if (!CREDENTIAL_KEYS.test(key)) return;
    const ended = consoleSessions.sweep();
    if (ended > 0) log.info({ sessions: ended }, 'console sessions ended: credentials changed');
  });
  const knownSources = createKnownSources(store.settings, now);
  return { consoleSessions, apiTokens, operators, principals, knownSources };
}

/** The operators, still without those of the database. */
export const operatorsOf = (
  { store, passwords, credentials }: Pick<Core, 'store' | 'passwords' | 'credentials'>,
  now: () => number,
): Operators =>
  createOperators({
    store: store.operators,
    passwords,
    isReserved: (name) => name === credentials.username(),
    newId: randomUUID,
    now,
  });

/** The API tokens, still without those of the database. */
export const tokensOf = (
  { store }: Pick<Core, 'store'>,
  options: Pick<Parameters<typeof createApiTokens>[0], 'maxTokens' | 'now' | 'onError'>,
): ApiTokens => createApiTokens({ store: store.apiTokens, newId: randomUUID, ...options });

/** Compares the given admin password with the stored hash after the start, which must not wait for it. */
export function createGivenPasswordPart(deps: PartDeps<never, 'credentials'>): Part {
  const { core, log } = deps;
  let settled = Promise.resolve();
  return {
    name: 'given password',
    start() {
      settled = core.credentials
        .settle()
        .catch((err: unknown) => log.error({ err }, 'setting the given admin password failed'));
    },
    stop: () => settled,
  };
}

/** The name of the systemd credential, and of the file in the data folder. */
const TOTP_KEY_NAME = 'totp-key';

/**
 * Reads the key from `admin.totpKeyFile`, else the systemd credential, else the file of the data folder, which is made where the key
 * is first needed. Throws ConfigError for an invalid key.
 */
export async function openTotpKeys(
  { admin, dataDir, database }: Pick<Config, 'admin' | 'dataDir' | 'database'>,
  env: NodeJS.ProcessEnv = process.env,
): Promise<TotpKeys> {
  const own = join(dataDir, TOTP_KEY_NAME);
  const credentials = env['CREDENTIALS_DIRECTORY'];
  const given = admin.totpKeyFile;
  let key =
    given === null
      ? ((credentials ? await readTotpKey(join(credentials, TOTP_KEY_NAME)) : null) ??
        (await readTotpKey(own)))
      : await readTotpKey(given);
  if (given !== null && key === null) throw configError('admin.totpKeyFile', `there is no file ${given}`);

  async function make(): Promise<Buffer> {
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
    const created = randomBytes(SEAL_KEY_BYTES);
    try {
      await writeFile(own, `${created.toString('hex')}\n`, { mode: 0o600, flag: 'wx', flush: true });
      return created;
    } catch (error) {
      const made = codeOf(error) === 'EEXIST' ? await readTotpKey(own) : null;
      if (made === null) throw error;
      return made;
    }
  }

  return {
    key: () => key,
    async keyForNew() {
      // With PostgreSQL several nodes may need the same key.
      if (key === null && database.client !== 'pg') key = await make();
      return key;
    },
  };
}

async function readTotpKey(file: string): Promise<Buffer | null> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return null;
    throw configError(file, `the TOTP key cannot be read (${codeOf(error) ?? 'unknown error'})`, error);
  });
  if (text === null) return null;
  if (!/^[0-9a-f]{64}$/i.test(text.trim()))
    throw configError(file, 'is not a TOTP key: expected 64 hexadecimal digits (openssl rand -hex 32)');
  return Buffer.from(text.trim(), 'hex');
}
