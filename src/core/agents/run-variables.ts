// The environment variables that describe a run to a command. They are not configuration keys: a command may itself call
// `pulsegate`.
import type { AgentInput } from './runs.js';

/** Set in the environment of every agent command, to find the processes of a run. */
export const RUN_ID_VARIABLE = 'PULSEGATE_RUN_ID';

/** All variables with their values for a run. */
const VALUES = {
  [RUN_ID_VARIABLE]: ({ runId }: AgentInput) => runId,
  PULSEGATE_AGENT: ({ agent }: AgentInput) => agent,
  PULSEGATE_KIND: ({ kind }: AgentInput) => kind,
  PULSEGATE_SESSION: ({ session }: AgentInput) => session ?? '',
  PULSEGATE_ATTEMPT: ({ attempt }: AgentInput) => String(attempt),
};

export const RUN_VARIABLES: readonly string[] = Object.keys(VALUES);

export function runVariables(input: AgentInput): Record<string, string> {
  return Object.fromEntries(Object.entries(VALUES).map(([name, value]) => [name, value(input)]));
}
