// The log: JSON lines on stdout, readable lines on a terminal, with priorities in the journal. Secrets are hidden and control
// characters escaped.
import { createRequire } from 'node:module';
import pino, { type DestinationStream, type Logger } from 'pino';
import { HIDDEN } from './config/units.js';
import type { RecentLog } from './core/stats/recent-log.js';
import { printable } from './core/text.js';
import { journalPrefix, toJournal } from './systemd/journal.js';

export type { Logger } from 'pino';

/** Buffer for a reader that has stopped reading. When it is full, lines are dropped. */
const MAX_WAITING_BYTES = 8 * 1024 * 1024;
/** Lines are written in batches of this many characters, or after this time in ms: a write per session costs CPU. */
const BATCH_CHARS = 12 * 1024;
const BATCH_MS = 100;
/** Longer texts are cut. */
const MAX_TEXT_CHARS = 4096;
const MAX_DEPTH = 6;
const MAX_KNOWN_KEYS = 1_000;

const SECRET_KEY = /(password|passwd|secret|authorization|cookie|token|apikey|credential)(hash)?$/i;

/**
 * Creates the logger. Each line has level, time (ISO 8601, UTC), message, and then the fields in the given order. The value of
 * a field named like a secret is hidden at any depth.
 * @param destination the output; default: stdout, formatted when it is a terminal
 * @param recent keeps each line as it is written
 */
export function createLogger({
  level,
  destination = stdout(),
  recent,
}: {
  level: string;
  destination?: DestinationStream;
  recent?: Pick<RecentLog, 'add'>;
}): Logger {
  // Written here in one pass: pino would read each field a second time, from a copy with the cleaned values.
  const logMethod = function (this: Logger, args: readonly unknown[], _: pino.LogFn, rank: number): void {
    const line = lineOf(this.levels.labels[rank] ?? '', args[0], args[1]);
    recent?.add(line);
    destination.write(line);
  };
  return pino({ level, base: null, hooks: { logMethod } }, destination);
}

function stdout(): DestinationStream {
  if (process.stdout.isTTY) {
    // Imported here because only a terminal needs it.
    const pretty = createRequire(import.meta.url)('pino-pretty') as typeof import('pino-pretty');
    return pretty({ ignore: 'pid,hostname', translateTime: 'SYS:HH:MM:ss.l', sync: true });
  }
  const lines = pino.destination({
    fd: 1,
    sync: false,
    maxLength: MAX_WAITING_BYTES,
    // With 0, its `flush` does not wait.
    minLength: 1,
    contentMode: 'buffer',
  });
  // The reader of the log is gone (EPIPE). The daemon continues.
  lines.on('error', () => undefined);
  return inBatches(lines, toJournal(1) ? withPriority : (line) => line);
}

/** Lines begin with their level: `{"level":"warn",`. */
const withPriority = (line: string): string => journalPrefix(line.slice(10, line.indexOf('"', 10))) + line;

type Destination = ReturnType<typeof pino.destination>;

/** Collects lines, and hands them on together. Its timer only runs while lines wait. */
function inBatches(
  lines: Destination,
  toOutput: (line: string) => string,
): DestinationStream & Pick<Destination, 'flush' | 'flushSync'> {
  // The type declares only strings, but `contentMode: 'buffer'` accepts buffers.
  const { write } = lines as unknown as { write(this: Destination, batch: Buffer): boolean };
  let waiting = '';
  let timer: NodeJS.Timeout | undefined;
  const writeBatch = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (waiting !== '') write.call(lines, Buffer.from(waiting));
    waiting = '';
  };
  return {
    write(line) {
      waiting += toOutput(line);
      if (waiting.length >= BATCH_CHARS) writeBatch();
      else timer ??= setTimeout(writeBatch, BATCH_MS);
    },
    flush(done) {
      writeBatch();
      lines.flush(done);
    },
    flushSync() {
      writeBatch();
      lines.flushSync();
    },
  };
}

let shownAt = 0;
let shownTime = '';

/** ISO 8601, UTC. Cached, because many lines have the same millisecond. */
function timeText(at: number): string {
  if (at !== shownAt) {
    shownAt = at;
    shownTime = new Date(at).toISOString();
  }
  return shownTime;
}

/**
 * The line of a message (`second`) with fields, of an error, or of a message alone. The message is before the fields, so that a filter
 * such as fail2ban cannot match text of a client before it. Secrets are hidden and control characters escaped.
 */
function lineOf(level: string, first: unknown, second: unknown): string {
  let line = `{"level":"${level}","time":"${timeText(Date.now())}"`;
  const message = second ?? (first instanceof Error ? first.message : first);
  if (typeof message === 'string') line += `,"msg":${quoted(message)}`;
  if (typeof first === 'object' && first !== null) {
    const fields = (first instanceof Error ? { err: first } : first) as Readonly<Record<string, unknown>>;
    for (const key of Object.keys(fields)) {
      const value = fields[key];
      if (value === undefined) continue;
      const name = nameOf(key);
      const text = name.isSecret && value !== null ? quoted(HIDDEN) : jsonOf(value);
      if (text !== undefined) line += name.text + text;
    }
  }
  return `${line}}\n`;
}

/** Undefined: the value has no JSON. */
function jsonOf(value: unknown): string | undefined {
  if (typeof value === 'string') return quoted(value);
  if (typeof value === 'number') return Number.isFinite(value) ? `${value}` : 'null';
  return JSON.stringify(cleanValue(value, 0));
}

/** As JSON: printable ASCII without quotation mark and backslash needs no escape. */
function quoted(text: string): string {
  const isPlain = text.length <= MAX_TEXT_CHARS && /^[ !#-[\]-~]*$/.test(text);
  return isPlain ? `"${text}"` : JSON.stringify(printable(text, MAX_TEXT_CHARS));
}

function cleanFields(fields: object, depth: number): Record<string, unknown> {
  const clean: Record<string, unknown> = {};
  for (const key of Object.keys(fields)) {
    const value = (fields as Readonly<Record<string, unknown>>)[key];
    if (value === undefined) continue;
    const isHidden = value !== null && nameOf(key).isSecret;
    clean[key] = isHidden ? HIDDEN : cleanValue(value, depth);
  }
  return clean;
}

interface FieldName {
  /** As JSON, between two fields. */
  readonly text: string;
  readonly isSecret: boolean;
}

/** A cache of `nameOf`; bounded, because clients choose the names of headers. */
const knownNames = new Map<string, FieldName>();

function nameOf(key: string): FieldName {
  const known = knownNames.get(key);
  if (known !== undefined) return known;
  const name = { text: `,${quoted(key)}:`, isSecret: SECRET_KEY.test(key) };
  if (knownNames.size < MAX_KNOWN_KEYS) knownNames.set(key, name);
  return name;
}

function cleanValue(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return printable(value, MAX_TEXT_CHARS);
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= MAX_DEPTH) return '…';
  if (value instanceof Error) return cleanError(value);
  if (Array.isArray(value)) return value.map((item: unknown) => cleanValue(item, depth + 1));
  if ('toJSON' in value && typeof value.toJSON === 'function') return value;
  return cleanFields(value, depth + 1);
}

function cleanError(error: unknown): unknown {
  if (!(error instanceof Error)) return cleanValue(error, 0);
  const { message, stack, code, cause } = error as Error & { code?: unknown };
  return {
    type: error.name,
    message: printable(message, MAX_TEXT_CHARS),
    ...(code === undefined ? {} : { code }),
    // Only the frames: the first lines repeat the message.
    stack: stack
      ?.split('\n')
      .filter((line) => /^ {4}at /.test(line))
      .join('\n'),
    ...(cause === undefined ? {} : { cause: cleanError(cause) }),
  };
}
