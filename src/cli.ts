// The command line: puts the commands together, runs the one that was asked for, and turns failures into exit codes.
// 0: done. 1: failed. 2: used in a wrong way, or the configuration is wrong.
import { Command, CommanderError } from 'commander';
import { addAccountCommands } from './cli/account.js';
import { addAccountFileCommands } from './cli/account-files.js';
import { addAdminCommands } from './cli/admin.js';
import { addAgentCommands } from './cli/agents.js';
import { addAuditCommands } from './cli/audit.js';
import { addBackupCommands } from './cli/backup.js';
import { CommandError, type Surroundings } from './cli/command.js';
import { addCompletion } from './cli/completion.js';
import { addConfigCommands } from './cli/config.js';
import { addDoctor } from './cli/doctor.js';
import { addHelp } from './cli/help.js';
import { addRunCommands } from './cli/runs.js';
import { addServe } from './cli/serve.js';
import { addSessionCommands } from './cli/sessions.js';
import { addTokenCommands } from './cli/tokens.js';
import { addWhitelistCommands } from './cli/whitelist.js';
import { ConfigError } from './config.js';
import { StartError } from './core/errors.js';
import { readVersion } from './version.js';

/** Runs the command in `argv` (as in process.argv) and sets the exit code of the process. */
export async function main(argv: readonly string[], around: Surroundings = process): Promise<void> {
  // `pulsegate account list | head` closes our stdout early, which is no failure unless the command has said so.
  around.stdout.on('error', (error: NodeJS.ErrnoException) =>
    process.exit(error.code === 'EPIPE' ? (process.exitCode ?? 0) : 1),
  );
  try {
    await buildProgram(around).parseAsync(argv);
  } catch (error) {
    process.exitCode = report(error, around);
  }
}

function buildProgram(around: Surroundings): Command {
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
  addServe(program, around);
  addAccountFileCommands(addAccountCommands(program, around), around);
  addWhitelistCommands(program, around);
  addAdminCommands(program, around);
  addAgentCommands(program, around);
  addRunCommands(program, around);
  addSessionCommands(program, around);
  addTokenCommands(program, around);
  addAuditCommands(program, around);
  addConfigCommands(program, around);
  addDoctor(program, around);
  addBackupCommands(program, around);
  addHelp(program);
  addCompletion(program, around);
  return program;
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
