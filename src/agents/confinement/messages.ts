// What the daemon and the thread of a `command` agent tell one another.
import type { AgentInput, AgentOutput } from '../../core/agents/runs.js';
import type { CommandOptions } from '../backends/command.js';
import type { Access } from './system.js';

export interface ThreadStart {
  readonly access: Access;
  readonly options: Omit<CommandOptions, 'groups'>;
}

/** `abort`: ends the run. */
export type ToThread = { readonly id: number; readonly input: AgentInput } | { readonly abort: number };

/** `group`: a process group that has started, or ended. */
export type FromThread =
  | { readonly id: number; readonly output: AgentOutput }
  | { readonly group: number; readonly isAlive: boolean };
