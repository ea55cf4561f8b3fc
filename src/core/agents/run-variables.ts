// The environment variables that tell a command what it runs for. They are no keys of the configuration: a command may call
// `pulsegate` itself.
import type { AgentInput } from './runs.js';

/** Set in the environment of every command an agent runs: how its processes are known again. */
export const RUN_ID_VARIABLE = 'PULSEGATE_RUN_ID';

/** Every such variable, with what it says of a run. */
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
