// `pulsegate config` and `pulsegate doctor`: check the configuration and this machine, and print the effective configuration without
// secrets.
import { ConfigError } from '../config/config-error.js';
import { toPlain } from '../config/units.js';
import type { Loaded } from '../config.js';
import { type CommandIo, printJson } from './shared/command.js';
import type { AddCommands } from './shared/group.js';

export const addConfigCommands: AddCommands = (program) =>
  program
    .group('config', 'check or print the configuration')

    .command('check', 'check the configuration and list all problems; exit code 2 if there are any')
    .answers(async (run) => {
      const checked = run.load().then((loaded) => checkConfig(loaded, run.io.env));
      const { file, warnings, effective } = await checked.catch((error: unknown) => {
        if (run.json && error instanceof ConfigError)
          printJson(run.io, { ok: false, problems: error.problems });
        throw error;
      });
      const show = () => {
        if (effective().some(({ path, source }) => path === 'egress.denyPorts' && source === 'default'))
          run.note('note: egress.denyPorts is not set: port 25 (smtp) of every destination is denied');
        for (const warning of warnings) run.note(`warning: ${warning}`);
        return `${file ?? 'the built-in configuration'}: ok`;
      };
      return [{ ok: true, file, warnings }, show];
    })

    .command('print', 'print the effective configuration (defaults, file, environment) without secrets')
    .answers(async ({ load, json }) => {
      const { asRead, file } = await load();
      const plain = toPlain(asRead);
      const from = file === null ? 'built-in defaults' : `defaults and ${file}`;
      const text = json ? '' : (await import('yaml')).stringify(plain).trimEnd();
      return [plain, `# ${from}, then PULSEGATE_ variables\n${text}`];
    });

/** @throws ConfigError with all problems, including those of the files that the configuration names */
export async function checkConfig(loaded: Loaded, env: CommandIo['env']): Promise<Loaded> {
  const { readAdminCredentials } = await import('../config/credentials.js');
  const { fileWarnings, certificateProblems, geoFileProblems, secretFileProblems } = await import(
    '../parts/named-files.js'
  );
  await readAdminCredentials(env);
  const problems = [certificateProblems, geoFileProblems, secretFileProblems].flatMap((of) =>
    of(loaded.config),
  );
  if (problems.length > 0) throw new ConfigError(problems);
  const warnings = fileWarnings(loaded.config).map(({ where, text }) => `${where}: ${text}`);
  return { ...loaded, warnings: [...loaded.warnings, ...warnings] };
}

export const addDoctor: AddCommands = (program) =>
  program
    .command('doctor', 'check this machine for problems; exit code 1 if the daemon cannot run')
    .answers(async ({ load, print }) => {
      const loaded = await load();
      const { examine } = await import('./doctor/checks.js');
      const findings = await examine(loaded);
      const ok = findings.every(({ state }) => state !== 'stop');
      if (!ok) process.exitCode = 1;
      const show = () => {
        for (const { state, check, text } of findings) print(`${MARKS[state]} ${check}: ${text}`);
      };
      return [{ ok, findings }, show];
    });

const MARKS = { ok: 'ok  ', warn: 'warn', stop: 'STOP' } as const;
