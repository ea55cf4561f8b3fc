// Groups of commands, and commands. A command says what it does, what it is given, and what it calls or how it works. Options are
// declared in the shape of the request that they make: `{ name, limits: { maxSessions } }`.
import type { Command } from 'commander';
import type { Answer, BodyOf, Input, ItemOf, ListName, OperationName, QueryOf, Refusals } from './api.js';
import { type CommandIo, printJson, wrongUsage } from './command.js';
import { addTo, type Params, type ValuesOf } from './params.js';
import { openRun, type Run } from './run.js';
import { type Columns, printTable } from './table.js';

/** A line for stdout, or what prints; with the answer that `--json` prints instead. */
type Text = string | (() => string) | (() => void);
type Shown = string | undefined | readonly [answer: unknown, text: Text];
type Options = Readonly<Record<string, unknown>>;
type Work<Given> = (run: Run, given: Given) => Shown | Promise<Shown>;

/** Adds commands to the program, or to a group of it. */
export type AddCommands = (to: Group) => void;

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

/** `Name`, if what is given is its path and its body. */
type Called<Name extends OperationName, Given> = Taking<Name, InBody<Given, Name>, BodyOf<Name>>;

class Named {
  constructor(readonly commander: Command) {}

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

/** The commands of the program, or under one name. */
export class Group extends Named {
  /** @param refusals what all its commands say of refused operations */
  constructor(
    commander: Command,
    readonly io: CommandIo,
    readonly refusals: Refusals = {},
  ) {
    super(commander);
  }

  group(name: string, does: string, refusals = this.refusals): Group {
    return new Group(this.commander.command(name).description(does), this.io, refusals);
  }

  with(...others: AddCommands[]): this {
    for (const add of others) add(this);
    return this;
  }

  /** Adds a command with what it is given. Its last clause says what it calls or how it works, and returns the group. */
  command<const Of extends readonly Params[]>(name: string, does: string, ...of: Of) {
    return new Runnable<ValuesOf<All<Of[number]>>>(
      this,
      this.commander.command(name).description(does),
      Object.assign({}, ...of),
    );
  }
}

/** A group after a list in it. */
class Listing<Whole> extends Group {
  readonly follows: ((run: Run, answer: Whole) => void)[] = [];

  /** Prints more after the table. */
  also(print: (run: Run, answer: Whole) => void): Group {
    this.follows.push(print);
    return this;
  }
}

class Runnable<Given> extends Named {
  readonly #read: ReturnType<typeof addTo>;
  #question: ((given: Given) => string) | undefined;
  #needed: string | undefined;
  #mayCreate: (options: Options) => boolean = () => false;
  #ownRefusals: (given: Given, run: Run) => Refusals | Promise<Refusals> = () => ({});

  constructor(
    readonly group: Group,
    commander: Command,
    params: Params,
  ) {
    super(commander);
    this.#read = addTo(commander, params);
  }

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

  /** Creates a missing database. @param may decides by the options */
  creates(may: (options: Options) => boolean = () => true): this {
    this.#mayCreate = may;
    return this;
  }

  /** What `calls` and `does` say of refused operations besides those of the group, by what is given. */
  refuses(refusals: (given: Given, run: Run) => Refusals | Promise<Refusals>): this {
    this.#ownRefusals = refusals;
    return this;
  }

  runs(work: Work<Given>): Group {
    const { io, refusals } = this.group;
    this.commander.action(async () => {
      const { close, ...run } = openRun(this.commander, io, refusals, this.#mayCreate);
      const shown = await this.#work(run, work).finally(close);
      const isAnswer = typeof shown === 'object';
      if (isAnswer && run.json) return printJson(run.io, shown[0]);
      const text = isAnswer ? shown[1] : shown;
      const line = typeof text === 'function' ? text() : text;
      if (typeof line === 'string') run.print(line);
    });
    return this.group;
  }

  async #work(run: Run, work: Work<Given>): Promise<Shown> {
    const { json: _, yes: __, ...options } = this.commander.opts();
    if (this.#needed !== undefined && Object.keys(options).length === 0)
      throw wrongUsage(`No ${this.#needed} given. See: ${nameOf(this.commander)} --help`);
    const given = Object(await this.#read(run)) as Given;
    if (this.#question) await run.confirm(this.#question(given));
    return work(run, given);
  }

  /** Runs a command with `--json`, like `runs`. */
  answers(work: Work<Given>): Group {
    addTo(this.commander, { json: '--json  print JSON' });
    return this.runs(work);
  }

  /**
   * Lists the items of an operation, whose query is what is given.
   * @param none stderr when there are no items; null: only the headings
   */
  lists<Name extends ListName>(
    none: string | null,
    name: Taking<Name, Given, QueryOf<Name>>,
    columns: Columns<ItemOf<Name>>,
  ) {
    const { commander, io, refusals } = this.group;
    const listing = new Listing<Answer<Name>>(commander, io, refusals);
    this.answers(async (run, query) => {
      const answer = await run.list<Name>(name as Name, Object(query));
      const { items } = answer as unknown as { readonly items: readonly ItemOf<Name>[] };
      const print = () => {
        printTable(run.io, items, columns, none);
        for (const each of listing.follows) each(run, answer);
      };
      return [items, print];
    });
    return listing;
  }

  /** Calls an operation with what is given. Prints the answer with `--json`. */
  calls<Name extends OperationName>(
    name: Called<Name, Given>,
    says: (given: Given, answer: Answer<Name>, run: Run) => Text,
  ): Group {
    return this.answers(async (run, given) => {
      const answer = await this.#call(run, name as Name, given);
      return [answer, says(given, answer, run)];
    });
  }

  /** Calls an operation like `calls`; its answer says nothing. */
  does<Name extends OperationName>(name: Called<Name, Given>, says: (given: Given) => string): Group {
    return this.runs(async (run, given) => {
      await this.#call(run, name as Name, given);
      return says(given);
    });
  }

  /** The path has what is given by the name of its parameter, or the parameter of what is given; the body has all else. */
  async #call<Name extends OperationName>(run: Run, name: Name, given: Given): Promise<Answer<Name>> {
    const [, parameter = ''] = /\{(\w+)\}/.exec(name) ?? [];
    const params: Record<string, unknown> = {};
    const body: Record<string, unknown> = {};
    for (const [key, value] of Object.entries(Object(given))) {
      const named = key === parameter ? value : Object(value)[parameter];
      if (named === undefined) body[key] = value;
      else params[parameter] = named;
    }
    const input = /^(GET|DELETE)/.test(name) ? { params } : { params, body };
    return run.call(name, input as unknown as Input<Name>, await this.#ownRefusals(given, run));
  }
}

/** `pulsegate account update`. */
const nameOf = (of: Command): string => (of.parent ? `${nameOf(of.parent)} ${of.name()}` : of.name());
