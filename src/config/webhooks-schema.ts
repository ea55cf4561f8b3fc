// The keys `webhooks` and `agents`: access to the webhooks, the agents, and the channels of their replies.
import { z } from 'zod';
import { isSocketPath, MAX_SOCKET_PATH_BYTES } from '../core/addresses/endpoints.js';
import {
  isSenderSecret,
  SIGNATURE_SCHEMES,
  STANDARD_FORM,
  STANDARD_SECRET,
} from '../core/agents/signatures.js';
import { AGENT_NAME, SESSION_KEY, SESSION_KEY_FORM } from '../core/agents/webhooks.js';
import { parseWhitelist } from '../core/auth/whitelist.js';
import { succeeds } from '../core/errors.js';
import { compileMessageTemplate, MAX_PLACEHOLDERS, MAX_TEMPLATE_CHARS } from '../message-template.js';
import {
  duration,
  flag,
  httpUrl,
  oneOf,
  orNull,
  report,
  secret,
  section,
  size,
  text,
  textThat,
  whole,
} from './fields.js';
import type { Secret } from './units.js';

/** The minimum that the agent webhook specification recommends. */
const MIN_SECRET_CHARS = 32;

const path = () => text('a file path');
const absolutePath = () => text('an absolute path', /^\//);

const socketPath = () =>
  textThat(
    `an absolute path of a Unix socket, at most ${MAX_SOCKET_PATH_BYTES} bytes`,
    (path) => path.startsWith('/') && isSocketPath(path),
  );

/** An agent name, as in requests to /hooks and in logs. */
const agentName = () => text('a name of 1 to 64 letters, digits, dots, dashes and underscores', AGENT_NAME);

function isWhitelistEntry(text: string): boolean {
  const read = parseWhitelist(text);
  return read.ok && read.whitelist.entries.length === 1;
}

const TEMPLATE_FORM =
  `a text with JSONPath in braces, such as "Issue {$.issue.title}": names and indexes only, ` +
  `at most ${MAX_PLACEHOLDERS} of them, ${MAX_TEMPLATE_CHARS} characters`;

const isTemplate = (text: string): boolean => succeeds(() => compileMessageTemplate(text));

/** A secret, and during a change the previous one, each in the configuration or in a file. */
interface Secrets {
  readonly secret: Secret | null;
  readonly secretFile: string | null;
  readonly previousSecret: Secret | null;
  readonly previousSecretFile: string | null;
}

/** Rejects a secret that is also in a file. */
function checkSecrets(secrets: Secrets, context: z.RefinementCtx, where: string): void {
  for (const key of ['secret', 'previousSecret'] as const)
    if (secrets[key] && secrets[`${key}File`])
      report(context, [`${key}File`], `null, because ${where}${key} is also set`);
}

const senderSecret = () => orNull(secret('the secret that the sender signs with, 1 to 4096 characters'));

/** Deliveries of a sender that signs them instead of sending the token. */
const signature = section({
  scheme: oneOf(...SIGNATURE_SCHEMES),
  secret: senderSecret(),
  secretFile: orNull(path()),
  previousSecret: senderSecret(),
  previousSecretFile: orNull(path()),
  tolerance: duration({ min: '10s', max: '24h' }).prefault('5m'),
  message: orNull(textThat(TEMPLATE_FORM, isTemplate)),
}).superRefine(({ scheme, ...secrets }, context) => {
  checkSecrets(secrets, context, '');
  if (!secrets.secret && !secrets.secretFile)
    report(context, ['secret'], 'the secret that the sender signs with (or set secretFile)');
  for (const key of ['secret', 'previousSecret'] as const) {
    const given = secrets[key]?.reveal();
    if (given !== undefined && !isSenderSecret(scheme, given))
      report(context, [key], `${STANDARD_FORM}, because scheme is standard`);
  }
});

export const webhooksSchema = section({
  enabled: flag().default(false),
  secret: orNull(secret()),
  secretFile: orNull(path()),
  previousSecret: orNull(secret()),
  previousSecretFile: orNull(path()),
  allowFrom: z
    .array(
      textThat('an address, a wildcard such as 10.0.* or a network such as 10.0.0.0/8', isWhitelistEntry),
    )
    .default([]),
  maxBody: size({ min: '1KiB', max: '10MiB' }).prefault('256KiB'),
  maxFailuresPerSource: whole(1, 1_000_000).default(20),
  failureWindow: duration({ min: '1s', max: '24h' }).prefault('1m'),
  concurrency: whole(1, 1000).default(4),
  maxAttempts: whole(1, 100).default(3),
  queue: section({
    perAgent: whole(1, 1_000_000).default(1000),
    total: whole(1, 1_000_000).default(10_000),
  }).prefault({}),
  history: section({
    messages: whole(0, 10_000).default(100),
    maxBytes: size({ min: '1KiB', max: '64MiB' }).prefault('256KiB'),
  }).prefault({}),
  retention: duration({ min: '1h', max: '3650d' }).prefault('30d'),
  agents: z
    .record(
      agentName(),
      section({
        sessionKey: orNull(text(SESSION_KEY_FORM, SESSION_KEY)),
        signature: orNull(signature),
      }),
    )
    .default({}),
}).superRefine((webhooks, context) => {
  checkSecrets(webhooks, context, 'webhooks.');
  const allowed =
    'a text of at least 32 random characters (or set webhooks.secretFile), because webhooks.enabled is true';
  if (webhooks.enabled && !webhooks.secret && !webhooks.secretFile) report(context, ['secret'], allowed);
});

/** A signing secret in the format of Standard Webhooks. */
export const signingSecret = () => secret(STANDARD_FORM, STANDARD_SECRET);

const channel = () =>
  z
    .discriminatedUnion('type', [
      section({ type: z.literal('none') }),
      section({ type: z.literal('log') }),
      section({ type: z.literal('file'), path: path() }),
      section({
        type: z.literal('http'),
        url: httpUrl(),
        secret: orNull(signingSecret()),
        timeout: duration({ min: '100ms', max: '1h' }).prefault('15s'),
        maxTries: whole(1, 100).default(10),
        backoff: duration({ min: '10ms', max: '1h' }).prefault('1s'),
      }),
    ])
    .default({ type: 'none' });

const variableName = () =>
  text(
    'the name of a variable that does not start with PULSEGATE_',
    /^(?!PULSEGATE_)[A-Za-z_][A-Za-z0-9_]{0,127}$/,
  );

/** The nodes that run an agent which needs something of their machine; null: all nodes. */
const nodes = () => orNull(z.array(text('the name of a node')).min(1));

/** The keys of every agent type. */
const common = {
  timeout: duration({ min: '100ms', max: '24h' }).prefault('2m'),
  idleAfter: duration({ min: '1s', max: '24d' }).prefault('15m'),
  maxReply: size({ min: '1KiB', max: '64MiB' }).prefault('1MiB'),
  channel: channel(),
};

const agent = z.discriminatedUnion('type', [
  section({
    type: z.literal('command'),
    command: z.array(text('a program or an argument, as text')).min(1),
    cwd: orNull(text('a folder')),
    allow: orNull(
      section({ read: z.array(absolutePath()).default([]), write: z.array(absolutePath()).default([]) }),
    ),
    limits: section({
      memory: size({ min: '16MiB', max: '1TiB' }).prefault('4GiB'),
      processes: whole(1, 1_000_000).default(1024),
      cpu: orNull(duration({ min: '1s', max: '24d' })),
    }).prefault({}),
    nodes: nodes(),
    env: z.record(variableName(), secret('the value of a variable, 1 to 4096 characters')).default({}),
    ...common,
  }),
  section({ type: z.literal('socket'), path: socketPath(), nodes: nodes(), ...common }),
  section({
    type: z.literal('http'),
    url: httpUrl(),
    apiKeyFile: orNull(path()),
    ...common,
  }),
  section({
    type: z.literal('openai'),
    baseUrl: httpUrl(),
    model: text('the name of a model'),
    apiKeyFile: orNull(path()),
    system: orNull(text('a text of 1 to 4096 characters')),
    maxTokens: whole(1, 10_000_000).default(1024),
    historyMessages: whole(0, 10_000).default(40),
    historySize: size({ min: '1B', max: '64MiB' }).prefault('64KiB'),
    ...common,
  }),
]);

export const agentsSchema = z.record(agentName(), agent).default({});

export function checkWebhookAgents(
  config: { webhooks: { agents: Record<string, unknown> }; agents: Record<string, unknown> },
  context: z.RefinementCtx,
): void {
  for (const name of Object.keys(config.webhooks.agents)) {
    if (Object.hasOwn(config.agents, name)) continue;
    const known = Object.keys(config.agents).join(', ') || 'none yet';
    report(context, ['webhooks', 'agents', name], `the name of an agent under agents (${known})`);
  }
}

/** One warning for each setting that is valid but insecure, or without effect. */
export function webhookWarnings(
  webhooks: z.output<typeof webhooksSchema>,
  agents: z.output<typeof agentsSchema>,
): string[] {
  const short = (['secret', 'previousSecret'] as const)
    .filter((key) => (webhooks[key]?.reveal().length ?? MIN_SECRET_CHARS) < MIN_SECRET_CHARS)
    .map((key) => `webhooks.${key} is shorter than ${MIN_SECRET_CHARS} characters and can be guessed`);
  if (!webhooks.enabled || Object.keys(webhooks.agents).length > 0) return short;
  const [name = 'NAME'] = Object.keys(agents);
  const text = 'webhooks.enabled is true, but webhooks.agents is empty: no request can trigger an agent';
  return [...short, `${text}; add webhooks: { agents: { ${name}: {} } }`];
}
