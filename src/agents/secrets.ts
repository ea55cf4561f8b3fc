// Reads secrets from files or the configuration: webhook tokens and API keys of agents.
import { readFileSync } from 'node:fs';
import { StartError } from '../core/errors.js';
import type { Log } from '../core/log.js';
import type { HookSettings } from './settings.js';

const RECOMMENDED_CHARACTERS = 32;

/**
 * The valid webhook tokens: the current one, and the previous one during a change. Empty when webhooks are disabled. Warns of a short
 * token.
 * @throws StartError `secret-file` when a file cannot be read or a secret is empty
 */
export function webhookSecrets(settings: HookSettings, log: Pick<Log, 'warn'>): string[] {
  if (!settings.enabled) return [];
  const current = settings.secret?.reveal() ?? readSecretFile(settings.secretFile, 'webhooks.secretFile');
  const previous =
    settings.previousSecret?.reveal() ??
    readSecretFile(settings.previousSecretFile, 'webhooks.previousSecretFile');
  if (current === null || current.trim() === '') {
    throw new StartError(
      'secret-missing',
      'webhooks.enabled is true, but there is no secret. Set webhooks.secret or webhooks.secretFile.',
    );
  }
  if (current.length < RECOMMENDED_CHARACTERS) {
    log.warn(
      { characters: current.length },
      `webhooks.secret is shorter than ${RECOMMENDED_CHARACTERS} characters and could be guessed`,
    );
  }
  return previous === null ? [current] : [current, previous];
}

/** A key from a file, read anew by `reload`; null without a file. */
export interface KeyFile {
  read(): string | null;
  /** @throws StartError `secret-file` */
  reload(): void;
}

/** @throws StartError `secret-file` when the file cannot be read or is empty */
export function openKeyFile(path: string | null, key: string): KeyFile {
  let value = readSecretFile(path, key);
  return {
    read: () => value,
    reload() {
      value = readSecretFile(path, key);
    },
  };
}

/** The text of a secret's file without the line break at its end; null without a file. @throws StartError `secret-file` */
export function readSecretFile(path: string | null, key: string): string | null {
  if (path === null) return null;
  let text: string;
  try {
    text = readFileSync(path, 'utf8').replace(/\r?\n$/, '');
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new StartError(
      'secret-file',
      `${key}: ${path} cannot be read (${why}). Check its path and permissions.`,
      {
        cause,
      },
    );
  }
  if (text.trim() === '')
    throw new StartError('secret-file', `${key}: ${path} is empty. Write the secret into it.`);
  if (/[\r\n\0]/.test(text)) throw new StartError('secret-file', `${key}: ${path} must hold one line only.`);
  return text;
}
