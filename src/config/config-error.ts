// The error of a configuration that cannot be used. It stands apart: commands that read no configuration know it too.

/** One thing that is wrong. */
export interface Problem {
  /** `file:line:column`, the name of an environment variable, or a flag. */
  readonly where: string;
  /** Path of the key, `heartbeats.games[1].id`. */
  readonly key?: string;
  readonly text: string;
}

/** The configuration cannot be used. Carries everything that is wrong with it, never a secret. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';

  constructor(
    readonly problems: readonly Problem[],
    options?: ErrorOptions,
  ) {
    const lines = problems.map(
      ({ where, key, text }) => `  ${where}: ${key === undefined ? '' : `${key}: `}${text}`,
    );
    super(`The configuration cannot be used:\n${lines.join('\n')}`, options);
  }
}
