// The agent gateway: webhooks, run queue and delivery as one object, which the daemon starts and stops.
import { randomUUID } from 'node:crypto';
import type { AgentSessionStore, DeliveryStore, RunStore } from '../core/agents/run-store.js';
import type { AgentControl } from '../core/agents/runs.js';
import type { HandleHook } from '../core/agents/webhooks.js';
import { createAttemptLimit } from '../core/auth/attempt-limit.js';
import type { PenaltiesOfKind } from '../core/auth/penalties.js';
import type { Clock } from '../core/clock.js';
import { createOrderedIds } from '../core/ids.js';
import type { Log } from '../core/log.js';
import { everyStep } from '../core/turns.js';
import { buildAgents } from './agent-list.js';
import type { AgentSettings, HookSettings } from './agent-settings.js';
import { createControl } from './control.js';
import { createDeliverer } from './deliverer.js';
import { createTokenCheck } from './hook-checks.js';
import { createIntake } from './intake.js';
import { createKeeper } from './keeper.js';
import { signalGroup } from './processes.js';
import { createQueueLimit } from './queue-limit.js';
import { createRunner } from './runner.js';
import { signingSecrets, webhookSecrets } from './secrets.js';
import { createWebhook } from './webhook.js';

export interface AgentGatewayDeps {
  readonly webhooks: HookSettings;
  readonly agents: Readonly<Record<string, AgentSettings>>;
  /** Base folder for relative paths of `file` channels. */
  readonly dataDir: string;
  readonly runs: RunStore;
  readonly deliveries: DeliveryStore;
  readonly sessions: AgentSessionStore;
  /** Whether a source address may call /hooks (`webhooks.allowFrom`). */
  readonly mayCall: (source: string) => boolean;
  /** Time for which finished runs are kept. */
  readonly retentionMs: () => number;
  /** The node name of this daemon. */
  readonly nodeName: string;
  /** Other daemons take over this daemon's runs after this time without a renewal, in ms. */
  readonly leaseMs: number;
  /** Whether other daemons use the same database. */
  readonly isShared: boolean;
  /** Penalties of webhook callers, shared with the other nodes. */
  readonly penalties: PenaltiesOfKind;
  readonly now: Clock;
  readonly monotonicNow: Clock;
  readonly log: Log;
}

export interface AgentGateway {
  /** Handles a request to /hooks/…, also while webhooks are disabled. */
  readonly handle: HandleHook;
  /** Operations on agents and runs, for /api/v1. */
  readonly control: AgentControl;
  /** Begins to adopt stored runs, and to execute them once all are adopted. */
  start(): Promise<void>;
  /**
   * Refuses new requests (503), and waits up to `graceMs` for runs and deliveries in progress. Then it interrupts the remaining
   * ones, which continue after the next start. `stop` takes up to 5 s longer than `graceMs` when a command ignores SIGTERM.
   */
  stop(graceMs: number): Promise<void>;
  /** After `stop`: releases the runs of this daemon in the database. Rejects on failure; the next start then adopts the runs. */
  release(): Promise<void>;
  /** Interrupts the runs for which `stop` is waiting. */
  interrupt(): void;
  /** Reads webhook secrets and key files again, and returns a function that puts them into use. @throws StartError */
  prepareReload(webhooks: HookSettings): () => void;
}

const MAX_SOURCES = 10_000;
const MAX_CONCURRENT_DELIVERIES = 8;

/** @throws StartError `secret-missing`, `secret-file` */
export function createAgentGateway(deps: AgentGatewayDeps): AgentGateway {
  const { webhooks, now, log } = deps;
  const node = randomUUID();
  const newId = createOrderedIds(now);
  const token = createTokenCheck(webhookSecrets(webhooks, log));
  const signing = new Map(signingSecrets(webhooks));
  const agents = buildAgents(deps);
  const queueLimit = createQueueLimit(webhooks.queue);
  const lastActive = new Map<string, number>();
  const otherNodesAgents = Object.entries(deps.agents).flatMap(([name, agent]) =>
    'nodes' in agent && agent.nodes && !agent.nodes.includes(deps.nodeName) ? [name] : [],
  );
  const touch = (agent: string) => lastActive.set(agent, now());

  const schedules = new Map(
    [...agents.byName].flatMap(([name, { schedule }]) => (schedule ? [[name, schedule]] : [])),
  );
  const deliverer = createDeliverer({
    store: deps.deliveries,
    node,
    schedules,
    concurrency: MAX_CONCURRENT_DELIVERIES,
    now,
    random: Math.random,
    newId,
    log,
  });
  const runner = createRunner({
    store: deps.runs,
    node,
    isLeaseHeld: () => keeper.isHeld(),
    onDoubt: () => keeper.doubt(),
    queueLimit,
    agents: new Map(
      [...agents.byName].map(([name, { agent, settings, schedule }]) => [
        name,
        { agent, timeoutMs: settings.timeoutMs, hasChannel: schedule !== null },
      ]),
    ),
    concurrency: webhooks.concurrency,
    history: { maxMessages: webhooks.history.messages, maxBytes: webhooks.history.maxBytes },
    now,
    log,
    onFinished(agent, hasDelivery) {
      touch(agent);
      if (hasDelivery) deliverer.wake();
    },
  });
  const intake = createIntake({
    store: deps.runs,
    node,
    otherNodesAgents,
    queueLimit,
    perAgent: webhooks.queue.perAgent,
    adopted: () => keeper.adopted,
    now,
    onDoubt: () => keeper.doubt(),
    onStored(run) {
      touch(run.agent);
      runner.enqueue(run);
    },
  });
  const keeper = createKeeper({
    store: deps.runs,
    sessions: deps.sessions,
    node,
    queueLimit,
    maxAttempts: webhooks.maxAttempts,
    leaseMs: deps.leaseMs,
    isShared: deps.isShared,
    otherNodesAgents,
    retentionMs: deps.retentionMs,
    now,
    log,
    known: runner.known,
    onAdopted(run) {
      touch(run.agent);
      runner.enqueue(run);
    },
    onLost: runner.suspend,
    onRegained: runner.resume,
    async onTick() {
      runner.retryBlocked();
      deliverer.wake();
      await runner.cancelRequested();
    },
  });

  let isStopped = false;
  const killGroups = () => {
    for (const group of agents.groups) signalGroup(group, 'SIGKILL');
  };

  return {
    handle: createWebhook({
      isEnabled: webhooks.enabled,
      mayCall: deps.mayCall,
      attempts: createAttemptLimit({
        maxFailures: webhooks.maxFailuresPerSource,
        windowMs: webhooks.failureWindowMs,
        maxSources: MAX_SOURCES,
        now: deps.monotonicNow,
        penalties: deps.penalties,
      }),
      token,
      maxBodyBytes: webhooks.maxBodyBytes,
      agents: webhooks.agents,
      signingSecrets: (agent) => signing.get(agent) ?? [],
      retentionMs: deps.retentionMs,
      now,
      intake,
      newId: randomUUID,
      log,
    }),

    control: createControl({
      webhooks: webhooks.agents,
      agents: agents.byName,
      lastActive,
      queueLimit,
      runner,
      intake,
      store: deps.runs,
      now,
    }),

    async start() {
      // When the daemon exits immediately, after a second signal or an error, it kills its commands.
      process.once('exit', killGroups);
      for (const name of agents.byName.keys()) {
        const at = await deps.runs.lastActive(name);
        if (at !== null) lastActive.set(name, at);
      }
      await keeper.start();
      // Not earlier: a run could start although an older one of its session waits.
      void keeper.adopted.then(runner.start);
      deliverer.wake();
    },

    interrupt: runner.interrupt,

    async stop(graceMs) {
      if (isStopped) return;
      isStopped = true;
      const until = performance.now() + graceMs;
      await everyStep(
        intake.stop,
        () => runner.stop(graceMs),
        () => deliverer.stop(Math.max(0, until - performance.now())),
        () => void process.removeListener('exit', killGroups),
      );
    },

    release: keeper.stop,

    prepareReload(settings) {
      // A reload cannot enable or disable webhooks, nor add or remove a signature.
      const { enabled } = webhooks;
      const tokens = webhookSecrets({ ...settings, enabled }, log);
      const next = signingSecrets({ ...settings, enabled });
      const reloadKeys = agents.prepareKeys();
      return () => {
        reloadKeys();
        token.replace(tokens);
        for (const [agent, secrets] of next) signing.set(agent, secrets);
      };
    },
  };
}
