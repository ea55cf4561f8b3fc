// The configuration in force, key by key, with where each value comes from; secrets hidden.
import { stringify } from 'yaml';
import { toPlain } from './plain.js';
import { configSchema, type Settings } from './schema.js';
import { aboutOf, everyKey, isGroup, shapeOf, valueAt } from './walk.js';

export interface EffectiveEntry {
  /** `socks.handshakeTimeout`. */
  readonly path: string;
  /** As one would write it in the file; of a secret only whether there is one. */
  readonly value: string;
  readonly source: 'default' | 'file' | 'environment' | 'flag';
  readonly isSecret: boolean;
}

/** @param whereFrom what set the value at a path: the `where` of an override; undefined: none did */
export function effectiveEntries(
  settings: Settings,
  fileData: unknown,
  whereFrom: (path: readonly string[]) => string | undefined,
): EffectiveEntry[] {
  const plain = toPlain(settings);
  return [...everyKey(configSchema)].flatMap(({ path, schema }) => {
    // A section is listed by its keys; a map from names has no keys of its own.
    if (isGroup(schema) && Object.keys(shapeOf(schema)).length > 0) return [];
    const value = valueAt(plain, path);
    const where = whereFrom(path);
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
