// The journal of systemd: whether an output is one, and how a line says its priority (sd-daemon(3)).
import { fstatSync } from 'node:fs';
import { tryOr } from '../core/errors.js';

/** The levels of the log as priorities of syslog(3). */
const PRIORITIES: Readonly<Record<string, number>> = {
  fatal: 2,
  error: 3,
  warn: 4,
  info: 6,
  debug: 7,
  trace: 7,
};

/** `<4>`, which the journal removes from the line. */
export const journalPrefix = (level: string): string => `<${PRIORITIES[level] ?? 6}>`;

/** Whether the descriptor is the stream to the journal that systemd names in JOURNAL_STREAM (systemd.exec(5)). */
export function toJournal(fd: number, env = process.env): boolean {
  const stream = env['JOURNAL_STREAM'];
  if (!stream) return false;
  const output = tryOr(null, () => fstatSync(fd, { bigint: true }));
  return output !== null && stream === `${output.dev}:${output.ino}`;
}
