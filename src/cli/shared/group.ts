// Groups of commands, and commands: each says what it does and what it is given, and is run by a function of its values.
import { Argument, type Command, Option } from 'commander';
import type { Loaded } from '../../config.js';
import { type ItemOf, type ListName, type Opened, openLazily } from './api.js';
import { type CommandIo, once, printJson, printLine } from './command.js';
import { confirm } from './prompt.js';
import { type Columns, printTable } from './table.js';

/** Of an argument or an option; a text is its help. */
type Description =
  | string
  | {
      readonly help: string;
      readonly read?: (text: string, before?: never) => unknown;
      readonly choices?: readonly string[];
      readonly initial?: unknown;
      readonly isRequired?: true;
    };
/** By flags: `<name>`, `[id...]`, `--json`, `--limit <n>`. */
type Given = Readonly<Record<string, Description>>;

type Camel<Text> = Text extends `${infer Head}-${infer Tail}` ? `${Head}${Capitalize<Camel<Tail>>}` : Text;
type NameOf<Flags> = Flags extends `--no-${infer Name}`
  ? Camel<Name>
  : Flags extends `--${infer Name} ${string}` | `--${infer Name}`
    ? Camel<Name>
    : Flags extends `${'<' | '['}${infer Name}${'...' | ''}${'>' | ']'}`
      ? Name
      : never;
type OneOf<Of> = Of extends { choices: readonly (infer Choice)[] }
  ? Choice
  : Of extends { read: (...given: never[]) => infer Value }
    ? Value
    : string;
type ValueOf<Flags, Of> = Flags extends `${string}...${'>' | ']'}`
  ? OneOf<Of>[]
  : Flags extends `${string}${'>' | ']'}`
    ? OneOf<Of>
    : boolean;
type IsAlways<Flags, Of> = Flags extends `<${string}` | `[${string}...]`
  ? true
  : Of extends { initial: unknown } | { isRequired: true }
    ? true
    : false;
/** The values by the names of the arguments and options. */
export type ValuesOf<Of> = {
  readonly [Flags in keyof Of as NameOf<Flags>]:
    | ValueOf<Flags, Of[Flags]>
    | (IsAlways<Flags, Of[Flags]> extends true ? never : undefined);
};

/** What a command works with. */
export interface Run extends Omit<Opened, 'close'> {
  readonly io: CommandIo;
  /** The configuration file that the program is given. */
  readonly file: string | undefined;
  load(): Promise<Loaded>;
  print(line: string): void;
  /** Asks before `what` happens, unless `--yes` is given. @throws CommandError when it is not confirmed */
  confirm(what: string): Promise<void>;
}

/** A line for stdout; or the answer that `--json` prints, with what is printed without it. */
type Shown = string | undefined | readonly [answer: unknown, shown: string | (() => void)];

const JSON_OPTION = { '--json': 'print JSON' } as const;
export const YES_OPTION = { '--yes': 'skip the confirmation' } as const;

/** Adds commands to the program. */
export type AddCommands = (program: Group) => void;

class Described {
  constructor(
    readonly commander: Command,
    readonly io: CommandIo,
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
export class Group extends Described {
  group(name: string, does: string): Group {
    return new Group(this.commander.command(name).description(does), this.io);
  }

  command<const Of extends Given = Record<never, never>>(name: string, does: string, given?: Of) {
    const added = this.commander.command(name).description(does);
    for (const [flags, of] of Object.entries<Description>(given ?? {})) add(added, flags, of);
    return new Runnable<Of>(added, this.io);
  }
}

class Runnable<Of> extends Described {
  /** Runs the command by `work`. @param mayCreate whether it may create a missing database */
  runs(
    work: (run: Run, given: ValuesOf<Of>) => Shown | Promise<Shown>,
    mayCreate: (given: ValuesOf<Of>) => boolean = () => false,
  ): void {
    const { commander, io } = this;
    commander.action(async () => {
      const named = commander.registeredArguments.map((argument, index) => [
        argument.name(),
        commander.processedArgs[index],
      ]);
      const options = Object.entries(commander.opts()).map(([name, value]) => [
        name,
        value === NULL ? null : value,
      ]);
      const given = Object.fromEntries([...options, ...named]);
      const { config: file } = commander.optsWithGlobals<{ config?: string }>();
      // Imported here because help and completion need neither zod nor yaml.
      const load = once(async () => (await import('../../config.js')).loadConfig({ file, env: io.env }));
      const { close, ...opened } = openLazily(
        load,
        () => mayCreate(given),
        (error) => printLine(io.stderr, `Database write failed: ${String(error)}`),
      );
      const print = (line: string): void => printLine(io.stdout, line);
      const run: Run = { ...opened, io, file, load, print, confirm: (what) => confirm(io, given.yes, what) };
      const shown = await Promise.resolve(work(run, given)).finally(close);
      if (typeof shown === 'string') return print(shown);
      if (!shown) return;
      if (given.json) return printJson(io, shown[0]);
      if (typeof shown[1] === 'string') print(shown[1]);
      else shown[1]();
    });
  }

  /** Runs a command with `--json`, like `runs`. */
  answers(
    work: (run: Run, given: ValuesOf<Of & typeof JSON_OPTION>) => Shown | Promise<Shown>,
    mayCreate?: (given: ValuesOf<Of>) => boolean,
  ): void {
    add(this.commander, '--json', JSON_OPTION['--json']);
    new Runnable<Of & typeof JSON_OPTION>(this.commander, this.io).runs(work, mayCreate);
  }

  /** Lists the items of an operation, whose query the options are. @param none stderr when there are no items */
  lists<Name extends ListName>(none: string, name: Name, columns: Columns<ItemOf<Name>>): void {
    this.answers(async (run, { json: _, ...query }) => {
      const items = await run.items(name, query);
      return [items, () => printList(run.io, items, none, columns)];
    });
  }
}

/** What an option is read as, when it is null: commander would take null for a missing value. */
const NULL = Symbol('null');

function add(command: Command, flags: string, of: Description): void {
  const { help, read, choices, initial, isRequired = false } = typeof of === 'string' ? { help: of } : of;
  if (!flags.startsWith('-')) {
    const argument = new Argument(flags, help);
    command.addArgument(choices ? argument.choices(choices) : argument);
    return;
  }
  const option = new Option(flags, help).makeOptionMandatory(isRequired).default(initial);
  if (read) option.argParser((text, before: unknown) => read(text, before as never) ?? NULL);
  command.addOption(choices ? option.choices(choices) : option);
}

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
