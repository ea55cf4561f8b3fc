// The effective configuration, key by key, with the source of each value; secrets are hidden.
import { stringify } from 'yaml';
import { toPlain } from './plain.js';
import { configSchema, type Settings } from './schema.js';
import { aboutOf, everyKey, isGroup, shapeOf, valueAt } from './walk.js';

export interface EffectiveEntry {
  /** `socks.handshakeTimeout`. */
  readonly path: string;
  /** The value as YAML; of a secret only whether it is set. */
  readonly value: string;
  readonly source: 'default' | 'file' | 'environment' | 'flag';
  readonly isSecret: boolean;
}

/** @param overrideOf the `where` of the override that set the value at a path; undefined when none did */
export function effectiveEntries(
  settings: Settings,
  fileData: unknown,
  overrideOf: (path: readonly string[]) => string | undefined,
): EffectiveEntry[] {
  const plain = toPlain(settings);
  return [...everyKey(configSchema)].flatMap(({ path, schema }) => {
    // Sections are listed by their keys. Maps have no fixed keys and are listed as one value.
    if (isGroup(schema) && Object.keys(shapeOf(schema)).length > 0) return [];
    const value = valueAt(plain, path);
    const where = overrideOf(path);
    const inFile = valueAt(fileData, path) !== undefined;
    return [
      {
        path: path.join('.'),
        value: stringify(value, { collectionStyle: 'flow', lineWidth: 0 }).trim(),
        source: where ? (where.startsWith('flag') ? 'flag' : 'environment') : inFile ? 'file' : 'default',
        isSecret: aboutOf(schema)?.secret === true,
      } as const,
    ];
  });
}
