// The little that the parts ask of a logger. pino's loggers have this shape; tests pass an array-backed one.

type Write = (fields: Readonly<Record<string, unknown>>, message: string) => void;

export interface Log {
  readonly debug: Write;
  readonly info: Write;
  readonly warn: Write;
  readonly error: Write;
}
