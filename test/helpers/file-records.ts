// Reads account files in tests: content that arrives in chunks, and all records of a file.
import { Readable } from 'node:stream';
import type { FileRecord } from '../../src/account-files/record.js';

/** Returns a stream of chunks of `chunkBytes` bytes, as a slow disk or network delivers them. */
export function inChunks(content: string | Buffer, chunkBytes = 7): Readable {
  const bytes = Buffer.from(content);
  const chunks = Array.from({ length: Math.ceil(bytes.length / chunkBytes) }, (_, i) =>
    bytes.subarray(i * chunkBytes, (i + 1) * chunkBytes),
  );
  return Readable.from(chunks, { objectMode: false });
}

export async function allRecords(records: AsyncIterable<FileRecord>): Promise<FileRecord[]> {
  const list: FileRecord[] = [];
  for await (const record of records) list.push(record);
  return list;
}
