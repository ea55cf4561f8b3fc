// `pulsegate doctor`: checks this machine for problems of the daemon.
import type { AddCommands } from '../shared/group.js';

export const addDoctor: AddCommands = (program) => {
  program
    .command('doctor', 'check this machine for problems; exit code 1 if the daemon cannot run')
    .answers(async ({ load, print }) => {
      const loaded = await load();
      const { examine } = await import('./checks.js');
      const findings = await examine(loaded);
      const ok = findings.every(({ state }) => state !== 'stop');
      if (!ok) process.exitCode = 1;
      const show = () => {
        for (const { state, check, text } of findings) print(`${MARKS[state]} ${check}: ${text}`);
      };
      return [{ ok, findings }, show];
    });
};

const MARKS = { ok: 'ok  ', warn: 'warn', stop: 'STOP' } as const;
