// Reads the YAML file and keeps the line and column of each key for error messages.
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Document, Node, Pair } from 'yaml';
import { isAlias, isMap, isNode, isScalar, isSeq, LineCounter, parseDocument, visit } from 'yaml';
import { codeOf } from '../core/errors.js';
import { decoded, UTF8_WITHOUT_MARK } from '../core/text.js';
import { ConfigError, configError } from './config-error.js';

const MAX_BYTES = 4 * 1024 * 1024;

/** The content of the file as plain data, with the positions of keys and values. */
export type ConfigFile = Awaited<ReturnType<typeof readConfigFile>>;

// Replaces the messages of the parser, which may quote a secret from the file.
const SYNTAX: Readonly<Record<string, string>> = {
  BAD_ALIAS: 'put text that starts with * in quotes',
  BAD_DQ_ESCAPE: 'a backslash inside "…" starts an escape sequence; use \'…\' for text with backslashes',
  BAD_INDENT: 'wrong indentation',
  BAD_SCALAR_START: 'put text that starts with @ or ` in quotes',
  DUPLICATE_KEY: 'duplicate key',
  MISSING_CHAR: 'missing quote, bracket, colon or comma before this position',
  MULTIPLE_DOCS: 'only one YAML document is allowed (--- starts another)',
  TAB_AS_INDENT: 'indent with spaces, not with tabs',
  TAG_RESOLVE_FAILED: 'put text that starts with ! in quotes',
};

/**
 * Reads the configuration file `name`, relative to `cwd`. Messages use `name` as given. An empty file is `{}`.
 * @throws ConfigError when the file cannot be read or is not valid YAML
 */
export async function readConfigFile(name: string, cwd: string) {
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
      faults.map((fault) => ({ where: place(fault.pos[0]), text: SYNTAX[fault.code] ?? 'invalid YAML' })),
    );
  }
  return {
    data: toData(document, name) ?? {},
    /** `file:line:column` of the value (or key) at `path`, or of the nearest enclosing node. */
    where: (path: readonly PropertyKey[], of: 'key' | 'value' = 'value'): string =>
      place(offsetOf(document, path, of)),
  };
}

async function readText(name: string, cwd: string): Promise<string> {
  const bytes = await readFile(resolve(cwd, name)).catch((error: unknown) => {
    throw configError(name, READ_FAULTS[codeOf(error) ?? ''] ?? 'the file cannot be read', error);
  });
  if (bytes.length > MAX_BYTES) throw configError(name, 'the file is larger than 4 MiB');
  const text = decoded(bytes, UTF8_WITHOUT_MARK);
  if (text === null) throw configError(name, 'the file is not valid UTF-8');
  return text;
}

const READ_FAULTS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file',
  EACCES: 'permission denied',
  EISDIR: 'this is a directory, not a file',
};

interface Fault {
  readonly code: string;
  readonly pos: readonly [start: number, ...rest: number[]];
}

/** Finds aliases without an anchor, which the parser does not report. */
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
    throw configError(name, 'too many aliases (*name) in the file', error);
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
    // An omitted value has no position, so use that of its key.
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
