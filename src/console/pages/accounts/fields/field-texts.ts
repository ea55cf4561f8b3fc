// An account as the texts of a form, and the change of an account that typed texts describe.
import type { AccountChange } from '../../../api-types.js';
import { accountField, type FieldName, NAMES } from './account-fields.js';

/** The fields as typed. */
export type FieldTexts = Readonly<Record<FieldName, string>>;

const INITIAL_TEXTS = Object.fromEntries(
  NAMES.all.map((name) => [name, accountField(name).initial ?? '']),
) as FieldTexts;

/** The part of the account that holds the field; undefined: the account itself. */
function partOf(name: FieldName): 'contacts' | 'limits' | undefined {
  const { group } = accountField(name);
  return group === 'contacts' || group === 'limits' ? group : undefined;
}

/** An account, or a change of one. */
type Fields = Omit<AccountChange, 'owner' | 'suspendedUntil'>;

/** Returns the value of a field; undefined: the change leaves it out. */
export function valueIn(of: Fields, name: FieldName): unknown {
  const part = partOf(name);
  return ((part ? of[part] : of) as Readonly<Record<string, unknown>> | undefined)?.[name];
}

/** Returns the texts of the fields that `of` has; those of a new account for the others. */
export function textsOf(of: Fields): FieldTexts {
  const has = NAMES.all.filter((name) => valueIn(of, name) !== undefined);
  const texts = has.map((name) => [name, accountField(name).text(valueIn(of, name))]);
  return { ...INITIAL_TEXTS, ...Object.fromEntries(texts) };
}

/** Returns the change that these texts describe; undefined when one of them is invalid. */
export function readFields(
  texts: Partial<FieldTexts>,
  names: Iterable<FieldName> = NAMES.all,
): AccountChange | undefined {
  const change: Record<string, unknown> = {};
  for (const name of names) {
    const typed = texts[name];
    if (typed === undefined) continue;
    const value = accountField(name).read(typed);
    if (value === undefined) return undefined;
    const part = partOf(name);
    if (part) change[part] = { ...(change[part] as object), [name]: value };
    else change[name] = value;
  }
  return change;
}
