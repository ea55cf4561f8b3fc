// `pulsegate config`: checks the configuration, and prints the effective configuration without secrets.
import type { Command } from 'commander';
import { ConfigError } from '../config/config-error.js';
import { toPlain } from '../config/plain.js';
import type { Loaded } from '../config.js';
import { type AddCommands, type CommandIo, load, printJson, printLine } from './shared/command.js';

export const addConfigCommands: AddCommands = (program, io) => {
  const config = program.command('config').description('check or print the configuration');

  config
    .command('check')
    .description('check the configuration and list all problems; exit code 2 if there are any')
    .option('--json', 'print JSON')
    .action(async (options: { json?: true }, command) => {
      const { file, warnings } = await check(command, io).catch((error: unknown) => {
        if (options.json && error instanceof ConfigError)
          printJson(io, { ok: false, problems: error.problems });
        throw error;
      });
      if (options.json) return printJson(io, { ok: true, file, warnings });
      for (const warning of warnings) printLine(io.stderr, `warning: ${warning}`);
      printLine(io.stdout, `${file ?? 'the built-in configuration'}: ok`);
    });

  config
    .command('print')
    .description('print the effective configuration (defaults, file, environment) without secrets')
    .option('--json', 'print JSON')
    .action(async (options: { json?: true }, command) => {
      const { settings, file } = await load(command, io);
      const plain = toPlain(settings);
      if (options.json) return printJson(io, plain);
      printLine(
        io.stdout,
        `# ${file === null ? 'built-in defaults' : `defaults and ${file}`}, then PULSEGATE_ variables`,
      );
      const { stringify } = await import('yaml');
      io.stdout.write(stringify(plain));
    });
};

/** @throws ConfigError with all problems, including those of the files that the configuration names */
async function check(command: Command, io: CommandIo): Promise<Loaded> {
  const loaded = await load(command, io);
  const { readAdminCredentials } = await import('../config/credentials.js');
  const { agentFileWarnings, certificateProblems, geoFileProblems, secretFileProblems } = await import(
    '../parts/named-files.js'
  );
  await readAdminCredentials(io.env);
  const problems = [certificateProblems, geoFileProblems, secretFileProblems].flatMap((of) =>
    of(loaded.config),
  );
  if (problems.length > 0) throw new ConfigError(problems);
  const warnings = agentFileWarnings(loaded.config).map(({ where, text }) => `${where}: ${text}`);
  return { ...loaded, warnings: [...loaded.warnings, ...warnings] };
}
