// Reads secrets from files or the configuration: webhook tokens and API keys of agents.
import { readFileSync } from 'node:fs';
import { isSenderSecret, STANDARD_FORM } from '../core/agents/signatures.js';
import { StartError } from '../core/errors.js';
import type { Log } from '../core/log.js';
import type { HookSettings, SecretSettings, SignatureSettings } from './context.js';

const RECOMMENDED_CHARACTERS = 32;

/**
 * Returns the valid webhook tokens: the current one, and the previous one during a change. Returns none when webhooks are disabled.
 * Logs a warning for a short token in a file; the configuration warns of its own.
 * @throws SecretFileError when a file cannot be read or a secret is empty
 */
export function webhookSecrets(settings: HookSettings, log: Pick<Log, 'warn'>): readonly string[] {
  if (!settings.enabled) return [];
  const secrets = readSecrets(settings, 'webhooks');
  const [current = ''] = secrets;
  if (current.trim() === '') {
    throw new StartError(
      'secret-missing',
      'webhooks.enabled is true, but there is no secret. Set webhooks.secret or webhooks.secretFile.',
    );
  }
  if (settings.secretFile !== null && current.length < RECOMMENDED_CHARACTERS) {
    log.warn(
      { characters: current.length },
      `webhooks.secretFile is shorter than ${RECOMMENDED_CHARACTERS} characters and can be guessed`,
    );
  }
  return secrets;
}

/**
 * Returns the secrets of signing senders, by agent: the current one, and the previous one during a change. Returns none when
 * webhooks are disabled.
 * @throws SecretFileError when a file cannot be read, is empty, or contains no secret of the scheme
 */
export function signingSecrets({ enabled, agents }: HookSettings): ReadonlyMap<string, readonly string[]> {
  if (!enabled) return new Map();
  return new Map(
    Object.entries(agents).flatMap(([name, { signature }]) =>
      signature ? [[name, senderSecrets(signature, `webhooks.agents.${name}.signature`)] as const] : [],
    ),
  );
}

/** @param where the key of the signature. @throws SecretFileError */
export function senderSecrets(signature: SignatureSettings, where: string): readonly string[] {
  const secrets = readSecrets(signature, where);
  const { scheme, secretFile, previousSecretFile } = signature;
  // The schema has already checked the secrets in the configuration.
  for (const [i, secret] of secrets.entries()) {
    if (isSenderSecret(scheme, secret)) continue;
    const [key, file] = i === 0 ? ['secretFile', secretFile] : ['previousSecretFile', previousSecretFile];
    throw new SecretFileError(`${where}.${key}`, `${file} must contain ${STANDARD_FORM}.`);
  }
  return secrets;
}

/** Returns the current secret, and the previous one if there is one. */
function readSecrets(settings: SecretSettings, where: string): readonly string[] {
  const { secret, secretFile, previousSecret, previousSecretFile } = settings;
  return [
    secret?.reveal() ?? readSecretFile(secretFile, `${where}.secretFile`),
    previousSecret?.reveal() ?? readSecretFile(previousSecretFile, `${where}.previousSecretFile`),
  ].filter((text) => text !== null);
}

/** A key from a file; null without a file. */
export type KeyFile = ReturnType<typeof openKeyFile>;

/** @throws SecretFileError when the file cannot be read or is empty */
export function openKeyFile(path: string | null, key: string) {
  let value = readSecretFile(path, key);
  return {
    read: (): string | null => value,
    /** Reads the file again, and returns a function that puts its key into use. @throws SecretFileError */
    prepareReload(): () => void {
      const next = readSecretFile(path, key);
      return () => {
        value = next;
      };
    },
  };
}

export class SecretFileError extends StartError {
  /**
   * @param key the configuration key that names the file
   * @param fault what is wrong with the file, and what to do about it
   */
  constructor(
    readonly key: string,
    readonly fault: string,
    options?: { readonly cause?: unknown },
  ) {
    super('secret-file', `${key}: ${fault}`, options);
  }
}

/** Returns the text of a secret file without a trailing line break; null without a file. @throws SecretFileError */
export function readSecretFile(path: string | null, key: string): string | null {
  if (path === null) return null;
  let text: string;
  try {
    text = readFileSync(path, 'utf8').replace(/\r?\n$/, '');
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    const fault = `${path} cannot be read (${why}). Check its path and permissions.`;
    throw new SecretFileError(key, fault, { cause });
  }
  if (text.trim() === '') throw new SecretFileError(key, `${path} is empty. Write the secret into it.`);
  if (/[\r\n\0]/.test(text)) throw new SecretFileError(key, `${path} must contain only one line.`);
  return text;
}
