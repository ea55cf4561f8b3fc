// Loads the configuration: defaults, then the file, then the environment, then flags; checked all at once.
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { ConfigError } from './config-error.js';
import { type EffectiveEntry, effectiveEntries } from './effective.js';
import { type ConfigFile, readConfigFile } from './file.js';
import { fromEnvironment, layOver, type Override } from './overrides.js';
import { pathText, toProblems } from './problems.js';
import { type Config, configSchema, type Settings } from './schema.js';
import { isPlainObject, nameUnits } from './units.js';
import * as walk from './walk.js';
import { webhookWarnings } from './webhooks-schema.js';

/** Looked for where no file is named; the first there is. The last is where an installed daemon has its own. */
const DEFAULT_FILES: readonly string[] = ['pulsegate.yaml', '/etc/pulsegate/pulsegate.yaml'];

export interface LoadOptions {
  /** `--config`; goes before PULSEGATE_CONFIG, which goes before `defaultFiles`. */
  readonly file?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Values given by flags, `{ path: ['socks', 'port'], text: '1081', where: '--socks-port' }`. */
  readonly flags?: readonly Override[];
  /** The folder relative paths start from. Default: the current one. */
  readonly cwd?: string;
  /** Looked for in this order where no file is named. Default: ./pulsegate.yaml, /etc/pulsegate/pulsegate.yaml. */
  readonly defaultFiles?: readonly string[];
}

export interface Loaded {
  readonly config: Config;
  /** The same with keys and values as they stand in a file, for `config print`. Secrets are wrapped. */
  readonly settings: Settings;
  /** The file that was read; null when there was none. */
  readonly file: string | null;
  /** Every key with its value and where that comes from; secrets hidden. */
  readonly effective: readonly EffectiveEntry[];
  /** What is allowed, but not wise. */
  readonly warnings: readonly string[];
}

/**
 * Loads and checks the configuration. `dataDir` becomes an absolute path.
 * @throws ConfigError with every problem found
 */
export async function loadConfig({
  file,
  env,
  flags = [],
  cwd = process.cwd(),
  defaultFiles = DEFAULT_FILES,
}: LoadOptions): Promise<Loaded> {
  const name = file ?? (env['PULSEGATE_CONFIG'] || (await firstThere(defaultFiles, cwd)));
  const content = name === null ? NO_FILE : await readConfigFile(name, cwd);
  const fileData = emptySections(content.data, configSchema);
  const { overrides, problems } = fromEnvironment(env, configSchema, fileData);
  const all = [...overrides, ...flags];
  const data = layOver(fileData, all, configSchema);
  const parsed = configSchema.safeParse(data);
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
  const settings = { ...parsed.data, dataDir: resolve(cwd, parsed.data.dataDir) };
  return {
    config: nameUnits(settings),
    settings,
    file: name,
    effective: effectiveEntries(settings, fileData, (path) => origin(all, path)),
    warnings: webhookWarnings(settings),
  };
}

const NO_FILE: ConfigFile = { data: {}, where: () => 'configuration' };

async function firstThere(files: readonly string[], cwd: string): Promise<string | null> {
  for (const file of files) {
    const found = await stat(resolve(cwd, file)).catch(() => null);
    if (found) return file;
  }
  return null;
}

/** The variable or flag that set the value at `path`, or something in it. The last one wins. */
function origin(overrides: readonly Override[], path: readonly PropertyKey[]): string | undefined {
  const text = pathText(path);
  return overrides.findLast((override) => {
    const own = pathText(override.path);
    return text === own || text.startsWith(`${own}.`) || text.startsWith(`${own}[`);
  })?.where;
}

/** A section whose keys are all commented out is null in YAML: read as having none set. */
function emptySections(data: unknown, schema: walk.Schema): unknown {
  if (data === null && walk.isGroup(schema)) return {};
  if (!isPlainObject(data) || !walk.isGroup(schema)) return data;
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => {
      const child = walk.childOf(schema, key, data);
      return [key, child ? emptySections(value, child) : value];
    }),
  );
}
