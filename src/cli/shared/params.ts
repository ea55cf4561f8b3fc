// The arguments and options of commands, in the shape of the request that they make, with the types of their values:
// `{ name: '<name>  name of the exit', limits: { maxSessions: count('--max-sessions <n>  maximum') } }`.
import { Argument, type Command, Option } from 'commander';
import type { Run } from './run.js';

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

/** One that is read, found or chosen. */
export class Param<Value> {
  declare readonly value: Value;

  constructor(readonly of: Argument | Option) {}

  required(): Param<Exclude<Value, undefined>> {
    const { of } = this;
    if (!(of instanceof Option)) return new Param(of);
    // Another command may have it as an option that may be left out.
    const own: Option = Object.assign(Object.create(Object.getPrototypeOf(of)), of);
    return new Param(own.makeOptionMandatory());
  }

  /** Has a value when it is not given. */
  or(value: Value): Param<Exclude<Value, undefined>> {
    this.of.default(value);
    return this as Param<Exclude<Value, undefined>>;
  }

  /** The value is what `find` returns of the text, when the command runs; of texts, a list of what it returns of each. */
  finds<Found>(find: (run: Run, text: ItemIn<Value>) => Promise<Found>) {
    type All = Exclude<Value, undefined> extends readonly string[] ? readonly Found[] : Found;
    return new Made<All | Extract<Value, undefined>>({ read: this }, async ({ read }, run) => {
      if (!Array.isArray(read)) return read === undefined ? undefined : find(run, read as ItemIn<Value>);
      const found = [];
      for (const text of read) found.push(await find(run, text));
      return found;
    });
  }

  /** Adds it to a command. Returns what reads its value. */
  addTo(command: Command): () => unknown {
    const { of } = this;
    if (of instanceof Option) command.addOption(of);
    else command.addArgument(of);
    const at = command.registeredArguments.length - 1;
    return () => {
      const read = of instanceof Option ? command.opts()[of.attributeName()] : command.processedArgs[at];
      return read === NULL ? null : read;
    };
  }
}

/** Made of others, when the command runs. */
class Made<Value> {
  declare readonly value: Value;

  constructor(
    readonly params: Params,
    readonly make: (given: Readonly<Record<string, unknown>>, run: Run) => unknown,
  ) {}

  addTo(command: Command): (run: Run) => Promise<unknown> {
    const read = addTo(command, this.params);
    return async (run) => this.make(Object(await read(run)), run);
  }
}

export interface Params {
  readonly [name: string]: Described | Param<unknown> | Made<unknown> | Params;
}
type ValueOf<Of> = Of extends string
  ? ValueIn<Of>
  : Of extends Param<infer Value> | Made<infer Value>
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

/** One value that `make` makes of several options. */
export const madeOf = <const Of extends Params, Value>(
  params: Of,
  make: (given: ValuesOf<Of>, run: Run) => Value,
) => new Made<Awaited<Value>>(params, make as Made<Value>['make']);

/** `--default` and `--no-default`, each with its help. */
export const toggle = (on: Described, off: Described) => madeOf({ on, off }, ({ on: given }) => given);

/** `--tag vip --tag shop-2`: each use gives some values. */
export const repeated = <Value>(described: Described, read: (text: string) => readonly Value[]) =>
  param(described, (text, before: readonly Value[] = []): readonly Value[] => [...before, ...read(text)]);

/**
 * Adds arguments and options to a command. Returns a function that reads and finds their values in this order, when the command runs;
 * undefined: nothing is given.
 */
export function addTo(command: Command, params: Params): (run: Run) => Promise<object | undefined> {
  const added = Object.entries(params).map(([name, of]) => {
    const one = typeof of === 'string' ? param(of) : of;
    const isOne = one instanceof Param || one instanceof Made;
    return [name, isOne ? one.addTo(command) : addTo(command, one)] as const;
  });
  return async (run) => {
    const values: Record<string, unknown> = {};
    for (const [name, read] of added) {
      const value = await read(run);
      if (value !== undefined) values[name] = value;
    }
    return Object.keys(values).length > 0 ? values : undefined;
  };
}
