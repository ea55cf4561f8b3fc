// Looks into the schema: which keys a section has, what a key allows, and whether its value is secret.
import { z } from 'zod';
import { type About, about } from './fields.js';
import { isPlainObject } from './units.js';

export type Schema = z.core.$ZodType;

/** A schema without what only says that it may be left out or null. */
export function unwrap(schema: Schema): Schema {
  if (about.has(schema)) return schema;
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault) return unwrap(schema.unwrap());
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return unwrap(schema.unwrap());
  return schema;
}

/** What messages say of a key; undefined for sections, maps and lists. */
export function aboutOf(schema: Schema): About | undefined {
  return about.get(unwrap(schema));
}

/** Whether the value is a group of keys: a section with fixed ones, or a map from names. */
export function isGroup(schema: Schema): boolean {
  const inner = unwrap(schema);
  return (
    inner instanceof z.ZodObject || inner instanceof z.ZodRecord || inner instanceof z.ZodDiscriminatedUnion
  );
}

/** Whether any text is a fitting kind of value, so that text from outside is taken as it is and not read as YAML. */
export function isText(schema: Schema): boolean {
  const inner = unwrap(schema);
  if (inner instanceof z.ZodPipe) return isText(inner.in);
  return inner instanceof z.ZodString || inner instanceof z.ZodEnum;
}

/** Whether null is a value of its own for this key. */
export function isNullable(schema: Schema): boolean {
  if (schema instanceof z.ZodNullable) return true;
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault) return isNullable(schema.unwrap());
  return false;
}

/** The fixed keys of a section. For one that depends on its `type`: those of the type in `value`, or of all types. */
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

/** The schema of what stands under `key` in `value`; undefined when there is no such key. */
export function childOf(schema: Schema, key: string | number, value?: unknown): Schema | undefined {
  const inner = unwrap(schema);
  if (inner instanceof z.ZodArray) return inner.element;
  if (inner instanceof z.ZodRecord) return inner.valueType;
  const shape = shapeOf(inner, value);
  return Object.hasOwn(shape, key) ? shape[key] : undefined;
}

/** The names of the types of a section that depends on its `type`. */
export function typesOf(schema: Schema): string[] {
  const inner = unwrap(schema);
  if (!(inner instanceof z.ZodDiscriminatedUnion)) return [];
  return inner.options.flatMap((option) => {
    const type = shapeOf(option)['type'];
    return type instanceof z.ZodLiteral ? [...type.values].map(String) : [];
  });
}

/** Every key with a place of its own, sections before what is in them. Lists and maps are not entered. */
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

/** The value at `path` in plain data; undefined when there is none. */
export function valueAt(data: unknown, path: readonly PropertyKey[]): unknown {
  let value = data;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<PropertyKey, unknown>)[key];
  }
  return value;
}
