// What the parts of the gateway share: the settings of webhooks and agents, what else the daemon gives it, its agents, and the
// numbers that lists show.
import type { Config } from '../config.js';
import type { AgentSessionStore, DeliveryStore, RunStore } from '../core/agents/run-store.js';
import type { Agent, Channel } from '../core/agents/runs.js';
import type { PenaltiesOfKind } from '../core/auth/penalties.js';
import type { Log } from '../core/log.js';
import { addToCount } from '../core/maps.js';
import type { Clock } from '../core/time/clock.js';

export type HookSettings = Config['webhooks'];
/** A secret, and during a change the previous one. Each is in the configuration or in a file. */
export type SecretSettings = Pick<
  HookSettings,
  'secret' | 'secretFile' | 'previousSecret' | 'previousSecretFile'
>;
/** An agent that webhooks may trigger; `signature`: for a sender that signs its requests and sends no token. */
export type WebhookAgentSettings = HookSettings['agents'][string];
export type SignatureSettings = NonNullable<WebhookAgentSettings['signature']>;
export type AgentSettings = Config['agents'][string];
export type ChannelSettings = AgentSettings['channel'];

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
  /** Time for which finished runs are kept, in ms. An operator may change it meanwhile. */
  readonly retentionMs: () => number;
  readonly nodeName: string;
  /** Other daemons take over this daemon's runs after this time without a renewal, in ms. */
  readonly leaseMs: number;
  /** Whether other daemons use the same database. */
  readonly isShared: boolean;
  /** Whether the database may have been written to since the last call. */
  readonly wasWritten: () => boolean;
  /** Penalties of webhook callers, shared with the other nodes. */
  readonly penalties: PenaltiesOfKind;
  readonly now: Clock;
  readonly monotonicNow: Clock;
  readonly log: Log;
}

/** A channel, the maximum number of attempts, and the delay after the first failure in ms. Each further delay is three times as long. */
export interface DeliverySchedule {
  readonly channel: Channel;
  readonly maxTries: number;
  readonly backoffMs: number;
}

export interface BuiltAgent {
  readonly settings: AgentSettings;
  readonly agent: Agent;
  /** null: it has no channel for its replies. */
  readonly schedule: DeliverySchedule | null;
}

export interface AgentContext extends AgentGatewayDeps {
  /** GUID of this daemon, the node of its runs in the database. */
  readonly node: string;
  readonly byName: ReadonlyMap<string, BuiltAgent>;
  /** Agents whose runs only other nodes execute. This daemon stores such runs without a node. */
  readonly otherNodesAgents: readonly string[];
  readonly queueLimit: QueueLimit;
  /** When each agent last got a run or ended one, in ms. */
  readonly lastActive: Map<string, number>;
}

/** What the runner and the intake ask of the keeper, which is created after them. */
export interface RunKeeper {
  /** Resolves when the runs that waited at the start have their places in the queue. */
  readonly adopted: Promise<void>;
  /** Whether no other daemon may have adopted this daemon's runs. */
  isHeld(): boolean;
  /** Call this when a write of a run failed: the write may have taken effect, so this daemon may own runs without knowing them. */
  doubt(): void;
}

type QueueLimit = ReturnType<typeof createQueueLimit>;

/** Limits the number of queued runs, per agent and in total. */
export function createQueueLimit(max: HookSettings['queue']) {
  const byAgent = new Map<string, number>();
  let total = 0;
  const of = (agent: string): number => byAgent.get(agent) ?? 0;
  /** Reserves a place regardless of the limits, for a run that is already stored. */
  const acquire = (agent: string): void => {
    total++;
    addToCount(byAgent, agent, 1);
  };
  return {
    of,
    /** Reserves a place; returns false when the queue is full, in total or for the agent. */
    tryAcquire(agent: string): boolean {
      if (total >= max.total || of(agent) >= max.perAgent) return false;
      acquire(agent);
      return true;
    },
    acquire,
    release(agent: string): void {
      total--;
      addToCount(byAgent, agent, -1);
    },
    /** Number of free places in total. */
    left: (): number => Math.max(0, max.total - total),
  };
}
