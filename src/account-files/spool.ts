// Stores an input in a temporary file: an upload, so that the client need not wait for the database, and what a command reads twice.
import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';

/**
 * Writes `input` to an unlinked temporary file in `folder`, which disappears when the process exits. The result opens the file from
 * its beginning each time. Rejects with the error of `input`.
 */
export async function spool(folder: string, input: AsyncIterable<Buffer | string>) {
  const path = join(folder, `upload-${randomUUID()}.tmp`);
  const handle = await open(path, 'wx+', 0o600);
  try {
    await unlink(path);
    for await (const chunk of input) await handle.appendFile(chunk);
  } catch (error) {
    await handle.close();
    throw error;
  }
  const read = (): Readable => createReadStream('', { fd: handle.fd, start: 0, autoClose: false });
  return { read, close: () => handle.close() };
}
