// `pulsegate help account add`: the help of any command, however deep it is.
import type { Command } from 'commander';

/** Takes the place of commander's own, which knows the first level only. To be added last. */
export function addHelp(program: Command): void {
  program.helpCommand(false);
  program
    .command('help')
    .argument('[command...]', 'as one would write it: account add')
    .description('display help for a command')
    .action((names: string[]) => commandOf(program, names).help());
}

function commandOf(program: Command, names: readonly string[]): Command {
  let at = program;
  for (const name of names) {
    const next = at.commands.find((command) => command.name() === name);
    if (!next) return at.error(`error: unknown command '${name}'`, { code: 'commander.unknownCommand' });
    at = next;
  }
  return at;
}
