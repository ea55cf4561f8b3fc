// `pulsegate doctor`: checks the configured files of secrets and agents.
import type { Config } from '../config.js';
import { agentFileWarnings, secretFileProblems } from '../parts/named-files.js';
import type { Finding } from './doctor-finding.js';

export function checkFiles(config: Config): Finding[] {
  const check = 'files';
  return [
    ...secretFileProblems(config).map(
      ({ where, text }): Finding => ({ check, state: 'stop', text: `${where}: ${text}` }),
    ),
    ...agentFileWarnings(config).map(
      ({ where, text }): Finding => ({ check, state: 'warn', text: `${where}: ${text}` }),
    ),
  ];
}
