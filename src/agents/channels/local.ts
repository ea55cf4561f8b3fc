// The channels of this machine: a file, and the daemon's log.
import { constants, type FileHandle, open } from 'node:fs/promises';
import type { Channel } from '../../core/agents/runs.js';
import type { Log } from '../../core/log.js';
import type { InTurn } from '../../core/time/turns.js';

const LINE_FEED = 0x0a;

/** Writes the reply as one line to the daemon's log. */
export function createLogChannel(log: Pick<Log, 'info'>): Channel {
  return {
    type: 'log',
    async deliver(reply) {
      log.info({ delivery: reply }, 'agent reply');
      return { ok: true, detail: 'logged' };
    },
  };
}

/**
 * Appends one JSON line per reply to a file. Creates a missing file, but not a missing folder.
 * @param inTurn shared by all file channels, because two agents may write to one file
 */
export function createFileChannel(path: string, inTurn: InTurn): Channel {
  return {
    type: 'file',
    async deliver(reply) {
      try {
        await inTurn(path, () => appendLine(path, JSON.stringify(reply)));
        return { ok: true, detail: 'written' };
      } catch (error) {
        return { ok: false, detail: error instanceof Error ? error.message : String(error), again: true };
      }
    },
  };
}

/** Appends a line and waits until it is on the disk. Completes a last line that a crash cut short, with a line break. */
async function appendLine(path: string, line: string): Promise<void> {
  const file = await open(path, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT, 0o600);
  try {
    const text = (await hasIncompleteLine(file)) ? `\n${line}\n` : `${line}\n`;
    await file.appendFile(text);
    await file.datasync();
  } finally {
    await file.close();
  }
}

async function hasIncompleteLine(file: FileHandle): Promise<boolean> {
  const { size } = await file.stat();
  if (size === 0) return false;
  const last = Buffer.alloc(1);
  await file.read(last, 0, 1, size - 1);
  return last[0] !== LINE_FEED;
}
