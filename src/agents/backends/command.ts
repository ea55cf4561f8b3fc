// The `command` agent: runs a program without a shell, in its own process group. Its standard input is a file with one JSON object.
// Its standard output is the reply, and exit status 0 is success.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { closeSync, openSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { runVariables } from '../../core/agents/run-store.js';
import type { Agent, AgentInput, AgentOutput } from '../../core/agents/runs.js';
import { oneLine } from '../../core/text.js';
import { killRunProcesses, signalGroup } from '../processes.js';
import { collectReply, failed, tooLong } from './reply.js';

export interface CommandOptions {
  /** Program and arguments. */
  readonly command: readonly string[];
  /** Working directory. */
  readonly cwd: string;
  /** The folder for its input, which the program may open again (/dev/stdin). */
  readonly inputFolder: string;
  /** The environment of the command, except the variables that name the run. */
  readonly env: Readonly<Record<string, string>>;
  /** The command fails when its reply is longer. */
  readonly maxReplyBytes: number;
  /** Time between SIGTERM and SIGKILL, in ms. */
  readonly killAfterMs: number;
  /** Registry of live process groups: a daemon that exits immediately kills them. */
  readonly groups: { add(group: number): unknown; delete(group: number): unknown };
}

const STDERR_TAIL_BYTES = 4096;
// Time to read the output that is still in the pipe after the program ended. The daemon waits no longer when a stray process holds
// the pipe open.
const DRAIN_MS = 1000;

export function createCommandAgent(options: CommandOptions): Agent {
  return {
    run: (input, signal) =>
      new Promise((resolve) => {
        if (signal.aborted) return resolve(failed('not started'));
        const [program = '', ...args] = options.command;
        let stdin: number;
        try {
          stdin = openInput(options.inputFolder, JSON.stringify(input));
        } catch (error) {
          return resolve(failed(`the input could not be written: ${(error as Error).message}`));
        }
        try {
          const child = spawn(program, args, {
            cwd: options.cwd,
            env: { ...options.env, ...runVariables(input) },
            detached: true,
            shell: false,
            stdio: [stdin, 'pipe', 'pipe'],
          });
          supervise(child, input, signal, options, resolve);
        } finally {
          closeSync(stdin);
        }
      }),
  };
}

/**
 * Returns a descriptor at the start of a file without a name that contains `text`. A pipe is filled only after the program has
 * started: a program whose daemon dies at that moment would see a part of its input, or none.
 */
function openInput(folder: string, text: string): number {
  const path = join(folder, `pulsegate-${randomUUID()}`);
  const file = openSync(path, 'wx+', 0o600);
  try {
    unlinkSync(path);
    const bytes = Buffer.from(text);
    // A given position leaves the descriptor's own at the start.
    for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at, bytes.length - at, at);
    return file;
  } catch (error) {
    closeSync(file);
    throw error;
  }
}

function supervise(
  child: ChildProcess,
  input: AgentInput,
  signal: AbortSignal,
  options: CommandOptions,
  resolve: (output: AgentOutput) => void,
): void {
  const { pid: groupId, stdout, stderr } = child;
  const output = collectReply(options.maxReplyBytes);
  const errors = tail(STDERR_TAIL_BYTES);
  let fault: string | null = null;
  let killTimer: NodeJS.Timeout | undefined;
  let drainTimer: NodeJS.Timeout | undefined;

  const endGroup = () => {
    if (groupId === undefined || killTimer) return;
    signalGroup(groupId, 'SIGTERM');
    killTimer = setTimeout(() => signalGroup(groupId, 'SIGKILL'), options.killAfterMs);
  };
  if (groupId !== undefined) options.groups.add(groupId);
  signal.addEventListener('abort', endGroup, { once: true });

  stdout?.on('data', (part: Buffer) => {
    if (output.add(part) || fault) return;
    fault = tooLong(options.maxReplyBytes);
    endGroup();
  });
  stderr?.on('data', errors.add);
  for (const stream of [stdout, stderr]) stream?.on('error', () => {});

  child.on('error', (error: NodeJS.ErrnoException) => {
    if (groupId === undefined) settle(failed(spawnFault(error, options)));
  });
  child.on('exit', () => {
    // Kills the processes that the program left in its group.
    if (groupId !== undefined) signalGroup(groupId, 'SIGKILL');
    drainTimer = setTimeout(() => {
      stdout?.destroy();
      stderr?.destroy();
    }, DRAIN_MS);
  });
  child.on('close', (code, endedBy) => {
    if (groupId === undefined) return;
    // After an abort, also kills the processes that have left the group.
    if (signal.aborted || fault) killRunProcesses(new Set([input.runId]));
    if (fault) settle(failed(fault));
    else if (code === 0) settle({ ok: true, reply: output.text() });
    else settle(failed(exitFault(code, endedBy, errors.text())));
  });

  function settle(result: AgentOutput): void {
    clearTimeout(killTimer);
    clearTimeout(drainTimer);
    signal.removeEventListener('abort', endGroup);
    if (groupId !== undefined) options.groups.delete(groupId);
    resolve(result);
  }
}

/** Keeps the last `maxBytes`. */
function tail(maxBytes: number) {
  let kept = Buffer.alloc(0);
  return {
    add(part: Buffer): void {
      kept = Buffer.concat([kept, part]).subarray(-maxBytes);
    },
    text: () => oneLine(kept.toString('utf8')).slice(-500),
  };
}

function spawnFault(error: NodeJS.ErrnoException, { command, cwd }: CommandOptions): string {
  const program = command[0] ?? '';
  // ENOENT means a missing program or a missing working directory. The error of Node does not distinguish them.
  if (error.code === 'ENOENT') return `${program} was not found (or the folder ${cwd})`;
  if (error.code === 'EAGAIN')
    return `${program} could not be started: the limit of processes is reached; raise TasksMax= or ulimit -u`;
  if (error.code === 'EACCES')
    return `${program} could not be started: permission denied (for a file that is not in a system folder: allow.read)`;
  return `${program} could not be started: ${error.message}`;
}

function exitFault(code: number | null, endedBy: string | null, errors: string): string {
  const how = code === null ? `ended by ${endedBy ?? 'a signal'}` : `exit status ${code}`;
  return errors === '' ? how : `${how}: ${errors}`;
}
