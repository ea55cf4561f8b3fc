// `pulsegate config`: checks the configuration, and prints what is in force with secrets hidden.
import { stringify } from 'yaml';
import { toPlain } from '../config/plain.js';
import { readTlsFiles } from '../config.js';
import { type AddCommands, load, printJson, printLine } from './command.js';

export const addConfigCommands: AddCommands = (program, around) => {
  const config = program.command('config').description('check or print the configuration');

  config
    .command('check')
    .description('say everything that is wrong with the configuration; exit code 2 if anything is')
    .option('--json', 'as JSON')
    .action(async (options: { json?: true }, command) => {
      const { file, warnings, config: checked } = await load(command, around);
      readTlsFiles(checked.admin.tls);
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
      around.stdout.write(stringify(plain));
    });
};
