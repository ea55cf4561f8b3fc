// Fields of a request that its schema does not have. Ignoring them would answer 200 to a change that was not made.
import type { z } from 'zod';
import { closest } from '../../core/text.js';
import { type FieldFault, fieldError } from './schemas.js';

/** The parts of a schema's definition that lead to further schemas. */
interface Definition {
  readonly type: string;
  readonly shape?: Readonly<Record<string, z.ZodType>>;
  /** Of an object that may have further fields. */
  readonly catchall?: z.ZodType;
  readonly element?: z.ZodType;
  readonly options?: readonly z.ZodType[];
  readonly valueType?: z.ZodType;
  readonly innerType?: z.ZodType;
  readonly in?: z.ZodType;
  readonly out?: z.ZodType;
}

const definitionOf = (schema: z.ZodType): Definition => schema.def as unknown as Definition;

/** Returns an error for each field of `value`, at any depth, that `schema` does not have. @param path of the value in the request */
export function unknownFields(path: string, schema: z.ZodType, value: unknown): FieldFault[] {
  const definition = definitionOf(schema);
  const { shape, catchall, element, options, valueType, innerType } = definition;
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) {
    if (element) return value.flatMap((each, index) => unknownFields(`${path}.${index}`, element, each));
  } else if (shape) {
    return catchall ? [] : unknownOf(path, shape, value as Readonly<Record<string, unknown>>);
  } else if (valueType) {
    return Object.entries(value).flatMap(([name, each]) => unknownFields(`${path}.${name}`, valueType, each));
  }
  // A value that fits no option is an error of its own.
  const inner =
    innerType ?? options?.find((option) => option.safeParse(value).success) ?? pipedInto(definition);
  return inner ? unknownFields(path, inner, value) : [];
}

function unknownOf(
  path: string,
  shape: Readonly<Record<string, z.ZodType>>,
  value: Readonly<Record<string, unknown>>,
): FieldFault[] {
  return Object.entries(value).flatMap(([name, each]) => {
    const known = Object.hasOwn(shape, name) ? shape[name] : undefined;
    return known
      ? unknownFields(`${path}.${name}`, known, each)
      : [unknownField(`${path}.${name}`, name, shape)];
  });
}

function unknownField(path: string, name: string, shape: Readonly<Record<string, unknown>>): FieldFault {
  const names = Object.keys(shape);
  const nearest = closest(name, names);
  if (nearest !== undefined) return fieldError(path, 'unknown-near', { nearest });
  return names.length > 0
    ? fieldError(path, 'unknown', { allowed: names.join(', ') })
    : fieldError(path, 'none-allowed');
}

/** The schema that reads what was sent: the second one where the first only prepares the value. */
const pipedInto = ({ in: first, out }: Definition): z.ZodType | undefined =>
  first && definitionOf(first).type === 'transform' ? out : first;
