// `pulsegate doctor`: what would stop or slow the daemon on this machine.
import { type AddCommands, load, printJson, printLine } from './command.js';

export const addDoctor: AddCommands = (program, around) => {
  program
    .command('doctor')
    .description('say what would stop or slow the daemon here; exit code 1 if something would stop it')
    .option('--json', 'as JSON')
    .action(async (options: { json?: true }, command) => {
      const loaded = await load(command, around);
      const { examine } = await import('./doctor-checks.js');
      const findings = await examine(loaded);
      if (options.json) printJson(around, { ok: findings.every(({ state }) => state !== 'stop'), findings });
      else
        for (const { state, check, text } of findings)
          printLine(around.stdout, `${MARKS[state]} ${check}: ${text}`);
      if (findings.some(({ state }) => state === 'stop')) process.exitCode = 1;
    });
};

const MARKS = { ok: 'ok  ', warn: 'warn', stop: 'STOP' } as const;
