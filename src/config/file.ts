// Reads the YAML file and remembers on which line and column each key stands.
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  visit,
} from 'yaml';
import { ConfigError } from './config-error.js';

const MAX_BYTES = 4 * 1024 * 1024;

/** The file's content as plain data, and where things stand in it. */
export interface ConfigFile {
  readonly data: unknown;
  /** `file:line:column` of the value at `path`, of its key with `'key'`, or of the nearest thing around it. */
  where(path: readonly PropertyKey[], of?: 'key' | 'value'): string;
}

// Our own words: those of the parser may quote the text at fault, which may be a secret.
const SYNTAX: Readonly<Record<string, string>> = {
  BAD_ALIAS: 'a * that starts a text needs quotes around the text',
  BAD_DQ_ESCAPE: 'a backslash within "…" starts an escape; use \'…\' for text with backslashes',
  BAD_INDENT: 'the indentation does not fit the lines around it',
  BAD_SCALAR_START: 'a text that starts with @ or ` needs quotes around it',
  DUPLICATE_KEY: 'the same key stands here twice',
  MISSING_CHAR: 'a quote, bracket, colon or comma is missing before this point',
  MULTIPLE_DOCS: 'only one YAML document is allowed (--- starts another)',
  TAB_AS_INDENT: 'indent with spaces, not with tabs',
  TAG_RESOLVE_FAILED: 'a ! that starts a text needs quotes around the text',
};

/**
 * Reads a configuration file; `name` is relative to `cwd` and is what messages call it. An empty file is `{}`.
 * @throws ConfigError when it cannot be read or is not YAML
 */
export async function readConfigFile(name: string, cwd: string): Promise<ConfigFile> {
  const text = await readText(name, cwd);
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    stringKeys: true,
    logLevel: 'error',
  });
  const place = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${name}:${line}:${col}`;
  };
  const faults: Fault[] = [...document.errors, ...document.warnings, ...unknownAliases(document)];
  if (faults.length > 0) {
    throw new ConfigError(
      faults.map((fault) => ({
        where: place(fault.pos[0]),
        text: SYNTAX[fault.code] ?? 'this is not valid YAML',
      })),
    );
  }
  return {
    data: toData(document, name) ?? {},
    where: (path, of = 'value') => place(offsetOf(document, path, of)),
  };
}

async function readText(name: string, cwd: string): Promise<string> {
  const refuse = (text: string, cause?: unknown) => new ConfigError([{ where: name, text }], { cause });
  let bytes: Buffer;
  try {
    bytes = await readFile(resolve(cwd, name));
  } catch (error) {
    throw refuse(
      READ_FAULTS[(error as NodeJS.ErrnoException).code ?? ''] ?? 'the file cannot be read',
      error,
    );
  }
  if (bytes.length > MAX_BYTES) throw refuse('the file is larger than 4 MiB');
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw refuse('the file is not UTF-8 text', error);
  }
}

const READ_FAULTS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EACCES: 'this user may not read the file',
  EISDIR: 'this is a folder, not a file',
};

interface Fault {
  readonly code: string;
  readonly pos: readonly [start: number, ...rest: number[]];
}

/** The parser leaves it to the reader to find that an alias names nothing. */
function unknownAliases(document: Document): Fault[] {
  const faults: Fault[] = [];
  visit(document, {
    Alias: (_key, alias) => {
      if (!alias.resolve(document)) faults.push({ code: 'BAD_ALIAS', pos: [alias.range?.[0] ?? 0] });
    },
  });
  return faults;
}

function toData(document: Document, name: string): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    throw new ConfigError([{ where: name, text: 'too many aliases (*name) in the file' }], { cause: error });
  }
}

function offsetOf(document: Document, path: readonly PropertyKey[], of: 'key' | 'value'): number {
  let node: unknown = document.contents;
  let offset = startOf(node) ?? 0;
  for (const [index, key] of path.entries()) {
    if (isAlias(node)) node = node.resolve(document);
    const pair = isMap(node) ? node.items.find((item) => keyText(item) === String(key)) : undefined;
    const next: unknown = isSeq(node) ? node.items[Number(key)] : pair?.value;
    const wanted = of === 'key' && index === path.length - 1 ? pair?.key : next;
    // A value that was left out has no place: its key has.
    const found =
      (isScalar(wanted) && wanted.source === '' ? startOf(pair?.key) : startOf(wanted)) ?? startOf(pair?.key);
    if (found === undefined) return offset;
    offset = found;
    node = next;
  }
  return offset;
}

const keyText = (pair: Pair): string => (isScalar(pair.key) ? String(pair.key.value) : '');

const startOf = (node: unknown): number | undefined => (isNode(node) ? (node as Node).range?.[0] : undefined);
