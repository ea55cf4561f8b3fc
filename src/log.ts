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
/** Lines are written in batches of this many bytes, or after this time in ms: a write per session costs CPU. */
const BATCH_BYTES = 12 * 1024;
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
  if (recent) keepLines(destination, recent);
  return pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${timeText(Date.now())}"`,
      formatters: { level: (label) => ({ level: label }) },
      // `messageFirst` has already serialized the error.
      serializers: { err: (cleaned: unknown) => cleaned },
      hooks: { logMethod: messageFirst },
    },
    destination,
  );
}

/** Adds each line that is written to `destination`. */
function keepLines(destination: DestinationStream, recent: Pick<RecentLog, 'add'>): void {
  const write = destination.write.bind(destination);
  destination.write = (line) => {
    recent.add(line);
    return write(line);
  };
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
    minLength: BATCH_BYTES,
    contentMode: 'buffer',
  });
  // The reader of the log is gone (EPIPE). The daemon continues.
  lines.on('error', () => undefined);
  return inBatches(lines, toJournal(1) ? withPriority : (line) => line);
}

/** Lines begin with their level: `{"level":"warn",`. */
const withPriority = (line: string): string => journalPrefix(line.slice(10, line.indexOf('"', 10))) + line;

type Destination = ReturnType<typeof pino.destination>;

/**
 * Collects lines as bytes, because `lines` would measure a batch of strings again at each line. Its timer only runs while lines
 * wait.
 */
function inBatches(
  lines: Destination,
  toOutput: (line: string) => string,
): DestinationStream & Pick<Destination, 'flush' | 'flushSync'> {
  // The type declares only strings, but `contentMode: 'buffer'` accepts buffers.
  const { write } = lines as unknown as { write(this: Destination, line: Buffer): boolean };
  let waitingBytes = 0;
  let isScheduled = false;
  const removeWaiting = (bytes: number): void => {
    waitingBytes -= bytes;
  };
  lines.on('write', removeWaiting);
  lines.on('drop', (line: Buffer) => removeWaiting(line.length));
  const schedule = (): void => {
    isScheduled = true;
    setTimeout(writeBatch, BATCH_MS).unref();
  };
  const writeBatch = (): void => {
    isScheduled = false;
    if (waitingBytes === 0) return;
    lines.flush();
    // Lines that arrive during a write wait for the next one.
    schedule();
  };
  return {
    write(line) {
      const bytes = Buffer.from(toOutput(line));
      waitingBytes += bytes.length;
      write.call(lines, bytes);
      if (!isScheduled) schedule();
    },
    flush: (done) => lines.flush(done),
    flushSync() {
      lines.flushSync();
      waitingBytes = 0;
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
 * Puts the message before the fields, so that a filter such as fail2ban cannot match text of a client before it. Hides secrets
 * and escapes control characters.
 */
function messageFirst(this: Logger, args: Parameters<pino.LogFn>, method: pino.LogFn): void {
  const [first, message, ...rest] = args as unknown as [unknown, unknown, ...unknown[]];
  const isFields = typeof first === 'object' && first !== null;
  const line: Record<string, unknown> = {};
  if (first instanceof Error && message === undefined) line['msg'] = printable(first.message, MAX_TEXT_CHARS);
  if (isFields && typeof message === 'string' && rest.length === 0) {
    line['msg'] = message;
    args.length = 1;
  }
  if (isFields) args[0] = addCleaned(line, first instanceof Error ? { err: first } : first, 0);
  method.apply(this, args);
}

function addCleaned(clean: Record<string, unknown>, fields: object, depth: number): Record<string, unknown> {
  for (const key of Object.keys(fields)) {
    const value = (fields as Readonly<Record<string, unknown>>)[key];
    if (value === undefined) continue;
    const isHidden = value !== null && isSecret(key);
    clean[key] = isHidden ? HIDDEN : cleanValue(value, depth);
  }
  return clean;
}

/** A cache of `isSecret`; bounded, because clients choose the names of headers. */
const isSecretByKey = new Map<string, boolean>();

function isSecret(key: string): boolean {
  const known = isSecretByKey.get(key);
  if (known !== undefined) return known;
  const secret = SECRET_KEY.test(key);
  if (isSecretByKey.size < MAX_KNOWN_KEYS) isSecretByKey.set(key, secret);
  return secret;
}

function cleanValue(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return printable(value, MAX_TEXT_CHARS);
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= MAX_DEPTH) return '…';
  if (value instanceof Error) return cleanError(value);
  if (Array.isArray(value)) return value.map((item: unknown) => cleanValue(item, depth + 1));
  if ('toJSON' in value) return value;
  return addCleaned({}, value, depth + 1);
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
