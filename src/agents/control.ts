// Operations on agents and runs for the admin API, which checks the permissions.
import { randomUUID } from 'node:crypto';
import type { AgentControl, NewRun, QueuedAnswer } from '../core/agents/runs.js';
import { chooseSession, messageFault } from '../core/agents/webhooks.js';
import type { RequestKey } from '../core/audit/audit.js';
import type { AgentContext, BuiltAgent } from './context.js';
import type { Intake } from './intake.js';
import type { Runner } from './runner.js';

type ControlContext = Pick<AgentContext, 'webhooks' | 'lastActive' | 'queueLimit' | 'runs' | 'now'> & {
  readonly byName: ReadonlyMap<string, Pick<BuiltAgent, 'settings'>>;
};

export function createControl(
  { webhooks, byName, lastActive, queueLimit, runs, now }: ControlContext,
  runner: Pick<Runner, 'running' | 'cancel'>,
  intake: Pick<Intake, 'accept'>,
): AgentControl {
  const isWebhook = (name: string) => Object.hasOwn(webhooks.agents, name);
  const fixedKey = (name: string) => (isWebhook(name) ? webhooks.agents[name]?.sessionKey : null) ?? null;

  async function queue(
    run: Omit<NewRun, 'id' | 'acceptedAt'>,
    requestKey: RequestKey | undefined,
  ): Promise<QueuedAnswer> {
    const idempotency = requestKey
      ? {
          key: requestKey.key,
          digest: requestKey.digest,
          stored: (runId: string) => requestKey.pending(runId, { runId, session: run.session }),
        }
      : null;
    const result = await intake.accept({ run, idempotency, answer: () => ({}) });
    if (result.outcome === 'stored') return { ok: true, runId: result.runId, session: run.session };
    return { ok: false, reason: result.outcome === 'stopping' ? 'stopping' : 'full' };
  }

  return {
    agents: () =>
      [...byName].map(([name, { settings }]) => {
        const lastActiveAt = lastActive.get(name) ?? null;
        const running = runner.running(name);
        const isRecent = lastActiveAt !== null && now() - lastActiveAt < settings.idleAfterMs;
        return {
          name,
          type: settings.type,
          state: isRecent || running > 0 ? 'active' : 'idle',
          lastActiveAt,
          channel: settings.channel.type,
          webhook: isWebhook(name),
          sessionKey: fixedKey(name),
          queued: queueLimit.of(name),
          running,
        };
      }),

    async send(agent, message, sessionKey, origin, requestKey) {
      if (!byName.has(agent)) return { ok: false, reason: 'no-agent' };
      if (messageFault(message) !== null) return { ok: false, reason: 'bad-message' };
      const session = chooseSession(fixedKey(agent), sessionKey, randomUUID);
      if (session === null) return { ok: false, reason: 'key-conflict' };
      return queue({ kind: 'message', agent, message, session, origin, rerunOf: null }, requestKey);
    },

    async rerun(id, requestKey) {
      const run = await runs.get(id);
      if (!run) return { ok: false, reason: 'no-run' };
      if (!byName.has(run.agent)) return { ok: false, reason: 'no-agent' };
      const { kind, agent, session, message } = run;
      return queue({ kind, agent, session, message, origin: 'api', rerunOf: id }, requestKey);
    },

    cancel: runner.cancel,
  };
}
