// Takes an upload in before it is worked on: whoever sends it need not wait for the database, nor hold a request open.
import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';

/**
 * Writes the chunks of `input` to a file in `folder` that has no name any more, so that nothing is left of it whatever happens, and
 * yields what `use` makes of it. Rejects with the error of `input`.
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
