// Operations on agents and runs for the admin API, which checks the permissions.
import { randomUUID } from 'node:crypto';
import type { RunStore } from '../core/agents/run-store.js';
import type { AgentControl, NewRun, QueuedAnswer } from '../core/agents/runs.js';
import { chooseSession, messageFault } from '../core/agents/webhooks.js';
import type { Clock } from '../core/clock.js';
import type { AgentSettings } from './agent-settings.js';
import type { Intake } from './intake.js';
import type { QueueLimit } from './queue-limit.js';
import type { Runner } from './runner.js';

export function createControl(deps: {
  /** The agents that webhooks may trigger. */
  readonly webhooks: Readonly<Record<string, { readonly sessionKey: string | null }>>;
  readonly agents: ReadonlyMap<
    string,
    { readonly settings: Pick<AgentSettings, 'type' | 'idleAfterMs' | 'channel'> }
  >;
  readonly lastActive: ReadonlyMap<string, number>;
  readonly queueLimit: QueueLimit;
  readonly runner: Pick<Runner, 'running' | 'cancel'>;
  readonly intake: Pick<Intake, 'accept'>;
  readonly store: Pick<RunStore, 'get'>;
  readonly now: Clock;
}): AgentControl {
  const fixedKey = (name: string) =>
    (Object.hasOwn(deps.webhooks, name) ? deps.webhooks[name]?.sessionKey : null) ?? null;

  async function queue(run: Omit<NewRun, 'id' | 'acceptedAt'>): Promise<QueuedAnswer> {
    const result = await deps.intake.accept({ run, idempotency: null, answer: () => ({}) });
    if (result.outcome === 'stored') return { ok: true, runId: result.runId, session: run.session };
    return { ok: false, reason: result.outcome === 'stopping' ? 'stopping' : 'full' };
  }

  return {
    agents: () =>
      [...deps.agents].map(([name, { settings }]) => {
        const lastActiveAt = deps.lastActive.get(name) ?? null;
        const running = deps.runner.running(name);
        const isRecent = lastActiveAt !== null && deps.now() - lastActiveAt < settings.idleAfterMs;
        return {
          name,
          type: settings.type,
          state: isRecent || running > 0 ? 'active' : 'idle',
          lastActiveAt,
          channel: settings.channel.type,
          webhook: Object.hasOwn(deps.webhooks, name),
          sessionKey: fixedKey(name),
          queued: deps.queueLimit.of(name),
          running,
        };
      }),

    async send(agent, message, sessionKey, origin) {
      if (!deps.agents.has(agent)) return { ok: false, reason: 'no-agent' };
      if (messageFault(message) !== null) return { ok: false, reason: 'bad-message' };
      const session = chooseSession(fixedKey(agent), sessionKey, randomUUID);
      if (session === null) return { ok: false, reason: 'key-conflict' };
      return queue({ kind: 'message', agent, message, session, origin, rerunOf: null });
    },

    async rerun(id) {
      const run = await deps.store.get(id);
      if (!run) return { ok: false, reason: 'no-run' };
      if (!deps.agents.has(run.agent)) return { ok: false, reason: 'no-agent' };
      const { kind, agent, session, message } = run;
      return queue({ kind, agent, session, message, origin: 'api', rerunOf: id });
    },

    cancel: deps.runner.cancel,
  };
}
