// POST /hooks/agent/<name>: requests of senders that sign them and send no bearer token.
import { createHash, randomUUID } from 'node:crypto';
import { type SigningSender, verifySignature } from '../../core/agents/signatures.js';
import {
  chooseSession,
  field,
  type HookAnswer,
  type HookRequest,
  type JsonObject,
  messageFault,
  readJsonObject,
  SIGNED_PATH,
} from '../../core/agents/webhooks.js';
import type { AttemptLimit } from '../../core/auth/attempt-limit.js';
import { DAY_MS } from '../../core/time/clock.js';
import { compileMessageTemplate, type MessageTemplate } from '../../message-template.js';
import type { AgentContext, WebhookAgentSettings } from '../context.js';
import type { WantedRun } from '../intake.js';
import { JSON_FAULTS, mediaFault, refusal } from './checks.js';

interface Sender extends Omit<SigningSender, 'secrets'> {
  readonly agent: string;
  readonly sessionKey: string | null;
  /** null: the body is the message. */
  readonly template: MessageTemplate | null;
}

/**
 * Reads one delivery. The caller has already counted its attempt.
 * @param signing the current secrets of each agent's sender
 */
export function createSignedWebhook(
  { webhooks, retentionMs, now, log }: AgentContext,
  signing: ReadonlyMap<string, readonly string[]>,
  attempts: Pick<AttemptLimit, 'succeeded'>,
) {
  const { maxBodyBytes } = webhooks;
  const senders = new Map(
    Object.entries(webhooks.agents).flatMap(([agent, settings]) => {
      const sender = senderOf(agent, settings);
      return sender ? [[agent, sender] as const] : [];
    }),
  );

  /** Returns null when no sender signs for this path. */
  return (request: HookRequest): Promise<WantedRun | HookAnswer> | null => {
    const [, name = ''] = SIGNED_PATH.exec(request.path) ?? [];
    const sender = senders.get(name);
    return sender === undefined ? null : read(sender, request);
  };

  async function read(sender: Sender, request: HookRequest): Promise<WantedRun | HookAnswer> {
    if (request.method !== 'POST') return refusal(405, 'use POST', { Allow: 'POST' });
    const bytes = await request.readBody(maxBodyBytes);
    if (bytes === null) return refusal(413, `the body is longer than ${maxBodyBytes} bytes`);
    const signer = { ...sender, secrets: signing.get(sender.agent) ?? [] };
    const verified = verifySignature(signer, request.header, bytes, now());
    if (!verified.ok && verified.reason === 'unsigned') return unsigned(request, sender.agent);
    attempts.succeeded(request.source);
    if (!verified.ok) {
      const off = Math.round(verified.offMs / 1000);
      return refusal(
        400,
        `the signed time differs by ${off} s; at most ${sender.toleranceMs / 1000} s are allowed`,
      );
    }
    if (sender.scheme === 'github' && request.header('x-github-event')[0] === 'ping')
      return { status: 200, headers: {}, body: { status: 'ok', queued: false } };
    const fault = mediaFault(request);
    if (fault !== null) return refusal(415, fault);
    const json = readJsonObject(bytes);
    if (!json.ok) return refusal(400, JSON_FAULTS[json.reason]);
    return wantedRun(sender, verified.delivery, bytes, json.object);
  }

  function unsigned({ source }: HookRequest, agent: string): HookAnswer {
    log.warn({ client: source, agent }, 'webhook signature refused');
    return refusal(401, 'a valid signature is required', {
      'WWW-Authenticate': 'Signature realm="Pulsegate"',
    });
  }

  function wantedRun(
    sender: Sender,
    delivery: string | null,
    bytes: Uint8Array,
    object: JsonObject,
  ): WantedRun | HookAnswer {
    const filled = sender.template?.(object, maxBodyBytes);
    if (filled && !filled.ok) return refusal(400, filled.error);
    const message = filled ? filled.message : Buffer.from(bytes).toString();
    const fault = messageFault(message);
    if (fault !== null) return refusal(400, fault);
    const { agent, scheme, sessionKey } = sender;
    const session = chooseSession(sessionKey, null, randomUUID);
    const digest = sha256(bytes);
    const event = field(object, 'id');
    // The id comes from signed content: a copy of a delivery gets the same id, whatever its unsigned headers contain.
    const id = delivery ?? (scheme === 'stripe' && typeof event === 'string' ? event : digest);
    // The space separates this key from the keys of other callers.
    const key = `delivery ${sha256(`${agent}\n${id}`)}`;
    // GitHub signs no time: its deliveries are remembered as long as runs are kept.
    const lifetimeMs = scheme === 'github' ? retentionMs() : Math.max(DAY_MS, 2 * sender.toleranceMs);
    return {
      run: { kind: 'message', agent, message, session, origin: 'webhook', rerunOf: null },
      idempotency: { key, digest, lifetimeMs },
      answer: (runId) => ({ status: 'ok', session, queued: true, runId }),
    };
  }
}

function senderOf(agent: string, { sessionKey, signature }: WebhookAgentSettings): Sender | null {
  if (!signature) return null;
  const { scheme, toleranceMs, message } = signature;
  const template = message === null ? null : compileMessageTemplate(message);
  return { agent, sessionKey, scheme, toleranceMs, template };
}

const sha256 = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex');
