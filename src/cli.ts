// The command line: registers the commands, runs one, and maps errors to exit codes.
// 0: success. 1: failure. 2: wrong usage or invalid configuration.
import { Command, CommanderError } from 'commander';
import { CommandError, type CommandIo } from './cli/shared/command.js';
import { type AddCommands, Group } from './cli/shared/group.js';
import { ConfigError } from './config/config-error.js';
import { StartError } from './core/errors.js';
import { readVersion } from './program.js';
import { journalPrefix, toJournal } from './systemd/journal.js';

/** The commands in the order of the help. The module of a command is imported only when needed. */
const GROUPS: Readonly<Record<string, () => Promise<AddCommands>>> = {
  serve: async () => (await import('./cli/serve/serve-command.js')).addServe,
  restart: async () => (await import('./cli/serve/serve-command.js')).addRestart,
  account: async () => (await import('./cli/account/account.js')).addAccountCommands,
  whitelist: async () => (await import('./cli/whitelist.js')).addWhitelistCommands,
  admin: async () => (await import('./cli/admin.js')).addAdminCommands,
  agent: async () => (await import('./cli/agents.js')).addAgentCommands,
  run: async () => (await import('./cli/agents.js')).addRunCommands,
  session: async () => (await import('./cli/sessions.js')).addSessionCommands,
  trace: async () => (await import('./cli/audit.js')).addTraceCommand,
  traffic: async () => (await import('./cli/audit.js')).addTrafficCommand,
  'event-receiver': async () => (await import('./cli/events.js')).addReceiverCommands,
  'event-delivery': async () => (await import('./cli/events.js')).addDeliveryCommands,
  exit: async () => (await import('./cli/exits.js')).addExitCommands,
  node: async () => (await import('./cli/exits.js')).addNodeCommands,
  plan: async () => (await import('./cli/plans.js')).addPlanCommands,
  operator: async () => (await import('./cli/operators.js')).addOperatorCommands,
  token: async () => (await import('./cli/operators.js')).addTokenCommands,
  audit: async () => (await import('./cli/audit.js')).addAuditCommands,
  config: async () => (await import('./cli/config.js')).addConfigCommands,
  doctor: async () => (await import('./cli/config.js')).addDoctor,
  backup: async () => (await import('./cli/database.js')).addBackup,
  restore: async () => (await import('./cli/database.js')).addRestore,
  database: async () => (await import('./cli/database.js')).addDatabaseCommands,
  completion: async () => (await import('./cli/completion.js')).addCompletion,
};

/** Runs the command in `argv` (as in process.argv) and sets the exit code of the process. */
export async function main(argv: readonly string[], io: CommandIo = process): Promise<void> {
  // `pulsegate account list | head` closes stdout early. That is not an error unless the command set an exit code.
  io.stdout.on('error', (error: NodeJS.ErrnoException) =>
    process.exit(error.code === 'EPIPE' ? (process.exitCode ?? 0) : 1),
  );
  try {
    const program = await buildProgram(argv, io);
    await program.parseAsync(argv);
  } catch (error) {
    process.exitCode = report(error, io);
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

/** Prints the error to stderr and returns the exit code. */
function report(error: unknown, { stderr }: CommandIo): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  const prefix = toJournal(2) ? journalPrefix('error') : '';
  stderr.write(`${prefix}${messageOf(error).replaceAll('\n', `\n${prefix}`)}\n`);
  if (error instanceof ConfigError) return 2;
  return error instanceof CommandError ? error.exitCode : 1;
}

function messageOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof ConfigError || error instanceof CommandError || error instanceof StartError)
    return message;
  // A thread or a process could not be started (pthread_create(3), fork(2)).
  const advice = /\bEAGAIN\b/.test(message)
    ? '; raise the limit of threads (TasksMax=, ulimit -u), or of address space (LimitAS=, ulimit -v) to 4 GiB or more'
    : '';
  return `Unexpected error: ${message}${advice}`;
}
