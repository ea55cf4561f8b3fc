// A `command` agent whose programs run with few rights: a thread of its own gives up rights and starts them.
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import type { Agent, AgentOutput } from '../../core/agents/runs.js';
import { threadUrl } from '../../program.js';
import { identityOf } from './access.js';
import type { FromThread, ThreadStart, ToThread } from './thread.js';

/**
 * @param start what its thread gets
 * @param groups registry of live process groups: a daemon that exits immediately kills them
 */
export function createConfinedAgent(start: ThreadStart, groups: Set<number>): Agent {
  let current: { readonly thread: AgentThread; readonly identity: string } | null = null;

  /** Rules stay with files that are replaced, for example by an upgrade: then a new thread has rules for the new ones. */
  function threadOfNow(): AgentThread {
    const identity = identityOf(start.access);
    if (current?.thread.isAlive && current.identity === identity) return current.thread;
    current?.thread.endWhenIdle();
    current = { thread: new AgentThread(start, groups), identity };
    return current.thread;
  }

  return {
    async run(input, signal) {
      await mkdir(start.options.inputFolder, { recursive: true, mode: 0o700 });
      return threadOfNow().run(input, signal);
    },
  };
}

class AgentThread {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, (output: AgentOutput) => void>();
  #runs = 0;
  #isEnding = false;
  isAlive = true;

  constructor(start: ThreadStart, groups: Set<number>) {
    this.#worker = new Worker(threadUrl('agents/confinement/thread'), {
      workerData: start,
      name: 'agent',
      // It closes a descriptor that a system call opened, of which Node would warn.
      trackUnmanagedFds: false,
    });
    let fault = 'the thread of the agent ended';
    this.#worker.on('message', (message: FromThread) => {
      if ('output' in message) this.#settle(message.id, message.output);
      else if (message.isAlive) groups.add(message.group);
      else groups.delete(message.group);
    });
    this.#worker.on('error', (error) => {
      fault = `the program could not be confined: ${error.message}`;
    });
    void once(this.#worker, 'exit').then(() => {
      this.isAlive = false;
      for (const id of this.#waiting.keys()) this.#settle(id, { ok: false, error: fault });
    });
    this.#worker.unref();
  }

  async run(input: Parameters<Agent['run']>[0], signal: AbortSignal): Promise<AgentOutput> {
    if (signal.aborted) return { ok: false, error: 'not started' };
    const id = ++this.#runs;
    const abort = (): void => this.#post({ abort: id });
    signal.addEventListener('abort', abort, { once: true });
    // A thread without runs does not keep the daemon running.
    this.#worker.ref();
    const output = new Promise<AgentOutput>((resolve) => this.#waiting.set(id, resolve));
    this.#post({ id, input });
    return output.finally(() => signal.removeEventListener('abort', abort));
  }

  endWhenIdle(): void {
    this.#isEnding = true;
    if (this.#waiting.size === 0) void this.#worker.terminate();
  }

  #post(message: ToThread): void {
    this.#worker.postMessage(message);
  }

  #settle(id: number, output: AgentOutput): void {
    this.#waiting.get(id)?.(output);
    this.#waiting.delete(id);
    if (this.#waiting.size > 0) return;
    this.#worker.unref();
    if (this.#isEnding) this.endWhenIdle();
  }
}
