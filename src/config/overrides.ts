// Values that come from outside the file: environment variables and flags, laid over what the file says.
import { parseDocument } from 'yaml';
import { RUN_VARIABLES } from '../core/agents/run-variables.js';
import type { Problem } from './config-error.js';
import { closest } from './suggest.js';
import { isPlainObject } from './units.js';
import * as walk from './walk.js';

/** One value from outside the file. `where` names the variable or the flag. */
export interface Override {
  readonly path: readonly string[];
  readonly text: string;
  readonly where: string;
}

const PREFIX = 'PULSEGATE_';

/** Variables that are not keys: where the file is, and the admin credentials (see credentials.ts). */
const RESERVED = [
  'PULSEGATE_CONFIG',
  'PULSEGATE_ADMIN_USERNAME',
  'PULSEGATE_ADMIN_PASSWORD',
  'PULSEGATE_ADMIN_PASSWORD_FILE',
];

/** Variables that Kubernetes sets in every pod for a service named pulsegate, or pulsegate-something. */
const SERVICE_VARIABLES = [
  /^PULSEGATE_(\w+_)?SERVICE_HOST$/,
  /^PULSEGATE_(\w+_)?SERVICE_PORT(_\w+)?$/,
  /^PULSEGATE_(\w+_)?PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/,
];
const SERVICE_PORT = /^PULSEGATE_(\w+_)?PORT$/;
const SERVICE_PORT_VALUE = /^(tcp|udp|sctp):\/\//;

/** Whether somebody else has set the variable, for programs of all kinds, and means no key of ours. */
function isForeign(name: string, text: string): boolean {
  if (RUN_VARIABLES.includes(name)) return true;
  if (SERVICE_VARIABLES.some((pattern) => pattern.test(name))) return true;
  return SERVICE_PORT.test(name) && SERVICE_PORT_VALUE.test(text);
}

/**
 * Reads the keys set by `PULSEGATE_…` variables: two underscores go one level down, single ones and case do not matter.
 * An empty variable counts as not set. `data` is what the file says; names in its maps are matched the same way.
 */
export function fromEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  schema: walk.Schema,
  data: unknown,
): { overrides: Override[]; problems: Problem[] } {
  const overrides: Override[] = [];
  const problems: Problem[] = [];
  const seen = new Map<string, string>();
  for (const [name, text = ''] of Object.entries(env).sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (!name.startsWith(PREFIX) || RESERVED.includes(name) || text === '') continue;
    const path = findPath(name.slice(PREFIX.length).split('__'), schema, data);
    if (!path && isForeign(name, text)) continue;
    if (!path) {
      problems.push({ where: 'environment', key: name, text: unknownVariable(name, schema) });
      continue;
    }
    const twin = seen.get(path.join('.'));
    if (twin)
      problems.push({
        where: 'environment',
        key: name,
        text: `${twin} sets the same key; keep one of the two`,
      });
    seen.set(path.join('.'), name);
    overrides.push({ path, text, where: `environment ${name}` });
  }
  return { overrides, problems };
}

const fold = (name: string): string => name.toLowerCase().replace(/[_.-]/g, '');

function findPath(parts: readonly string[], schema: walk.Schema, data: unknown): string[] | null {
  const path: string[] = [];
  let at: walk.Schema | undefined = schema;
  let value = data;
  for (const part of parts) {
    if (part === '' || !at || !walk.isGroup(at)) return null;
    const fixed = Object.keys(walk.shapeOf(at));
    const names = fixed.length > 0 ? fixed : isPlainObject(value) ? Object.keys(value) : [];
    // A map takes any name; one that the file does not have yet is written in lower case.
    const key: string | undefined =
      names.find((name) => fold(name) === fold(part)) ?? (fixed.length > 0 ? undefined : part.toLowerCase());
    if (key === undefined) return null;
    path.push(key);
    at = walk.childOf(at, key);
    value = walk.valueAt(value, [key]);
  }
  return at ? path : null;
}

function unknownVariable(name: string, schema: walk.Schema): string {
  const known = [...RESERVED, ...[...walk.everyKey(schema)].map(({ path }) => variableName(path))];
  const near = closest(
    name.slice(PREFIX.length),
    known.map((variable) => variable.slice(PREFIX.length)),
  );
  const shape = 'two underscores go one level down, as in PULSEGATE_SOCKS__PORT';
  return near ? `there is no such key; did you mean ${PREFIX}${near}?` : `there is no such key (${shape})`;
}

/** `['socks', 'idleTimeout']` as `PULSEGATE_SOCKS__IDLE_TIMEOUT`. */
function variableName(path: readonly string[]): string {
  return PREFIX + path.map((key) => key.replace(/[A-Z]/g, '_$&').toUpperCase()).join('__');
}

/**
 * Lays overrides over `data`, later ones over earlier ones, and returns the result; `data` stays as it is.
 * A text that is not readable as what its key takes is kept as text, for the schema to refuse.
 */
export function layOver(data: unknown, overrides: readonly Override[], schema: walk.Schema): unknown {
  const result: unknown = structuredClone(data);
  for (const { path, text } of overrides) {
    let at: walk.Schema = schema;
    let group = result;
    for (const [index, key] of path.entries()) {
      // The file has something else where a group of keys should be: the schema will say so.
      if (!isPlainObject(group)) break;
      at = walk.childOf(at, key, group) ?? walk.childOf(at, key) ?? at;
      if (index === path.length - 1) group[key] = readValue(text, at);
      else group = group[key] ??= {};
    }
  }
  return result;
}

function readValue(text: string, schema: walk.Schema): unknown {
  if (walk.isText(schema)) return text === 'null' && walk.isNullable(schema) ? null : text;
  const document = parseDocument(text, { prettyErrors: false, stringKeys: true, logLevel: 'silent' });
  if (document.errors.length > 0 || document.warnings.length > 0) return text;
  return document.toJS({ maxAliasCount: 0 });
}
