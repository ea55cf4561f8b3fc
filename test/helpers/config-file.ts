// Writes a configuration file to a temporary folder and loads it like the daemon.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError, type Loaded, type LoadOptions, loadConfig } from '../../src/config.js';

/** Loads `yaml` as `pulsegate.yaml`. Without `yaml`, there is no file. */
export async function loadText(
  yaml: string | Buffer | null,
  options: Omit<LoadOptions, 'env' | 'cwd'> & { env?: Record<string, string> } = {},
): Promise<Loaded> {
  const cwd = await mkdtemp(join(tmpdir(), 'pulsegate-config-'));
  try {
    if (yaml !== null) await writeFile(join(cwd, 'pulsegate.yaml'), yaml);
    // The test must not read this machine's files in /etc.
    return await loadConfig({ env: {}, defaultFiles: ['pulsegate.yaml'], ...options, cwd });
  } finally {
    await rm(cwd, { recursive: true, force: true });
  }
}

/** Returns the message of the ConfigError with which `loading` fails. */
export async function messageOf(loading: Promise<unknown>): Promise<string> {
  try {
    await loading;
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error('the configuration was accepted');
}
