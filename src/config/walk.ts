// Inspects the schema: the keys of a section, the allowed values of a key, and whether it is secret.
import { z } from 'zod';
import { type About, about } from './fields.js';
import { isPlainObject } from './units.js';

export type Schema = z.core.$ZodType;

/** A schema without its optional, nullable and default wrappers. */
export function unwrap(schema: Schema): Schema {
  if (about.has(schema)) return schema;
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault) return unwrap(schema.unwrap());
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return unwrap(schema.unwrap());
  return schema;
}

/** The description of a key for messages; undefined for sections, maps and lists. */
export const aboutOf = (schema: Schema): About | undefined => about.get(unwrap(schema));

/** Whether the value is a group of keys: a section with fixed keys, or a map. */
export function isGroup(schema: Schema): boolean {
  const inner = unwrap(schema);
  return (
    inner instanceof z.ZodObject || inner instanceof z.ZodRecord || inner instanceof z.ZodDiscriminatedUnion
  );
}

/** Whether the key takes text. The value of an override is then used as it is, and not parsed as YAML. */
export function isText(schema: Schema): boolean {
  const inner = unwrap(schema);
  if (inner instanceof z.ZodPipe) return isText(inner.in);
  return inner instanceof z.ZodString || inner instanceof z.ZodEnum;
}

/** Whether the key accepts null. */
export function isNullable(schema: Schema): boolean {
  if (schema instanceof z.ZodNullable) return true;
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault) return isNullable(schema.unwrap());
  return false;
}

/** The fixed keys of a section. If they depend on `type`: the keys of the type in `value`, or of all types. */
export function shapeOf(schema: Schema, value?: unknown): Record<string, Schema> {
  const inner = unwrap(schema);
  if (inner instanceof z.ZodObject) return inner.shape;
  if (!(inner instanceof z.ZodDiscriminatedUnion)) return {};
  const options = inner.options.map((option) => shapeOf(option));
  const chosen = isPlainObject(value)
    ? options.filter(
        (shape) => shape['type'] instanceof z.ZodLiteral && shape['type'].values.has(value['type'] as string),
      )
    : [];
  return Object.assign({}, ...(chosen.length > 0 ? chosen : options));
}

/** The schema of `key` in `value`; undefined for an unknown key. */
export function childOf(schema: Schema, key: string | number, value?: unknown): Schema | undefined {
  const inner = unwrap(schema);
  if (inner instanceof z.ZodArray) return inner.element;
  if (inner instanceof z.ZodRecord) return inner.valueType;
  const shape = shapeOf(inner, value);
  return Object.hasOwn(shape, key) ? shape[key] : undefined;
}

/** The values of `type` for a section whose keys depend on it. */
export function typesOf(schema: Schema): string[] {
  const inner = unwrap(schema);
  if (!(inner instanceof z.ZodDiscriminatedUnion)) return [];
  return inner.options.flatMap((option) => {
    const type = shapeOf(option)['type'];
    return type instanceof z.ZodLiteral ? [...type.values].map(String) : [];
  });
}

/** Every key of the schema, parents before children. Does not descend into lists and maps. */
export function* everyKey(
  schema: Schema,
  at: readonly string[] = [],
): Generator<{ path: string[]; schema: Schema }> {
  for (const [key, child] of Object.entries(shapeOf(schema))) {
    const path = [...at, key];
    yield { path, schema: child };
    yield* everyKey(child, path);
  }
}

/** The value at `path` in plain data; undefined when it is missing. */
export function valueAt(data: unknown, path: readonly PropertyKey[]): unknown {
  let value = data;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<PropertyKey, unknown>)[key];
  }
  return value;
}
