// `pulsegate doctor`: checks the configured files of secrets, countries and agents, and who can read the secrets.
import { stat } from 'node:fs/promises';
import { isPlainObject } from '../../config/units.js';
import { type Loaded, Secret } from '../../config.js';
import { fileWarnings, geoFileProblems, secretFileProblems } from '../../parts/named-files.js';
import type { Finding } from './finding.js';

export async function checkFiles(loaded: Loaded): Promise<Finding[]> {
  const check = 'files';
  return [
    ...[...secretFileProblems(loaded.config), ...geoFileProblems(loaded.config)].map(
      ({ where, text }): Finding => ({ check, state: 'stop', text: `${where}: ${text}` }),
    ),
    ...fileWarnings(loaded.config).map(
      ({ where, text }): Finding => ({ check, state: 'warn', text: `${where}: ${text}` }),
    ),
    ...(await checkSecrets(loaded)),
  ];
}

/** Warns of files with secrets that other users of this machine can read. */
async function checkSecrets({ settings, effective, file }: Loaded): Promise<Finding[]> {
  const check = 'secrets';
  const values = [...valuesIn(settings)];
  const findings: Finding[] = [];
  const inFile = values.flatMap(({ path, value }) =>
    value instanceof Secret && sourceOf(path, effective) === 'file' ? [path] : [],
  );
  if (file !== null && inFile.length > 0 && (await isReadableByOthers(file))) {
    const advice = `run chmod 640 ${file} with the daemon's group, or keep secrets in files of their own`;
    const text = `other users can read ${file}, which contains ${inFile.join(', ')}; ${advice}`;
    findings.push({ check, state: 'warn', text });
  }
  for (const { path, value } of values) {
    // secretFile, passwordFile, apiKeyFile, connectionFile
    if (typeof value !== 'string' || !path.endsWith('File') || !(await isReadableByOthers(value))) continue;
    findings.push({
      check,
      state: 'warn',
      text: `other users can read ${value} (${path}); run chmod 600 ${value}`,
    });
  }
  return findings;
}

const READ_BY_OTHERS = 0o007;

/** Returns whether users who are neither the owner nor in the group can read the file; false for a missing file. */
export async function isReadableByOthers(file: string): Promise<boolean> {
  const found = await stat(file).catch(() => null);
  return found !== null && (found.mode & READ_BY_OTHERS) !== 0;
}

/** Returns every value of the configuration with its path. */
function* valuesIn(value: unknown, path = ''): Generator<{ path: string; value: unknown }> {
  if (Array.isArray(value)) for (const [i, item] of value.entries()) yield* valuesIn(item, `${path}[${i}]`);
  else if (isPlainObject(value))
    for (const [key, item] of Object.entries(value))
      yield* valuesIn(item, path === '' ? key : `${path}.${key}`);
  else yield { path, value };
}

/** Returns where a value comes from. Lists and maps are one entry. */
function sourceOf(path: string, effective: Loaded['effective']): string | undefined {
  return effective.find(({ path: key }) => path.startsWith(key) && /^($|[.[])/.test(path.slice(key.length)))
    ?.source;
}
