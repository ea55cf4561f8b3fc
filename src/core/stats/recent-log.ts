// The newest lines of the log, in memory as bytes for the console. A line is parsed only when it is read.

/** The levels of log lines, the most severe last. Their first letters differ. */
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;
type LogLevel = (typeof LOG_LEVELS)[number];

interface RecentLogLine {
  /** The ids of later lines are higher, also after a restart. */
  readonly id: number;
  readonly level: LogLevel;
  /** The line as JSON. */
  readonly text: string;
}

export interface RecentLogFilter {
  /** Only lines of this level and more severe ones. */
  readonly level?: LogLevel;
  /** Only lines that contain each of these words, without regard to case. */
  readonly search?: string;
  /** Only lines with higher ids than `after` and lower ids than `before`. */
  readonly after?: number;
  readonly before?: number;
}

export type RecentLog = ReturnType<typeof createRecentLog>;

/** Where the name of the level begins in a line. */
const LEVEL_AT = '{"level":"'.length;
const RANKS = new Map(LOG_LEVELS.map((level, rank) => [level.charCodeAt(0), rank]));
/** The first id is the start time in ms times this number, which exceeds the lines that a daemon writes per millisecond. */
const IDS_PER_MS = 1_000;

/**
 * @param lines the maximum number of lines
 * @param memoryBytes the maximum size of all lines together; a longer line is not kept
 * @param startedAt the start of the daemon, in ms since 1970
 */
export function createRecentLog(options: { lines: number; memoryBytes: number; startedAt: number }) {
  const { lines: maxLines, memoryBytes, startedAt } = options;
  // starts[n % maxLines] is the number of bytes written before line n. Byte b is at position b % memoryBytes.
  const memory = Buffer.alloc(memoryBytes);
  const starts = new Float64Array(maxLines);
  const firstId = startedAt * IDS_PER_MS;
  let oldest = 0;
  let next = 0;
  let written = 0;

  const startOf = (n: number): number => (n === next ? written : (starts[n % maxLines] ?? 0));
  const levelOf = (n: number): number => RANKS.get(memory[(startOf(n) + LEVEL_AT) % memoryBytes] ?? 0) ?? 0;

  function textOf(n: number): string {
    const from = startOf(n) % memoryBytes;
    const length = startOf(n + 1) - startOf(n);
    const atEnd = memory.subarray(from, from + length);
    if (atEnd.length === length) return atEnd.toString();
    return Buffer.concat([atEnd, memory.subarray(0, length - atEnd.length)]).toString();
  }

  return {
    /** Keeps a line and drops the oldest ones that no longer fit. The line is JSON that begins with its level, and ends with a line feed. */
    add(line: string): void {
      const length = Buffer.byteLength(line);
      if (length > memoryBytes) return;
      while (
        oldest < next &&
        (next - oldest === maxLines || written + length - startOf(oldest) > memoryBytes)
      )
        oldest += 1;
      starts[next % maxLines] = written;
      const from = written % memoryBytes;
      if (from + length <= memoryBytes) memory.write(line, from);
      else {
        const bytes = Buffer.from(line);
        bytes.copy(memory, 0, bytes.copy(memory, from));
      }
      written += length;
      next += 1;
    },

    /**
     * Reads lines, newest first.
     * @returns at most `limit` lines; `matched`: how many match level and search; `total`: how many are kept
     */
    read(
      { level = 'trace', search = '', after = -1, before = Infinity }: RecentLogFilter,
      limit: number,
    ): { readonly lines: readonly RecentLogLine[]; readonly matched: number; readonly total: number } {
      const least = LOG_LEVELS.indexOf(level);
      const words = search.toLowerCase().split(/\s+/).filter(Boolean);
      const lines: RecentLogLine[] = [];
      let matched = 0;
      for (let n = next - 1; n >= oldest; n -= 1) {
        const rank = levelOf(n);
        if (rank < least) continue;
        const id = firstId + n;
        const isOnPage = lines.length < limit && id > after && id < before;
        if (words.length === 0 && !isOnPage) {
          matched += 1;
          continue;
        }
        const text = textOf(n);
        const inLowerCase = words.length === 0 ? '' : text.toLowerCase();
        if (!words.every((word) => inLowerCase.includes(word))) continue;
        matched += 1;
        if (isOnPage) lines.push({ id, level: LOG_LEVELS[rank] ?? 'trace', text });
      }
      return { lines, matched, total: next - oldest };
    },
  };
}
