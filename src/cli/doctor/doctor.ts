// `pulsegate doctor`: checks this machine for problems of the daemon.
import { type AddCommands, load, printJson, printLine } from '../shared/command.js';

export const addDoctor: AddCommands = (program, io) => {
  program
    .command('doctor')
    .description('check this machine for problems; exit code 1 if the daemon cannot run')
    .option('--json', 'print JSON')
    .action(async (options: { json?: true }, command) => {
      const loaded = await load(command, io);
      const { examine } = await import('./checks.js');
      const findings = await examine(loaded);
      if (options.json) printJson(io, { ok: findings.every(({ state }) => state !== 'stop'), findings });
      else
        for (const { state, check, text } of findings)
          printLine(io.stdout, `${MARKS[state]} ${check}: ${text}`);
      if (findings.some(({ state }) => state === 'stop')) process.exitCode = 1;
    });
};

const MARKS = { ok: 'ok  ', warn: 'warn', stop: 'STOP' } as const;
