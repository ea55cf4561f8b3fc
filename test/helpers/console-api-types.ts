// Writes src/console/api-types.ts from the OpenAPI document, and src/console/player/api-types.ts from the schema of the players'
// page: `node dist/test/helpers/console-api-types.js --write`.
import { readFileSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import { PlayerStatus } from '../../src/http/player/status.js';
import { buildOpenApi } from '../../src/http/v1/openapi.js';

const FILE = new URL('../../../src/console/api-types.ts', import.meta.url);
const PLAYER_FILE = new URL('../../../src/console/player/api-types.ts', import.meta.url);

/** How long the type of an object is that stands on one line. */
const LINE_WIDTH = 100;

type Schema = Record<string, unknown>;
interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly { name: string; in: string; schema: Schema }[];
  readonly requestBody?: { content: Record<string, { schema?: Schema }> };
  readonly responses: Record<string, { content?: Record<string, { schema?: Schema }> }>;
}

/** Returns the expected contents of the file. */
export function consoleApiTypes(): string {
  const document = buildOpenApi() as {
    paths: Record<string, Record<string, Operation>>;
    components: { schemas: Record<string, Schema> };
  };
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
  return `${[
    ...head('the OpenAPI document'),
    ...typesOf(document.components.schemas),
    `export const SCOPES: readonly Scope[] = [${valuesOf(document.components.schemas['Scope'])}];`,
    'export interface Operations {',
    ...operations.map(({ operation }) => `  ${operation.operationId}: ${signature(operation)};`),
    '}',
    'export const OPERATIONS: Readonly<Record<keyof Operations, readonly [method: string, path: string]>> = {',
    ...operations.map(
      ({ path, method, operation }) => `  ${operation.operationId}: ['${method}', '${path}'],`,
    ),
    '};',
  ].join('\n')}\n`;
}

/** Returns the expected contents of the file of the players' page. */
export function playerApiTypes(): string {
  const { $defs = {}, ...status } = z.toJSONSchema(PlayerStatus, { io: 'output' }) as Schema & {
    $defs?: Record<string, Schema>;
  };
  return `${[...head('the schema of the players’ page'), ...typesOf({ ...$defs, Status: status })].join('\n')}\n`;
}

/** Returns the present contents of the two files. */
export function writtenApiTypes(): { readonly console: string; readonly player: string } {
  return { console: readFileSync(FILE, 'utf8'), player: readFileSync(PLAYER_FILE, 'utf8') };
}

const head = (source: string): readonly string[] => [
  `// Made from ${source} by test/helpers/console-api-types.ts; a test holds the two equal. Do not edit.`,
  '// biome-ignore-all format: made by a program',
  '// biome-ignore-all lint: made by a program',
];

/** Returns the types; one that has all fields of another and more is written as that one and the rest. */
function typesOf(schemas: Readonly<Record<string, Schema>>): readonly string[] {
  const fields = new Map(Object.entries(schemas).map(([name, schema]) => [name, fieldsOf(schema)]));
  return Object.entries(schemas).map(([name, schema]) => {
    const own = fields.get(name) ?? [];
    const [base, inherited] = [...fields]
      .filter(([, of]) => of.length > 2 && of.length < own.length && of.every((field) => own.includes(field)))
      .reduce((most, one) => (one[1].length > most[1].length ? one : most), ['', [] as readonly string[]]);
    const rest = own.filter((field) => !inherited.includes(field));
    return `export type ${name} = ${base === '' ? typeOf(schema, '') : `${base} & ${objectOf(rest, '')}`};`;
  });
}

function signature(operation: Operation): string {
  const parametersIn = (where: string) => operation.parameters?.filter((one) => one.in === where) ?? [];
  const query = parametersIn('query').map(
    ({ name, schema }) => `${name}?: ${typeOf(schema, '  ')} | undefined`,
  );
  const params = parametersIn('path').map(({ name }) => `${name}: string`);
  const body = operation.requestBody?.content['application/json'];
  const raw = operation.requestBody && !body?.schema ? 'Blob | string' : 'undefined';
  const [, success] = Object.entries(operation.responses).find(([status]) => status.startsWith('2')) ?? [];
  const answer = success?.content?.['application/json']?.schema;
  return `{ params: ${shape(params)}; query: ${shape(query)}; body: ${body?.schema ? typeOf(body.schema, '  ') : raw}; answer: ${answer ? typeOf(answer, '  ') : 'undefined'} }`;
}

const shape = (fields: readonly string[]) => (fields.length === 0 ? 'undefined' : `{ ${fields.join('; ')} }`);

function typeOf(schema: Schema, indent: string): string {
  if (typeof schema['$ref'] === 'string') return schema['$ref'].split('/').at(-1) ?? '';
  if (Array.isArray(schema['enum'])) return schema['enum'].map((value) => quote(value)).join(' | ');
  if ('const' in schema) return quote(schema['const']);
  const union = (schema['anyOf'] ?? schema['oneOf']) as Schema[] | undefined;
  if (union) return union.map((one) => typeOf(one, indent)).join(' | ');
  if (Array.isArray(schema['type']))
    return schema['type'].map((type) => typeOf({ type }, indent)).join(' | ');
  if (schema['type'] === 'array') return `readonly (${typeOf((schema['items'] ?? {}) as Schema, indent)})[]`;
  if (schema['type'] === 'object') return objectType(schema, indent);
  return PRIMITIVES[String(schema['type'])] ?? 'unknown';
}

const PRIMITIVES: Readonly<Record<string, string>> = {
  string: 'string',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
  null: 'null',
};

function objectType(schema: Schema, indent: string): string {
  const fields = fieldsOf(schema, `${indent}  `);
  return fields.length === 0 ? 'Readonly<Record<string, unknown>>' : objectOf(fields, indent);
}

function fieldsOf(schema: Schema, indent = '  '): readonly string[] {
  const required = new Set((schema['required'] ?? []) as string[]);
  return Object.entries((schema['properties'] ?? {}) as Record<string, Schema>).map(([name, property]) => {
    const optional = required.has(name) ? '' : '?';
    return `readonly ${name}${optional}: ${typeOf(property, indent)}${optional ? ' | undefined' : ''}`;
  });
}

function objectOf(fields: readonly string[], indent: string): string {
  const line = `{ ${fields.join('; ')} }`;
  if (line.length <= LINE_WIDTH && !line.includes('\n')) return line;
  return `{\n${fields.map((field) => `${indent}  ${field};\n`).join('')}${indent}}`;
}

/** Returns the values of an enumeration as source text of a list. */
function valuesOf(schema: Schema | undefined): string {
  return ((schema?.['enum'] ?? []) as unknown[]).map(quote).join(', ');
}

const quote = (value: unknown) => (typeof value === 'string' ? `'${value}'` : String(value));

if (process.argv.includes('--write')) {
  writeFileSync(FILE, consoleApiTypes());
  writeFileSync(PLAYER_FILE, playerApiTypes());
}
