// The error for an invalid configuration. A separate file, so that commands without a configuration need not load zod and yaml.

export interface Problem {
  /** `file:line:column`, the name of an environment variable, or a command line option. */
  readonly where: string;
  /** Path of the key, `heartbeats.games[1].id`. */
  readonly key?: string;
  readonly text: string;
}

/** The configuration is invalid. Lists all problems and contains no secrets. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';

  constructor(
    readonly problems: readonly Problem[],
    options?: ErrorOptions,
  ) {
    const lines = problems.map(
      ({ where, key, text }) => `  ${where}: ${key === undefined ? '' : `${key}: `}${text}`,
    );
    super(`Invalid configuration:\n${lines.join('\n')}`, options);
  }
}

export const configError = (where: string, text: string, cause?: unknown): ConfigError =>
  new ConfigError([{ where, text }], { cause });
