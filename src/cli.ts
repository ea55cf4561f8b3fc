// The command line: puts the commands together, runs the one that was asked for, and turns failures into exit codes.
// 0: done. 1: failed. 2: used in a wrong way, or the configuration is wrong.
import { Command, CommanderError } from 'commander';
import { type AddCommands, CommandError, type Surroundings } from './cli/command.js';
import { addHelp } from './cli/help.js';
import { ConfigError } from './config/config-error.js';
import { StartError } from './core/errors.js';
import { readVersion } from './program.js';

/** The commands in the order of the help, each with the file that has it, which is read when it is needed. */
const GROUPS: Readonly<Record<string, () => Promise<AddCommands>>> = {
  serve: async () => (await import('./cli/serve-command.js')).addServe,
  account: async () => (await import('./cli/account.js')).addAccountCommands,
  whitelist: async () => (await import('./cli/whitelist.js')).addWhitelistCommands,
  admin: async () => (await import('./cli/admin.js')).addAdminCommands,
  agent: async () => (await import('./cli/agents.js')).addAgentCommands,
  run: async () => (await import('./cli/runs.js')).addRunCommands,
  session: async () => (await import('./cli/sessions.js')).addSessionCommands,
  node: async () => (await import('./cli/nodes.js')).addNodeCommands,
  token: async () => (await import('./cli/tokens.js')).addTokenCommands,
  audit: async () => (await import('./cli/audit.js')).addAuditCommands,
  config: async () => (await import('./cli/config.js')).addConfigCommands,
  doctor: async () => (await import('./cli/doctor.js')).addDoctor,
  backup: async () => (await import('./cli/backup.js')).addBackup,
  restore: async () => (await import('./cli/backup.js')).addRestore,
  completion: async () => (await import('./cli/completion.js')).addCompletion,
};

/** Runs the command in `argv` (as in process.argv) and sets the exit code of the process. */
export async function main(argv: readonly string[], around: Surroundings = process): Promise<void> {
  // `pulsegate account list | head` closes our stdout early, which is no failure unless the command has said so.
  around.stdout.on('error', (error: NodeJS.ErrnoException) =>
    process.exit(error.code === 'EPIPE' ? (process.exitCode ?? 0) : 1),
  );
  try {
    const program = await buildProgram(argv, around);
    await program.parseAsync(argv);
  } catch (error) {
    process.exitCode = report(error, around);
  }
}

async function buildProgram(argv: readonly string[], around: Surroundings): Promise<Command> {
  const program = new Command('pulsegate')
    .description('SOCKS5 access for game players: accounts, heartbeats and agent webhooks in one daemon')
    .version(readVersion(), '-V, --version')
    .option(
      '--config <file>',
      'configuration file (default: $PULSEGATE_CONFIG, else ./pulsegate.yaml, else /etc/pulsegate/pulsegate.yaml)',
    )
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => around.stdout.write(text),
      writeErr: (text) => around.stderr.write(text),
    })
    .showHelpAfterError('(add --help for what is possible)')
    .addHelpText(
      'after',
      `
Examples:
  pulsegate serve --config /etc/pulsegate/pulsegate.yaml
  pulsegate account add player --generate
  pulsegate account list --search play
  pulsegate doctor`,
    );
  // Before the commands are added, which inherit it: commander would end the process with its own codes.
  program.exitOverride();
  const wanted = groupIn(argv);
  for (const [name, read] of Object.entries(GROUPS))
    if (wanted === null || wanted === name) (await read())(program, around);
  addHelp(program);
  return program;
}

/** The first word of `argv` where it is a command that stands alone; null: whatever it is, it may need to know them all. */
function groupIn([, , ...words]: readonly string[]): string | null {
  const first = words.find((word, i) => !word.startsWith('-') && words[i - 1] !== '--config');
  return first !== undefined && Object.hasOwn(GROUPS, first) ? first : null;
}

/** Says on stderr what went wrong, and returns the exit code. */
function report(error: unknown, { stderr }: Surroundings): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof ConfigError) {
    stderr.write(`${error.message}\n`);
    return 2;
  }
  if (error instanceof CommandError) {
    stderr.write(`${error.message}\n`);
    return error.exitCode;
  }
  if (error instanceof StartError) {
    stderr.write(`${error.message}\n`);
    return 1;
  }
  stderr.write(`Unexpected error: ${error instanceof Error ? error.message : String(error)}\n`);
  return 1;
}
