// Creates the agent gateway over a store, with default settings for tests.
import { tmpdir } from 'node:os';
import type {
  AgentGatewayDeps,
  AgentSettings,
  ChannelSettings,
  HookSettings,
  SignatureSettings,
  WebhookAgentSettings,
} from '../../src/agents/context.js';
import { createAgentGateway } from '../../src/agents/gateway.js';
import { Secret } from '../../src/config.js';
import { createPenalties } from '../../src/core/auth/penalties.js';
import type { Log } from '../../src/core/log.js';
import { DAY_MS } from '../../src/core/time/clock.js';
import type { Store } from '../../src/store/store.js';

export const SECRET = 'test-secret-of-more-than-32-characters';

const silent: Log = { debug() {}, info() {}, warn() {}, error() {} };

export const hidden = (text: string): Secret => new Secret(text);

type Loose<Settings> = { [Name in keyof Settings]?: Settings[Name] | undefined };

/** Overrides of `hookSettings`. What an agent or its signature leaves out is null. */
export type LooseHookSettings = Partial<Omit<HookSettings, 'agents'>> & {
  readonly agents?: Readonly<
    Record<
      string,
      Loose<Omit<WebhookAgentSettings, 'signature'>> & {
        readonly signature?: (Loose<SignatureSettings> & Pick<SignatureSettings, 'scheme'>) | null;
      }
    >
  >;
};

/**
 * Settings of enabled webhooks with the token `SECRET`. The limits are those of the schema, or small where that makes tests faster.
 */
export function hookSettings({ agents = {}, ...over }: LooseHookSettings = {}): HookSettings {
  return {
    enabled: true,
    secret: hidden(SECRET),
    secretFile: null,
    previousSecret: null,
    previousSecretFile: null,
    maxBodyBytes: 256 * 1024,
    maxFailuresPerSource: 20,
    failureWindowMs: 60_000,
    concurrency: 4,
    maxAttempts: 3,
    queue: { perAgent: 1000, total: 10_000 },
    history: { messages: 100, maxBytes: 256 * 1024 },
    allowFrom: [],
    retentionMs: DAY_MS,
    ...over,
    agents: Object.fromEntries(
      Object.entries(agents).map(([name, { sessionKey = null, signature }]) => [
        name,
        { sessionKey, signature: signature ? ({ ...UNSIGNED, ...signature } as SignatureSettings) : null },
      ]),
    ),
  };
}

const UNSIGNED = {
  ...{ secret: null, secretFile: null, previousSecret: null, previousSecretFile: null },
  ...{ toleranceMs: 300_000, message: null },
};

/** A `command` agent. Node runs `script` with the parsed JSON in `input`, and `reply(text)` answers. */
export function scriptAgent(script: string, over: Partial<AgentSettings> = {}): AgentSettings {
  const program = `
    const reply = (text) => process.stdout.write(text);
    let text = '';
    process.stdin.on('data', (part) => (text += part)).on('end', () => {
      const input = JSON.parse(text);
      ${script}
    });`;
  return commandAgent([process.execPath, '-e', program], over);
}

export function commandAgent(command: readonly string[], over: Partial<AgentSettings> = {}): AgentSettings {
  // These programs leave their marks in folders of the tests.
  const allow = { read: ['/'], write: [tmpdir()] };
  const limits = { memoryBytes: 4 * 1024 ** 3, processes: 1024, cpuMs: null };
  return { ...common, type: 'command', command, cwd: null, allow, limits, env: {}, ...over } as AgentSettings;
}

export function httpAgent(url: string, over: Partial<AgentSettings> = {}): AgentSettings {
  return { ...common, type: 'http', url, apiKeyFile: null, ...over } as AgentSettings;
}

const none: ChannelSettings = { type: 'none' };
const common = { timeoutMs: 60_000, idleAfterMs: 900_000, maxReplyBytes: 1024 * 1024, channel: none };

/** Creates the gateway. The test starts and stops it. */
export function testHooks(
  store: Store,
  over: Partial<AgentGatewayDeps> = {},
): ReturnType<typeof createAgentGateway> {
  return createAgentGateway({
    webhooks: hookSettings(),
    agents: {},
    dataDir: '.',
    runs: store.runs,
    deliveries: store.deliveries,
    sessions: store.agentSessions,
    mayCall: () => true,
    retentionMs: () => DAY_MS,
    nodeName: 'gate',
    leaseMs: 1000,
    isShared: false,
    wasWritten: store.watchWrites(),
    penalties: createPenalties({ store: null, monotonicNow: Date.now }).of('webhook'),
    now: Date.now,
    monotonicNow: Date.now,
    log: silent,
    ...over,
  });
}
