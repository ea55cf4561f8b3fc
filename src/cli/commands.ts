// All commands, for commander.
import { Command, CommanderError } from 'commander';
import { readVersion } from '../program.js';
import type { CommandIo } from './shared/command.js';
import { type AddCommands, Group } from './shared/group.js';

/** The commands in the order of the help. The module of a command is imported only when needed. */
const GROUPS: Readonly<Record<string, () => Promise<AddCommands>>> = {
  serve: async () => (await import('./serve/serve-command.js')).addServe,
  restart: async () => (await import('./serve/serve-command.js')).addRestart,
  account: async () => (await import('./account/account.js')).addAccountCommands,
  whitelist: async () => (await import('./whitelist.js')).addWhitelistCommands,
  admin: async () => (await import('./admin.js')).addAdminCommands,
  agent: async () => (await import('./agents.js')).addAgentCommands,
  run: async () => (await import('./agents.js')).addRunCommands,
  session: async () => (await import('./sessions.js')).addSessionCommands,
  trace: async () => (await import('./audit.js')).addTraceCommand,
  traffic: async () => (await import('./audit.js')).addTrafficCommand,
  'event-receiver': async () => (await import('./events.js')).addReceiverCommands,
  'event-delivery': async () => (await import('./events.js')).addDeliveryCommands,
  exit: async () => (await import('./exits.js')).addExitCommands,
  node: async () => (await import('./exits.js')).addNodeCommands,
  plan: async () => (await import('./plans.js')).addPlanCommands,
  operator: async () => (await import('./operators.js')).addOperatorCommands,
  token: async () => (await import('./operators.js')).addTokenCommands,
  audit: async () => (await import('./audit.js')).addAuditCommands,
  config: async () => (await import('./config.js')).addConfigCommands,
  doctor: async () => (await import('./config.js')).addDoctor,
  backup: async () => (await import('./database.js')).addBackup,
  restore: async () => (await import('./database.js')).addRestore,
  database: async () => (await import('./database.js')).addDatabaseCommands,
  completion: async () => (await import('./completion.js')).addCompletion,
};

/** Runs the command in `argv`, as `main` gets it. Wrong usage sets the exit code. */
export async function runCommand(argv: readonly string[], io: CommandIo): Promise<void> {
  try {
    await (await buildProgram(argv, io)).parseAsync(argv);
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    process.exitCode = error.exitCode === 0 ? 0 : 2;
  }
}

async function buildProgram(argv: readonly string[], io: CommandIo): Promise<Command> {
  const program = new Command('pulsegate')
    .description('SOCKS5 proxy server for game players, with accounts, heartbeats and agent webhooks')
    .version(readVersion(), '-V, --version')
    .option(
      '--config <file>',
      'configuration file (default: $PULSEGATE_CONFIG, else ./pulsegate.yaml, else /etc/pulsegate/pulsegate.yaml)',
    )
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
    })
    .showHelpAfterError('(use --help to see the available commands and options)')
    .addHelpText(
      'after',
      `
Examples:
  pulsegate serve --config /etc/pulsegate/pulsegate.yaml
  pulsegate account add player --generate
  pulsegate account list --search play
  pulsegate doctor`,
    );
  // Commands inherit this when they are added. Without it, commander exits the process with its own codes.
  program.exitOverride();
  const wanted = groupOf(argv);
  for (const [name, read] of Object.entries(GROUPS))
    if (wanted === null || wanted === name) (await read())(new Group(program, io));
  addHelp(program);
  return program;
}

/** Replaces commander's own help command, which supports one level only. Add this last. */
function addHelp(program: Command): void {
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

/** The command that `argv` names; null when all commands must be registered (help, an unknown command). */
function groupOf([, , ...words]: readonly string[]): string | null {
  const first = words.find((word, i) => !word.startsWith('-') && words[i - 1] !== '--config');
  return first !== undefined && Object.hasOwn(GROUPS, first) ? first : null;
}
