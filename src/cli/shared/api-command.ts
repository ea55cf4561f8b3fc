// Commands that call the API: a group, its commands, and lists.
import { Command } from 'commander';
import { type Api, withApi } from './api.js';
import { type CommandIo, load, printJson, printLine } from './command.js';
import { printTable } from './table.js';

/** The heading and the cell of each column. */
type Columns<Row> = Readonly<Record<string, (row: Row) => string>>;

interface JsonOption {
  readonly json?: true;
}

/** Adds a command, or a group of commands, that may call the API. */
export function apiCommand(program: Command, io: CommandIo, name: string): ApiCommand {
  const added = new ApiCommand(io, name).copyInheritedSettings(program);
  program.addCommand(added);
  return added;
}

export class ApiCommand extends Command {
  constructor(
    private readonly io: CommandIo,
    name?: string,
  ) {
    super(name);
  }

  /** Commander makes the commands of a group by this. */
  override createCommand(name?: string): ApiCommand {
    return new ApiCommand(this.io, name);
  }

  /** Runs the command by `work`, which is given the API, the arguments of the command and its options. */
  calls<Given extends unknown[]>(work: (api: Api, ...given: Given) => Promise<void>): this {
    return this.action(async (...given: Given) => {
      await withApi(await load(this, this.io), (api) => work(api, ...given));
    });
  }

  /** Lists what `read` returns. @param none stderr when it is nothing */
  lists<Row, Options>(
    none: string,
    read: (api: Api, options: Options) => Promise<readonly Row[]>,
    columns: Columns<Row>,
  ): this {
    return this.option('--json', 'print JSON').calls(async (api, options: Options & JsonOption) =>
      printList(this.io, options, await read(api, options), none, columns),
    );
  }
}

/** Prints rows as JSON or as a table; `none` to stderr when a table had no rows. */
export function printList<Row>(
  io: CommandIo,
  { json }: JsonOption,
  rows: readonly Row[],
  none: string,
  columns: Columns<Row>,
): void {
  if (json) return printJson(io, rows);
  if (rows.length === 0) return printLine(io.stderr, none);
  const cells = Object.values(columns);
  printTable(
    io,
    Object.keys(columns),
    rows.map((row) => cells.map((cell) => cell(row))),
  );
}
