// The text of the console's API types, made from the OpenAPI document, and of those of the players' page, made from its schema.
// api-types.mjs writes them.
import { z } from 'zod';
import { Seen } from '../../src/http/player/routes.js';
import { PlayerStatus } from '../../src/http/player/status.js';
import { Traffic } from '../../src/http/v1/activity/logins.js';
import { buildOpenApi } from '../../src/http/v1/openapi.js';

type Schema = Record<string, unknown>;
interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly { name: string; in: string; schema: Schema }[];
  readonly requestBody?: { content: Record<string, { schema?: Schema }> };
  readonly responses: Record<string, { content?: Record<string, { schema?: Schema }> }>;
}

/** Returns the contents of src/console/api-types.ts. */
export function consoleApiTypes(): string {
  const document = buildOpenApi() as {
    paths: Record<string, Record<string, Operation>>;
    components: { schemas: Record<string, Schema> };
  };
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
  return `${[
    head('the OpenAPI document'),
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

/** Returns the contents of src/console/player/api-types.ts. */
export function playerApiTypes(): string {
  const answers = z.object({ Status: PlayerStatus, Traffic, Seen });
  const { $defs, properties } = z.toJSONSchema(answers, { io: 'output' }) as Record<
    '$defs' | 'properties',
    Record<string, Schema>
  >;
  return `${[head('the schemas of the players’ page'), ...typesOf({ ...properties, ...$defs })].join('\n')}\n`;
}

const head = (source: string): string => `// Made from ${source} by test/tools/api-types.mjs. Do not edit.`;

const typesOf = (schemas: Readonly<Record<string, Schema>>): readonly string[] =>
  Object.entries(schemas).map(([name, schema]) => `export type ${name} = ${typeOf(schema, '')};`);

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
  const properties = Object.entries((schema['properties'] ?? {}) as Record<string, Schema>);
  if (properties.length === 0) return 'Readonly<Record<string, unknown>>';
  const required = new Set((schema['required'] ?? []) as string[]);
  const inner = `${indent}  `;
  const lines = properties.map(([name, property]) => {
    const optional = required.has(name) ? '' : '?';
    return `${inner}readonly ${name}${optional}: ${typeOf(property, inner)}${optional ? ' | undefined' : ''};`;
  });
  return `{\n${lines.join('\n')}\n${indent}}`;
}

/** Returns the values of an enumeration as source text of a list. */
function valuesOf(schema: Schema | undefined): string {
  return ((schema?.['enum'] ?? []) as unknown[]).map(quote).join(', ');
}

const quote = (value: unknown) => (typeof value === 'string' ? `'${value}'` : String(value));
