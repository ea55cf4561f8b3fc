// `pulsegate help account add`: help for a command at any depth.
import type { Command } from 'commander';

/** Replaces commander's own help command, which supports one level only. Add this last. */
export function addHelp(program: Command): void {
  program.helpCommand(false);
  program
    .command('help')
    .argument('[command...]', 'for example: account add')
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
