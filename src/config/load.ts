// Loads the configuration from defaults, file, environment and flags, in this order, and validates the result.
import { resolve } from 'node:path';
import { stringify } from 'yaml';
import { ConfigError } from './config-error.js';
import { type ConfigFile, readConfigFile } from './file.js';
import { applyOverrides, fromEnvironment, type Override } from './overrides.js';
import { pathText, toProblems } from './problems.js';
import { type Config, type ConfigAsRead, configSchema, egressWarnings } from './schema.js';
import { findConfigFile, type LoadOptions } from './sources.js';
import { isPlainObject, nameUnits, toPlain } from './units.js';
import { aboutOf, childOf, everyKey, isGroup, type Schema, shapeOf, valueAt } from './walk.js';
import { webhookWarnings } from './webhooks-schema.js';

export interface Loaded {
  readonly config: Config;
  /** The same with keys and values as in a file, for `config print`. Secrets are wrapped. */
  readonly asRead: ConfigAsRead;
  /** The file that was read; null when none exists. */
  readonly file: string | null;
  /** Every key with its value and source; secrets are hidden. */
  readonly effective: () => readonly EffectiveEntry[];
  /** Keys whose values are valid but insecure, or without effect. */
  readonly warnings: readonly string[];
}

/**
 * Loads and checks the configuration. `dataDir` becomes an absolute path.
 * @throws ConfigError with every problem found
 */
export async function loadConfig(options: LoadOptions): Promise<Loaded> {
  const { env, flags = [], cwd = process.cwd() } = options;
  const name = await findConfigFile(options);
  const content = name === null ? NO_FILE : await readConfigFile(name, cwd);
  const fileData = emptySections(content.data, configSchema);
  const { overrides, problems } = fromEnvironment(env, configSchema, fileData);
  const all = [...overrides, ...flags];
  const data = applyOverrides(fileData, all, configSchema);
  // Read once, so that compiled checks would cost more than they save.
  const parsed = configSchema.safeParse(data, { jitless: true });
  if (!parsed.success) {
    problems.push(
      ...toProblems(
        parsed.error.issues,
        configSchema,
        data,
        (path, of) => origin(all, path) ?? content.where(path, of),
      ),
    );
  }
  if (problems.length > 0 || !parsed.success) throw new ConfigError(problems);
  const asRead = { ...parsed.data, dataDir: resolve(cwd, parsed.data.dataDir) };
  return {
    config: nameUnits(asRead),
    asRead,
    file: name,
    effective: () => effectiveEntries(asRead, fileData, (path) => origin(all, path)),
    warnings: [...webhookWarnings(asRead.webhooks, asRead.agents), ...egressWarnings(asRead)],
  };
}

const NO_FILE: ConfigFile = { data: {}, where: () => 'configuration' };

/** The variable or flag that set the value at `path` or a parent of it. The last one wins. */
function origin(overrides: readonly Override[], path: readonly PropertyKey[]): string | undefined {
  const text = pathText(path);
  return overrides.findLast((override) => {
    const own = pathText(override.path);
    return text === own || text.startsWith(`${own}.`) || text.startsWith(`${own}[`);
  })?.where;
}

/** A section whose keys are all commented out is null in YAML. Treats it as an empty section. */
function emptySections(data: unknown, schema: Schema): unknown {
  if (data === null && isGroup(schema)) return {};
  if (!isPlainObject(data) || !isGroup(schema)) return data;
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => {
      const child = childOf(schema, key, data);
      return [key, child ? emptySections(value, child) : value];
    }),
  );
}

interface EffectiveEntry {
  /** `socks.handshakeTimeout`. */
  readonly path: string;
  /** The value as YAML; of a secret only whether it is set. */
  readonly value: string;
  readonly source: 'default' | 'file' | 'environment' | 'flag';
  readonly isSecret: boolean;
}

/** @param overrideOf the `where` of the override that set the value at a path; undefined when none did */
function effectiveEntries(
  asRead: ConfigAsRead,
  fileData: unknown,
  overrideOf: (path: readonly string[]) => string | undefined,
): EffectiveEntry[] {
  const plain = toPlain(asRead);
  return [...everyKey(configSchema)].flatMap(({ path, schema }) => {
    // Sections are listed by their keys. Maps have no fixed keys and are listed as one value.
    if (isGroup(schema) && Object.keys(shapeOf(schema)).length > 0) return [];
    const value = valueAt(plain, path);
    const where = overrideOf(path);
    const inFile = valueAt(fileData, path) !== undefined;
    return [
      {
        path: path.join('.'),
        // Not before it is read: a start reads none, and all of them would cost it a hundredth of its processor time.
        get value() {
          return stringify(value, { collectionStyle: 'flow', lineWidth: 0 }).trim();
        },
        source: where ? (where.startsWith('flag') ? 'flag' : 'environment') : inFile ? 'file' : 'default',
        isSecret: aboutOf(schema)?.secret === true,
      } as const,
    ];
  });
}
