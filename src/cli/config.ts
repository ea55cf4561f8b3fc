// `pulsegate config`: checks the configuration, and prints what is in force with secrets hidden.
import type { Command } from 'commander';
import { ConfigError } from '../config/config-error.js';
import { toPlain } from '../config/plain.js';
import type { Loaded } from '../config.js';
import { type AddCommands, load, printJson, printLine, type Surroundings } from './command.js';

export const addConfigCommands: AddCommands = (program, around) => {
  const config = program.command('config').description('check or print the configuration');

  config
    .command('check')
    .description('say everything that is wrong with the configuration; exit code 2 if anything is')
    .option('--json', 'as JSON')
    .action(async (options: { json?: true }, command) => {
      const { file, warnings } = await check(command, around).catch((error: unknown) => {
        if (options.json && error instanceof ConfigError)
          printJson(around, { ok: false, problems: error.problems });
        throw error;
      });
      if (options.json) return printJson(around, { ok: true, file, warnings });
      for (const warning of warnings) printLine(around.stderr, `warning: ${warning}`);
      printLine(around.stdout, `${file ?? 'the built-in configuration'}: ok`);
    });

  config
    .command('print')
    .description('print the configuration in force: defaults, file, environment; secrets hidden')
    .option('--json', 'as JSON')
    .action(async (options: { json?: true }, command) => {
      const { settings, file } = await load(command, around);
      const plain = toPlain(settings);
      if (options.json) return printJson(around, plain);
      printLine(
        around.stdout,
        `# ${file === null ? 'built-in defaults' : `defaults and ${file}`}, then PULSEGATE_ variables`,
      );
      const { stringify } = await import('yaml');
      around.stdout.write(stringify(plain));
    });
};

/** @throws ConfigError with everything that is wrong, in files that the configuration names too */
async function check(command: Command, around: Surroundings): Promise<Loaded> {
  const loaded = await load(command, around);
  const { readTlsFiles } = await import('../config.js');
  readTlsFiles(loaded.config.admin.tls);
  for (const [i, { tls }] of loaded.config.socks.listeners.entries())
    if (tls !== undefined) readTlsFiles(tls, `socks.listeners[${i}].tls`);
  return loaded;
}
