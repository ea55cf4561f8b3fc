// What a configuration is read from. A process hands its own to its successor, which serves players by it before it has loaded the
// schema of the configuration: that takes as long as players notice.
import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { PROGRAM_FOLDER } from '../program.js';
import type { Override } from './overrides.js';
import type { Config } from './schema.js';
import { isPlainObject, replaceIn, Secret } from './units.js';

/** The first of these that exists is read when no file is named. An installed daemon uses the last one. */
const DEFAULT_FILES: readonly string[] = ['pulsegate.yaml', '/etc/pulsegate/pulsegate.yaml'];

/** The start of the program, which names its other files, and each name contains a hash of the content. */
const PROGRAM = join(PROGRAM_FOLDER, 'dist/program/cli.js');

export interface LoadOptions {
  /** `--config`. It takes precedence over PULSEGATE_CONFIG, and that over `defaultFiles`. */
  readonly file?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Values of command line options: `{ path: ['socks', 'port'], text: '1081', where: '--socks-port' }`. */
  readonly flags?: readonly Override[];
  /** The folder for relative paths. Default: the current folder. */
  readonly cwd?: string;
  /** Files to try in this order when no file is named. Default: ./pulsegate.yaml, /etc/pulsegate/pulsegate.yaml. */
  readonly defaultFiles?: readonly string[];
}

/** The file that is read; null when none exists. */
export async function findConfigFile({
  file,
  env,
  cwd = process.cwd(),
  defaultFiles = DEFAULT_FILES,
}: LoadOptions): Promise<string | null> {
  const named = file ?? env['PULSEGATE_CONFIG'];
  if (named) return named;
  for (const each of defaultFiles) if (await stat(resolve(cwd, each)).catch(() => null)) return each;
  return null;
}

export interface HandedConfig {
  /** As of `hashSources`. */
  readonly sources: string | null;
  /** A `Config` as plain data: secrets are objects with their text under `SECRET`. */
  readonly config: unknown;
}

const SECRET = '(secret)';

/**
 * Returns a hash of the program and of everything that its configuration is read from: where it is the same, the configuration is.
 * Null when that cannot be read.
 */
export async function hashSources(options: LoadOptions): Promise<string | null> {
  const { env, flags = [], cwd = process.cwd() } = options;
  try {
    const name = await findConfigFile(options);
    const file = name === null ? null : await readFile(resolve(cwd, name), 'utf8');
    const variables = Object.entries(env).filter(([key]) => key.startsWith('PULSEGATE_'));
    const sources = [process.version, await readFile(PROGRAM, 'utf8'), cwd, name, file, variables, flags];
    return createHash('sha256').update(JSON.stringify(sources)).digest('base64');
  } catch {
    return null;
  }
}

export function toHandedConfig(sources: string | null, config: Config): HandedConfig {
  const reveal = (value: unknown) => (value instanceof Secret ? { [SECRET]: value.reveal() } : value);
  return { sources, config: replaceIn(config, reveal) };
}

/** Returns the configuration that the process before had, if this one's is the same; otherwise null. @param handed of its state */
export function fromHandedConfig(handed: HandedConfig | undefined, sources: string | null): Config | null {
  if (!handed || sources === null || handed.sources !== sources) return null;
  const wrap = (value: unknown) =>
    isPlainObject(value) && typeof value[SECRET] === 'string' ? new Secret(value[SECRET]) : value;
  return replaceIn(handed.config, wrap) as Config;
}
