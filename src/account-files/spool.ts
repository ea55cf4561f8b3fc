// Stores an upload in a temporary file before processing, so that the client need not wait for the database.
import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';

/**
 * Writes `input` to an unlinked temporary file in `folder`, which disappears when the process exits, and yields the results of
 * `use`. Rejects with the error of `input`.
 */
export async function* spooled<T>(
  folder: string,
  input: AsyncIterable<Buffer>,
  use: (file: Readable) => AsyncIterable<T>,
): AsyncGenerator<T> {
  const path = join(folder, `upload-${randomUUID()}.tmp`);
  const handle = await open(path, 'wx+', 0o600);
  try {
    await unlink(path);
    for await (const chunk of input) await handle.appendFile(chunk);
    yield* use(createReadStream('', { fd: handle, start: 0, autoClose: false }));
  } finally {
    await handle.close();
  }
}
