// Groups of commands, and commands. A command says what it does, what it is given, and what it calls or how it works. Options are
// declared in the shape of the request that they make: `{ name, limits: { maxSessions } }`.
import type { Command } from 'commander';
import type { Loaded } from '../../config.js';
import {
  type Answer,
  type BodyOf,
  type Input,
  type ItemOf,
  type ListName,
  type Opened,
  type OperationName,
  openLazily,
  type QueryOf,
  type Refusals,
} from './api.js';
import { CommandError, type CommandIo, once, printJson, printLine } from './command.js';
import { addTo, type Params, type ValuesOf } from './params.js';
import { confirm } from './prompt.js';
import { type Columns, printTable } from './table.js';

/** What a command works with. */
export interface Run extends Omit<Opened, 'close'> {
  readonly io: CommandIo;
  /** The configuration file that the program is given. */
  readonly file: string | undefined;
  /** Whether `--json` and `--yes` are given. */
  readonly json: boolean;
  readonly yes: boolean;
  load(): Promise<Loaded>;
  print(line: string): void;
  /** Prints a line to stderr. */
  note(line: string): void;
  /** Asks before `what` happens, unless `--yes` is given. @throws CommandError when it is not confirmed */
  confirm(what: string): Promise<void>;
}

/** A line for stdout; or the answer that `--json` prints, with what is printed without it. */
type Shown = string | undefined | readonly [answer: unknown, shown: string | (() => void)];
type Work<Given> = (run: Run, given: Given) => Shown | Promise<Shown>;

/** Adds commands to the program. */
export type AddCommands = (program: Group) => void;

type All<Union> = (Union extends unknown ? (of: Union) => void : never) extends (of: infer Each) => void
  ? Each
  : never;
/** What is given besides what the path of an operation names. */
type InBody<Given, Name> = Name extends `${string}{${infer Parameter}}${string}`
  ? {
      [Key in keyof Given as Given[Key] extends Readonly<Record<Parameter, string>>
        ? never
        : Exclude<Key, Parameter>]: Given[Key];
    }
  : Given;
/** `Name`, if the operation takes these fields. */
type Taking<Name, Fields, Into> = [Exclude<keyof Fields, keyof Into>] extends [never]
  ? Fields extends Into
    ? Name
    : never
  : never;

class Named {
  constructor(
    readonly commander: Command,
    readonly io: CommandIo,
    protected readonly refusals: Refusals = {},
    protected readonly read: ReturnType<typeof addTo> = async () => undefined,
  ) {}

  /** Adds command lines to the help, without `pulsegate`. */
  examples(...lines: string[]): this {
    const heading = lines.length === 1 ? 'Example' : 'Examples';
    return this.help([`\n${heading}:`, ...lines.map((line) => `  pulsegate ${line}`)].join('\n'));
  }

  /** Adds a text to the end of the help. */
  help(text: string): this {
    this.commander.addHelpText('after', text);
    return this;
  }
}

/** Commands under one name, or those of the program. */
export class Group extends Named {
  /** @param refusals what all commands of the group say of refused operations */
  group(name: string, does: string, refusals?: Refusals): Group {
    return new Group(this.commander.command(name).description(does), this.io, refusals ?? this.refusals);
  }

  command<const Of extends readonly Params[]>(name: string, does: string, ...of: Of) {
    const added = this.commander.command(name).description(does);
    const read = addTo(added, Object.assign({}, ...of));
    return new Runnable<ValuesOf<All<Of[number]>>>(added, this.io, this.refusals, read);
  }
}

class Runnable<Given> extends Named {
  #question: ((given: Given) => string) | undefined;
  #needed: string | undefined;

  /** Adds `--yes`. @param what is asked before the command runs; left out: the command asks by itself */
  asks(what?: (given: Given) => string): this {
    addTo(this.commander, { yes: '--yes  skip the confirmation' });
    this.#question = what;
    return this;
  }

  /** Refuses to run without an option. @param what the options give: `change` */
  needs(what: string): this {
    this.#needed = what;
    return this;
  }

  /** Runs the command by `work`. @param mayCreate whether it may create a missing database, by its options */
  runs(
    work: Work<Given>,
    mayCreate: (options: Readonly<Record<string, unknown>>) => boolean = () => false,
  ): void {
    const { commander, io } = this;
    commander.action(async () => {
      const { config: file, json = false, yes = false } = commander.optsWithGlobals();
      const print = (line: string): void => printLine(io.stdout, line);
      const note = (line: string): void => printLine(io.stderr, line);
      // Imported here because help and completion need neither zod nor yaml.
      const load = once(async () => (await import('../../config.js')).loadConfig({ file, env: io.env }));
      const { close, ...opened } = openLazily(
        load,
        () => mayCreate(commander.opts()),
        (error) => note(`Database write failed: ${String(error)}`),
        this.refusals,
      );
      const ask = (what: string) => confirm(io, yes, what);
      const run: Run = { ...opened, io, file, json, yes, load, print, note, confirm: ask };
      const shown = await this.#work(run, work).finally(close);
      if (typeof shown === 'string') return print(shown);
      if (!shown) return;
      if (json) return printJson(io, shown[0]);
      if (typeof shown[1] === 'string') print(shown[1]);
      else shown[1]();
    });
  }

  async #work(run: Run, work: Work<Given>): Promise<Shown> {
    const { json: _, yes: __, ...options } = this.commander.opts();
    if (this.#needed !== undefined && Object.keys(options).length === 0)
      throw new CommandError(`No ${this.#needed} given. See: ${nameOf(this.commander)} --help`, 2);
    const given = Object(await this.read(run)) as Given;
    if (this.#question) await run.confirm(this.#question(given));
    return work(run, given);
  }

  /** Runs a command with `--json`, like `runs`. */
  answers(work: Work<Given>, mayCreate?: Parameters<typeof this.runs>[1]): void {
    addTo(this.commander, { json: '--json  print JSON' });
    this.runs(work, mayCreate);
  }

  /** Lists the items of an operation, whose query is what is given. @param none stderr when there are no items */
  lists<Name extends ListName>(
    none: string,
    name: Taking<Name, Given, QueryOf<Name>>,
    columns: Columns<ItemOf<Name>>,
  ): void {
    this.answers(async ({ call, io }, query) => {
      const answer = await call(name as Name, { query } as unknown as Input<Name>);
      const { items } = answer as unknown as { readonly items: readonly ItemOf<Name>[] };
      return [items, () => printList(io, items, none, columns)];
    });
  }

  /**
   * Calls one operation. Its path has what is given by the name of its parameter, or the parameter of what is given; its body has all
   * else. Prints the answer with `--json`, unless the operation deletes.
   */
  calls<Name extends OperationName>(
    name: Taking<Name, InBody<Given, Name>, BodyOf<Name>>,
    says: (given: Given, answer: Answer<Name>) => string,
    refusals?: (given: Given) => Refusals,
  ): void {
    const [, parameter = ''] = /\{(\w+)\}/.exec(name) ?? [];
    const deletes = name.startsWith('DELETE');
    const work = async (run: Run, given: Given): Promise<Shown> => {
      const params: Record<string, unknown> = {};
      const body: Record<string, unknown> = {};
      for (const [key, value] of Object.entries(Object(given))) {
        const named = key === parameter ? value : Object(value)[parameter];
        if (named === undefined) body[key] = value;
        else params[parameter] = named;
      }
      const input = deletes || name.startsWith('GET') ? { params } : { params, body };
      const answer = await run.call(name as Name, input as unknown as Input<Name>, refusals?.(given) ?? {});
      return deletes ? says(given, answer) : [answer, says(given, answer)];
    };
    if (deletes) this.runs(work);
    else this.answers(work);
  }
}

/** `pulsegate account update`. */
const nameOf = (of: Command): string => (of.parent ? `${nameOf(of.parent)} ${of.name()}` : of.name());

/** Prints rows as a table; `none` to stderr when there are none. */
export function printList<Row>(
  io: CommandIo,
  rows: readonly Row[],
  none: string,
  columns: Columns<Row>,
): void {
  if (rows.length === 0) return printLine(io.stderr, none);
  printTable(io, rows, columns);
}
