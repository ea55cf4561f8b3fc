// Detects the encoding of a text file from its bytes, and decodes it as a stream.
import { isAscii } from 'node:buffer';
import type { Readable } from 'node:stream';
import { succeeds } from '../core/errors.js';
import { decoded, UTF8_WITHOUT_MARK } from '../core/text.js';
import { because, FormatError } from './reasons.js';

export const FILE_ENCODINGS = ['utf-8', 'gb18030', 'utf-16le', 'utf-16be'] as const;
/** `gb18030` includes its subsets GBK and GB 2312, which Excel uses for CSV on Chinese Windows. */
export type FileEncoding = (typeof FILE_ENCODINGS)[number];

export interface TextOptions {
  /** Default: detected. */
  readonly encoding?: FileEncoding | undefined;
  /** Called once, before the first text that depends on the encoding; not called for an empty file. */
  readonly onEncoding?: ((encoding: FileEncoding) => void) | undefined;
}

type Decoder = InstanceType<typeof TextDecoder>;

/** Number of bytes to examine for a byte order mark, or for the zero bytes of UTF-16 without one. */
const HEAD_BYTES = 256;
/** Number of bytes after the first non-ASCII byte that must be valid UTF-8 to decide for UTF-8. */
const DECIDING_BYTES = 64 * 1024;

/** Yields the decoded text in chunks. Throws FormatError for invalid bytes, and whatever `input` throws. */
export async function* decodeText(input: Readable, options: TextOptions = {}): AsyncGenerator<string> {
  let held: Buffer = Buffer.alloc(0);
  let isStart = true;
  let decoder: Decoder | null = null;
  const decide = (encoding: FileEncoding): Decoder => {
    options.onEncoding?.(encoding);
    decoder = new TextDecoder(encoding, { fatal: true });
    return decoder;
  };
  for await (const chunk of input as AsyncIterable<Buffer>) {
    if (decoder) {
      yield decode(decoder, chunk, true);
      continue;
    }
    held = Buffer.concat([held, chunk]);
    if (isStart && held.length < HEAD_BYTES) continue;
    const encoding = options.encoding ?? encodingOf(held, { isStart, isAll: false });
    isStart = false;
    if (encoding !== null) yield decode(decide(encoding), held, true);
    else {
      // ASCII is the same in UTF-8 and GB 18030, so pass it on before the decision.
      const ascii = asciiLength(held);
      if (ascii > 0) yield held.toString('latin1', 0, ascii);
      held = held.subarray(ascii);
    }
  }
  if (!decoder && (held.length > 0 || !isStart)) {
    const encoding = options.encoding ?? encodingOf(held, { isStart, isAll: true }) ?? 'utf-8';
    yield decode(decide(encoding), held, true);
  }
  if (decoder) yield decode(decoder, Buffer.alloc(0), false);
}

function decode(decoder: Decoder, bytes: Buffer, stream: boolean): string {
  try {
    return decoder.decode(bytes, { stream });
  } catch (cause) {
    throw new FormatError(because('encoding', { encoding: decoder.encoding }), { cause });
  }
}

/** Null when more bytes are needed to decide. */
function encodingOf(
  held: Buffer,
  { isStart, isAll }: { readonly isStart: boolean; readonly isAll: boolean },
): FileEncoding | null {
  if (isStart) {
    if (held[0] === 0xff && held[1] === 0xfe) return 'utf-16le';
    if (held[0] === 0xfe && held[1] === 0xff) return 'utf-16be';
    const zeros = (parity: number): number =>
      held.subarray(0, HEAD_BYTES).filter((byte, i) => byte === 0 && i % 2 === parity).length;
    const [even, odd] = [zeros(0), zeros(1)];
    if (even + odd > 0) return odd >= even ? 'utf-16le' : 'utf-16be';
  }
  const rest = held.subarray(asciiLength(held));
  if (!isAll && rest.length < DECIDING_BYTES) return null;
  // The buffer may end in the middle of a character.
  const decoder = new TextDecoder('utf-8', { fatal: true });
  return succeeds(() => decoder.decode(rest, { stream: !isAll })) ? 'utf-8' : 'gb18030';
}

function asciiLength(bytes: Buffer): number {
  if (isAscii(bytes)) return bytes.length;
  let at = 0;
  while (Number(bytes[at]) < 0x80) at += 1;
  return at;
}

/** Decodes complete bytes as UTF-8, or else as GB 18030. */
export const textOf = (bytes: Buffer): string =>
  decoded(bytes, UTF8_WITHOUT_MARK) ?? new TextDecoder('gb18030').decode(bytes);
