// The thread of a `command` agent: gives up its rights, then starts the programs, which inherit what is left. A process that did so
// and became the program would cost an agent's run a start of Node.
import { stat } from 'node:fs/promises';
import { parentPort, workerData } from 'node:worker_threads';
import type { AgentInput, AgentOutput } from '../../core/agents/runs.js';
import { tryOr } from '../../core/errors.js';
import { type CommandOptions, createCommandAgent } from '../backends/command.js';
import { type Access, loadConfinement } from './system.js';

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

async function serve({ access, options }: ThreadStart): Promise<void> {
  // The first work for Node's thread pool starts its threads for the whole process: they must not inherit these restrictions.
  await stat('/');
  // Without koffi it cannot: the daemon has said so at its start.
  tryOr(null, loadConfinement)?.restrictThread(access);

  const aborts = new Map<number, AbortController>();
  const agent = createCommandAgent({
    ...options,
    groups: {
      add: (group) => tell({ group, isAlive: true }),
      delete: (group) => tell({ group, isAlive: false }),
    },
  });

  parentPort?.on('message', (message: ToThread) => {
    if ('abort' in message) return aborts.get(message.abort)?.abort();
    const { id, input } = message;
    const abort = new AbortController();
    aborts.set(id, abort);
    void agent.run(input, abort.signal).then((output) => {
      aborts.delete(id);
      tell({ id, output });
    });
  });
}

const tell = (message: FromThread): void => parentPort?.postMessage(message);

void serve(workerData as ThreadStart);
