// Accounts as a JSON array of objects (RFC 8259), parsed and written one object at a time.
import { Readable } from 'node:stream';
import { parseJson } from '../core/text.js';
import { decodeText } from './file-text.js';
import { because, type FileView, FormatError, toRow } from './reasons.js';
import { type FileRecord, readRecord } from './record.js';

const MAX_RECORD_CHARS = 64 * 1024;

/** Parses an array of objects as a stream. A format error ends the stream with a last record that contains the error. */
export async function* readJson(
  input: Readable,
  { zone }: { readonly zone?: string | undefined } = {},
): AsyncGenerator<FileRecord> {
  const splitter = createSplitter();
  try {
    for await (const text of decodeText(input, { encoding: 'utf-8' })) yield* read(splitter.push(text), zone);
    splitter.end();
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    yield { line: splitter.line(), username: null, fault: error.fault };
  }
}

function* read(
  objects: Iterable<{ line: number; text: string }>,
  zone: string | undefined,
): Generator<FileRecord> {
  for (const { line, text } of objects) {
    const fields = parseJson(text);
    if (fields === undefined) throw new FormatError(because('not-json'));
    yield readRecord(line, fields as Record<string, unknown>, zone);
  }
}

/** Splits the text of an array into the texts of its objects. */
function createSplitter() {
  let state: 'start' | 'before' | 'object' | 'after' | 'end' = 'start';
  let depth = 0;
  let inString = false;
  let escaped = false;
  let text = '';
  let line = 1;
  let startLine = 1;

  function withinString(char: string): void {
    if (escaped) escaped = false;
    else if (char === '\\') escaped = true;
    else if (char === '"') inString = false;
  }

  /** Adds one character of an object; true after the last one. */
  function within(char: string): boolean {
    text += char;
    if (text.length > MAX_RECORD_CHARS) throw new FormatError(because('json-length'));
    if (inString) withinString(char);
    else if (char === '"') inString = true;
    else if (char === '{' || char === '[') depth += 1;
    else if (char === '}' || char === ']') depth -= 1;
    return depth === 0;
  }

  function between(char: string): void {
    if (/\s/.test(char) || (state === 'start' && char === '\ufeff')) return;
    if (state === 'start' && char === '[') state = 'before';
    else if (state === 'before' && char === '{') {
      state = 'object';
      text = char;
      depth = 1;
      startLine = line;
    } else if (state === 'after' && char === ',') state = 'before';
    else if ((state === 'after' || state === 'before') && char === ']') state = 'end';
    else throw new FormatError(because('not-json-array'));
  }

  return {
    *push(chunk: string): Generator<{ line: number; text: string }> {
      for (const char of chunk) {
        if (char === '\n') line += 1;
        if (state !== 'object') between(char);
        else if (within(char)) {
          state = 'after';
          yield { line: startLine, text };
        }
      }
    },
    end(): void {
      if (state !== 'end') throw new FormatError(because('json-end'));
    },
    line: () => line,
  };
}

/** Writes a JSON array, one object a line. */
export function writeJson(views: Iterable<FileView>, { withHashes }: { withHashes: boolean }): Readable {
  const texts = function* () {
    let before = '[\n';
    for (const view of views) {
      const { passwordHash, linkHash, ...row } = toRow(view);
      yield before + JSON.stringify(withHashes ? { ...row, passwordHash, linkHash } : row);
      before = ',\n';
    }
    yield before === '[\n' ? '[]\n' : '\n]\n';
  };
  return Readable.from(texts());
}
