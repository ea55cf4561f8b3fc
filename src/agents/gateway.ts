// The agent gateway: webhooks, run queue and delivery as one object, which the daemon starts and stops.
import { randomUUID } from 'node:crypto';
import { everyStep } from '../core/time/turns.js';
import { buildAgents } from './agent-list.js';
import { createDeliverer } from './channels/outbox.js';
import type { AgentContext, AgentGatewayDeps, HookSettings, RunKeeper } from './context.js';
import { createQueueLimit } from './context.js';
import { createControl } from './control.js';
import { createTokenCheck } from './hooks/checks.js';
import { createWebhook } from './hooks/webhook.js';
import { createIntake } from './intake.js';
import { createKeeper } from './keeper.js';
import { signalGroup } from './processes.js';
import { createRunner } from './runner.js';
import { signingSecrets, webhookSecrets } from './secrets.js';

/** @throws StartError `secret-missing`, `secret-file` */
export function createAgentGateway(deps: AgentGatewayDeps) {
  const { webhooks, runs, log } = deps;
  const token = createTokenCheck(webhookSecrets(webhooks, log));
  const signing = new Map(signingSecrets(webhooks));
  const { byName, groups, prepareKeys } = buildAgents(deps);
  const context: AgentContext = {
    ...deps,
    node: randomUUID(),
    byName,
    queueLimit: createQueueLimit(webhooks.queue),
    lastActive: new Map(),
    otherNodesAgents: Object.entries(deps.agents).flatMap(([name, agent]) =>
      'nodes' in agent && agent.nodes && !agent.nodes.includes(deps.nodeName) ? [name] : [],
    ),
  };
  const ofKeeper: RunKeeper = {
    get adopted() {
      return keeper.adopted;
    },
    isHeld: () => keeper.isHeld(),
    doubt: () => keeper.doubt(),
  };
  const deliverer = createDeliverer(context);
  const runner = createRunner(context, ofKeeper, deliverer);
  const intake = createIntake(context, ofKeeper, runner);
  const keeper = createKeeper(context, runner, deliverer);

  let isStopped = false;
  const killGroups = () => {
    for (const group of groups) signalGroup(group, 'SIGKILL');
  };

  return {
    /** Handles a request to /hooks/…, also while webhooks are disabled. */
    handle: createWebhook(context, token, signing, intake),
    /** Operations on agents and runs, for /api/v1. */
    control: createControl(context, runner, intake),

    /** Begins to adopt stored runs, and to execute them once all are adopted. */
    async start(): Promise<void> {
      // When the daemon exits immediately, after a second signal or an error, it kills its commands.
      process.once('exit', killGroups);
      for (const name of byName.keys()) {
        const at = await runs.lastActive(name);
        if (at !== null) context.lastActive.set(name, at);
      }
      await keeper.start();
      // Not earlier: a run could start although an older one of its session waits.
      void keeper.adopted.then(runner.start);
      deliverer.wake();
    },

    interrupt: runner.interrupt,

    /**
     * Refuses new requests (503), and waits up to `graceMs` for runs and deliveries in progress. Then it interrupts the remaining
     * ones, which continue after the next start. Takes up to 5 s longer than `graceMs` when a command ignores SIGTERM.
     */
    async stop(graceMs: number): Promise<void> {
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

    /** After `stop`: releases the runs of this daemon in the database. Rejects on failure; the next start then adopts the runs. */
    release: keeper.stop,

    /** Reads webhook secrets and key files again, and returns a function that puts them into use. @throws StartError */
    prepareReload(settings: HookSettings): () => void {
      // A reload cannot enable or disable webhooks, nor add or remove a signature.
      const { enabled } = webhooks;
      const tokens = webhookSecrets({ ...settings, enabled }, log);
      const next = signingSecrets({ ...settings, enabled });
      const reloadKeys = prepareKeys();
      return () => {
        reloadKeys();
        token.replace(tokens);
        for (const [agent, secrets] of next) signing.set(agent, secrets);
      };
    },
  };
}
