// Turns issues of the schema into messages for operators: position, key, value found, values allowed.
import { z } from 'zod';
import { closest } from '../core/text.js';
import type { Problem } from './config-error.js';
import { HIDDEN } from './units.js';
import * as walk from './walk.js';

type Locate = (path: readonly PropertyKey[], of: 'key' | 'value') => string;

export function toProblems(
  issues: readonly z.core.$ZodIssue[],
  schema: walk.Schema,
  data: unknown,
  locate: Locate,
): Problem[] {
  return issues.flatMap((issue): Problem[] => {
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => {
        const path = [...issue.path, key];
        return {
          where: locate(path, 'key'),
          key: pathText(path),
          text: unknownKey(schema, data, issue.path, key),
        };
      });
    }
    const of = issue.code === 'invalid_key' ? 'key' : 'value';
    return [{ where: locate(issue.path, of), key: pathText(issue.path), text: explain(issue, schema, data) }];
  });
}

function explain(issue: z.core.$ZodIssue, schema: walk.Schema, data: unknown): string {
  const at = schemaAt(schema, data, issue.path);
  const value = walk.valueAt(data, issue.path);
  if (issue.code === 'invalid_key') {
    return `found ${show(issue.path.at(-1))} as a name; allowed: ${allowedKey(schemaAt(schema, data, issue.path.slice(0, -1)))}`;
  }
  const about = at && walk.aboutOf(at);
  if (issue.code === 'custom' && issue.params?.['isSentence']) return issue.message;
  if (issue.code === 'custom' && issue.message !== 'Invalid input') {
    return `found ${about?.secret ? kindOf(value) : show(value)}; allowed: ${issue.message}`;
  }
  if (issue.code === 'invalid_union' && issue.path.at(-1) === 'type') {
    const types = walk.typesOf(schemaAt(schema, data, issue.path.slice(0, -1)) ?? schema);
    return `found ${show(value)}; allowed: ${types.join(', ')}`;
  }
  if (!about) return `found ${kindOf(value)}; allowed: ${at ? container(at) : 'another value'}`;
  return `found ${about.secret ? kindOf(value) : show(value)}; allowed: ${about.allowed}`;
}

function schemaAt(schema: walk.Schema, data: unknown, path: readonly PropertyKey[]): walk.Schema | undefined {
  let at: walk.Schema | undefined = schema;
  for (const [index, key] of path.entries()) {
    if (!at || typeof key === 'symbol') return undefined;
    // A value such as "a host or a list of hosts" has one description for the whole value.
    if (walk.aboutOf(at)) return at;
    at = walk.childOf(at, key, walk.valueAt(data, path.slice(0, index)));
  }
  return at;
}

function allowedKey(schema: walk.Schema | undefined): string {
  const inner = schema && walk.unwrap(schema);
  return (inner instanceof z.ZodRecord && walk.aboutOf(inner.keyType)?.allowed) || 'another name';
}

function container(schema: walk.Schema): string {
  const inner = walk.unwrap(schema);
  if (inner instanceof z.ZodArray) return 'a list';
  if (inner instanceof z.ZodRecord) return 'a map from names to groups of keys';
  return 'a group of keys';
}

function unknownKey(schema: walk.Schema, data: unknown, at: readonly PropertyKey[], key: string): string {
  const section = schemaAt(schema, data, at);
  const siblings = section ? Object.keys(walk.shapeOf(section, walk.valueAt(data, at))) : [];
  const near = closest(key, siblings);
  if (near) return `unknown key; did you mean ${pathText([...at, near])}?`;
  const elsewhere = [...walk.everyKey(schema)]
    .map(({ path }) => path)
    .filter((path) => path.at(-1)?.toLowerCase() === key.toLowerCase())
    .map((path) => pathText(path));
  if (elsewhere.length > 0) return `unknown key; did you mean ${elsewhere.join(' or ')}?`;
  return `unknown key; allowed: ${siblings.join(', ')}`;
}

/** `['heartbeats', 'games', 1, 'id']` as `heartbeats.games[1].id`; the whole file is `(file)`. */
export function pathText(path: readonly PropertyKey[]): string {
  if (path.length === 0) return '(file)';
  return path
    .map((key, i) => (typeof key === 'number' ? `[${key}]` : `${i > 0 ? '.' : ''}${printable(String(key))}`))
    .join('');
}

/** A value on one short line. */
function show(value: unknown): string {
  // A URL may contain a password, even in a key that is not secret.
  if (typeof value === 'string')
    return JSON.stringify(printable(value.replace(/:\/\/.*@/s, `://${HIDDEN}@`)));
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return kindOf(value);
}

/** The type of a value, without showing the value. */
function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  if (value === '') return 'an empty text';
  const kinds: Readonly<Record<string, string>> = {
    string: 'a text',
    number: 'a number',
    bigint: 'a number',
    boolean: 'true or false',
    object: 'a group of keys',
  };
  return kinds[typeof value] ?? 'something else';
}

function printable(text: string): string {
  const clean = text.replace(/[\p{C}\u2028\u2029]/gu, '?');
  return clean.length > 60 ? `${clean.slice(0, 60)}…` : clean;
}
