// Overrides of the configuration file: environment variables and command line options.
import { parseDocument } from 'yaml';
import { RUN_VARIABLES } from '../core/agents/run-store.js';
import { closest } from '../core/text.js';
import type { Problem } from './config-error.js';
import { isPlainObject } from './units.js';
import * as walk from './walk.js';

/** One override. `where` names the variable or the option. */
export interface Override {
  readonly path: readonly string[];
  readonly text: string;
  readonly where: string;
}

const PREFIX = 'PULSEGATE_';

/** Variables that are not keys: the path of the file, and the admin credentials (see credentials.ts). */
const RESERVED = [
  'PULSEGATE_CONFIG',
  'PULSEGATE_ADMIN_USERNAME',
  'PULSEGATE_ADMIN_PASSWORD',
  'PULSEGATE_ADMIN_PASSWORD_FILE',
];

/** Variables that Kubernetes sets in every pod for a service named pulsegate or pulsegate-NAME. */
const SERVICE_VARIABLES = [
  /^PULSEGATE_(\w+_)?SERVICE_HOST$/,
  /^PULSEGATE_(\w+_)?SERVICE_PORT(_\w+)?$/,
  /^PULSEGATE_(\w+_)?PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/,
];
const SERVICE_PORT = /^PULSEGATE_(\w+_)?PORT$/;
const SERVICE_PORT_VALUE = /^(tcp|udp|sctp):\/\//;

/** Whether the variable is set by Kubernetes or by Pulsegate for agents, and does not name a configuration key. */
function isForeign(name: string, text: string): boolean {
  if (RUN_VARIABLES.includes(name)) return true;
  if (SERVICE_VARIABLES.some((pattern) => pattern.test(name))) return true;
  return SERVICE_PORT.test(name) && SERVICE_PORT_VALUE.test(text);
}

/**
 * Reads the keys set by `PULSEGATE_…` variables. Two underscores separate levels; single underscores and case are ignored.
 * An empty variable counts as not set. `data` is the content of the file; names in its maps are matched in the same way.
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
    const duplicate = seen.get(path.join('.'));
    if (duplicate)
      problems.push({
        where: 'environment',
        key: name,
        text: `${duplicate} sets the same key; set only one of them`,
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
    // A map accepts any name. A name that the file does not contain is used in lower case.
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
  const shape = 'separate levels by two underscores, as in PULSEGATE_SOCKS__PORT';
  return near ? `unknown key; did you mean ${PREFIX}${near}?` : `unknown key (${shape})`;
}

/** `['socks', 'idleTimeout']` as `PULSEGATE_SOCKS__IDLE_TIMEOUT`. */
const variableName = (path: readonly string[]): string =>
  PREFIX + path.map((key) => key.replace(/[A-Z]/g, '_$&').toUpperCase()).join('__');

/**
 * Returns `data` with the overrides applied in order. Does not modify `data`.
 * A text that does not parse as the type of its key stays text, and the schema reports it.
 */
export function applyOverrides(data: unknown, overrides: readonly Override[], schema: walk.Schema): unknown {
  const result: unknown = structuredClone(data);
  for (const { path, text } of overrides) {
    let at: walk.Schema = schema;
    let group = result;
    for (const [index, key] of path.entries()) {
      // The file has another value in place of a group of keys; the schema reports it.
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
