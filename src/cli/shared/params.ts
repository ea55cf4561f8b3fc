// The arguments and options of commands, in the shape of the request that they make, with the types of their values:
// `{ name: '<name>  name of the exit', limits: { maxSessions: count('--max-sessions <n>  maximum') } }`.
import { Argument, type Command, Option } from 'commander';
import type { Api } from './api.js';

/** An argument or an option with its help: `<name>  …`, `[id...]  …`, `--dry-run  …`, `--search <text>  …`. */
export type Described = `${string}  ${string}`;
type Text<Flags> = Flags extends `${string}...${'>' | ']'}`
  ? readonly string[]
  : Flags extends `${string}${'>' | ']'}`
    ? string
    : boolean;
type Missing<Flags> = Flags extends `<${string}` | `[${string}...]` ? never : undefined;
type ValueIn<Of> = Of extends `${infer Flags}  ${string}` ? Text<Flags> | Missing<Flags> : never;

type ItemIn<Value> = Value extends readonly (infer Item)[] ? Item : Exclude<Value, undefined>;

/** One that is read, found or chosen. Two options, `--default` and `--no-default`, may give one value. */
export class Param<Value> {
  declare readonly value: Value;
  #find: ((api: Api, text: string) => Promise<unknown>) | undefined;

  constructor(
    readonly first: Argument | Option,
    readonly second?: Option,
  ) {}

  /** The value is what `find` returns of the text, when the command runs; of texts, a list of what it returns of each. */
  finds<Found>(find: (api: Api, text: ItemIn<Value>) => Promise<Found>) {
    type All = Exclude<Value, undefined> extends readonly string[] ? readonly Found[] : Found;
    this.#find = find as (api: Api, text: unknown) => Promise<unknown>;
    return this as Param<unknown> as Param<All | Extract<Value, undefined>>;
  }

  async valueIn(command: Command, api: Api): Promise<unknown> {
    const { first } = this;
    const isOption = first instanceof Option;
    const at = isOption ? -1 : command.registeredArguments.indexOf(first);
    const read = isOption ? command.opts()[first.attributeName()] : command.processedArgs[at];
    if (this.#find === undefined || read === undefined) return read === NULL ? null : read;
    if (!Array.isArray(read)) return this.#find(api, read);
    const found = [];
    for (const text of read) found.push(await this.#find(api, text));
    return found;
  }
}

export interface Params {
  readonly [name: string]: Described | Param<unknown> | Params;
}
type ValueOf<Of> = Of extends string
  ? ValueIn<Of>
  : Of extends Param<infer Value>
    ? Value
    : ValuesOf<Of> | undefined;
type Optional<Of> = { [Name in keyof Of]: undefined extends ValueOf<Of[Name]> ? Name : never }[keyof Of];
/** What is given, in the shape of the parameters. What is not given is absent. */
export type ValuesOf<Of> = { readonly [Name in Exclude<keyof Of, Optional<Of>>]: ValueOf<Of[Name]> } & {
  readonly [Name in Optional<Of>]?: Exclude<ValueOf<Of[Name]>, undefined>;
};

/** What an option is read as, when it is null: commander would take null for a missing value. */
const NULL = Symbol('null');

function commanderOf(described: string): Argument | Option {
  const at = described.indexOf('  ');
  const [flags, help] = [described.slice(0, at), described.slice(at + 2)];
  return flags.startsWith('-') ? new Option(flags, help) : new Argument(flags, help);
}

/** @param read makes the value of the text of an option */
export function param<Of extends Described>(described: Of): Param<ValueIn<Of>>;
export function param<Value>(
  described: Described,
  read: (text: string, before?: never) => Value,
): Param<Value | undefined>;
export function param(described: string, read?: (text: string, before?: never) => unknown) {
  const of = commanderOf(described);
  if (read) of.argParser((text: string, before: unknown) => read(text, before as never) ?? NULL);
  return new Param(of);
}

/** One of some words. */
export function choice<const Of extends Described, const Word extends string>(
  described: Of,
  words: readonly Word[],
) {
  type Chosen = ValueIn<Of> extends string | undefined ? Word : readonly Word[];
  return new Param<Chosen | undefined>(commanderOf(described).choices(words));
}

export function required<Value>(param: Param<Value>): Param<Exclude<Value, undefined>> {
  if (param.first instanceof Option) param.first.makeOptionMandatory();
  return param as Param<Exclude<Value, undefined>>;
}

export function withDefault<Value>(param: Param<Value>, value: Value): Param<Exclude<Value, undefined>> {
  param.first.default(value);
  return param as Param<Exclude<Value, undefined>>;
}

/** `--default` and `--no-default`, each with its help. */
export const toggle = (on: Described, off: Described) =>
  new Param<boolean | undefined>(commanderOf(on), commanderOf(off) as Option);

/** `--tag vip --tag shop-2`: each use gives some values. */
export const repeated = <Value>(described: Described, read: (text: string) => readonly Value[]) =>
  param(described, (text, before: readonly Value[] = []): readonly Value[] => [...before, ...read(text)]);

/**
 * Adds arguments and options to a command. Returns a function that reads and finds their values, when the command runs; undefined:
 * nothing is given.
 */
export function addTo(command: Command, params: Params): (api: Api) => Promise<object | undefined> {
  const made = Object.entries(params).map(([name, of]) => {
    if (typeof of === 'object' && !(of instanceof Param)) return [name, addTo(command, of)] as const;
    const one = typeof of === 'string' ? param(of) : of;
    if (one.first instanceof Option) command.addOption(one.first);
    else command.addArgument(one.first);
    if (one.second) command.addOption(one.second);
    return [name, (api: Api) => one.valueIn(command, api)] as const;
  });
  return async (api) => {
    const values: Record<string, unknown> = {};
    for (const [name, read] of made) {
      const value = await read(api);
      if (value !== undefined) values[name] = value;
    }
    return Object.keys(values).length > 0 ? values : undefined;
  };
}
