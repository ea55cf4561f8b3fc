// Executes one claimed run: calls its agent within the time limit, and stores the result.
import { setTimeout as pause } from 'node:timers/promises';
import type { EndedRun, RunEnd } from '../core/agents/run-store.js';
import type { Agent, AgentOutput, Run, RunResult } from '../core/agents/runs.js';
import { shouldDeliver } from '../core/agents/runs.js';
import { addToCount } from '../core/maps.js';
import { createBatches } from './batches.js';
import type { AgentContext } from './context.js';

/** Why a run is aborted: the `reason` of its signal. */
export type Abort = 'timeout' | 'cancelled' | 'shutdown';

/** Delay before a failed write is retried, in ms. The result of a run must not get lost. */
const WRITE_RETRY_MS = 1000;

type History = Parameters<Agent['run']>[0]['history'];

/**
 * @param onFinished called after the end of a run is stored
 * @param isStopping whether a failed write is not retried
 */
export function createExecution(
  { runs, node, byName, webhooks, log, now }: AgentContext,
  onFinished: (agent: string, hasDelivery: boolean) => void,
  isStopping: () => boolean,
) {
  const { messages: maxMessages, maxBytes } = webhooks.history;
  const ends = createBatches((items: readonly EndedRun[]) =>
    runs.finish(items, node, { maxMessages, maxBytes }),
  );
  const runningByAgent = new Map<string, number>();

  /** Resolves when the run has ended and its end is stored. A run aborted by `shutdown` stays `running` in the store. */
  async function execute(run: Run, history: History, controller: AbortController): Promise<void> {
    log.debug({ run: run.id, agent: run.agent, message: run.message }, 'run started');
    addToCount(runningByAgent, run.agent, 1);
    try {
      const output = await callAgent(run, history, controller);
      const why = controller.signal.aborted ? (controller.signal.reason as Abort) : null;
      // An interrupted run stays `running` in the store. The daemon that adopts the run tries it again.
      if (why === 'shutdown') return;
      const target = byName.get(run.agent);
      const result = resultOf(output, why, target?.settings.timeoutMs);
      const deliver = shouldDeliver(run.kind, result, Boolean(target?.schedule));
      await finish(run, { ...result, finishedAt: now(), deliver });
    } finally {
      addToCount(runningByAgent, run.agent, -1);
    }
  }

  async function callAgent(run: Run, history: History, controller: AbortController): Promise<AgentOutput> {
    const target = byName.get(run.agent);
    if (!target) return { ok: false, error: `the agent ${run.agent} is no longer configured` };
    const { id: runId, kind, agent, session, message, attempt } = run;
    const timer = setTimeout(() => controller.abort('timeout' satisfies Abort), target.settings.timeoutMs);
    try {
      return await target.agent.run(
        { kind, runId, agent, session, message, history, attempt },
        controller.signal,
      );
    } catch (err) {
      log.error({ err, run: runId, agent }, 'agent threw an exception');
      return { ok: false, error: err instanceof Error ? err.message : String(err) };
    } finally {
      clearTimeout(timer);
    }
  }

  async function finish(run: Run, end: RunEnd): Promise<void> {
    if (!(await stored(run, end))) return;
    log.info(
      {
        run: run.id,
        kind: run.kind,
        agent: run.agent,
        session: run.session,
        status: end.status,
        attempt: run.attempt,
        waitedMs: (run.startedAt ?? end.finishedAt) - run.acceptedAt,
        tookMs: end.finishedAt - (run.startedAt ?? end.finishedAt),
        ...(end.error === null ? {} : { error: withoutQuotation(end.error) }),
      },
      'run finished',
    );
    if (end.error !== null) log.debug({ run: run.id, agent: run.agent, error: end.error }, 'run failed');
    onFinished(run.agent, end.deliver);
  }

  /** Stores the end of a run, and retries while the database fails. Returns false when the run no longer belongs to this daemon. */
  async function stored(run: Run, end: RunEnd): Promise<boolean> {
    for (;;) {
      try {
        return await ends.add({ id: run.id, end });
      } catch (err) {
        log.error({ err, run: run.id }, 'storing run result failed');
        if (isStopping()) return false;
        await pause(WRITE_RETRY_MS);
      }
    }
  }

  return { execute, running: (agent: string): number => runningByAgent.get(agent) ?? 0 };
}

/** Returns the result of a run from the agent's output and the reason of an abort; null: it was not aborted. */
function resultOf(output: AgentOutput, why: Abort | null, timeoutMs: number | undefined): RunResult {
  // An abort comes first, because a program may print something and exit with 0 after SIGTERM.
  if (why === 'timeout') return { status: 'timeout', reply: null, error: `no reply within ${timeoutMs} ms` };
  if (why === 'cancelled') return { status: 'cancelled', reply: null, error: null };
  if (output.ok) return { status: 'succeeded', reply: output.reply, error: null };
  return { status: 'failed', reply: null, error: output.error };
}

/** The text after the colon comes from an agent or server and may quote the message. Log it only at the debug level. */
const withoutQuotation = (error: string): string => error.split(':', 1)[0] ?? '';
