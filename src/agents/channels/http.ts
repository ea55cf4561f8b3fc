// The `http` channel: a POST signed according to Standard Webhooks (https://www.standardwebhooks.com).
import { createHmac } from 'node:crypto';
import type { Channel, DeliveryOutcome } from '../../core/agents/runs.js';
import type { Clock } from '../../core/time/clock.js';
import { callHttp, excerpt, type HttpResult, type MayConnect, retryAfterMs } from '../http-call.js';

interface HttpChannelOptions {
  readonly url: string;
  /** `whsec_` and base64; null: deliveries have no signature. */
  readonly secret: string | null;
  /** Maximum duration of an attempt, in ms. */
  readonly timeoutMs: number;
  /** Whether an address may be connected to. Default: every one. */
  readonly mayConnect?: MayConnect | undefined;
  readonly now: Clock;
}

/** Posts a JSON text. `id` is the same at every attempt, so that a receiver can detect repeats. Never rejects. */
type SignedPost = (id: string, body: string, signal: AbortSignal) => Promise<DeliveryOutcome>;

// Only the status matters. The beginning of the text explains a failure.
const MAX_ANSWER_BYTES = 64 * 1024;

export function createHttpChannel(options: HttpChannelOptions): Channel {
  const post = createSignedPost(options);
  return { type: 'http', deliver: (reply, signal) => post(reply.runId, JSON.stringify(reply), signal) };
}

export function createSignedPost(options: HttpChannelOptions): SignedPost {
  const key = options.secret === null ? null : signingKey(options.secret);
  return async (id, body, signal) => {
    const result = await callHttp({
      method: 'POST',
      url: options.url,
      headers: { 'content-type': 'application/json', ...signed(key, id, body, options.now()) },
      body,
      maxBytes: MAX_ANSWER_BYTES,
      signal,
      timeoutMs: options.timeoutMs,
      mayConnect: options.mayConnect,
    });
    return outcomeOf(result, options.now());
  };
}

/** The three headers of the scheme. */
function signed(key: Buffer | null, id: string, body: string, now: number): Record<string, string> {
  const timestamp = String(Math.floor(now / 1000));
  const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp };
  if (key === null) return headers;
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { ...headers, 'webhook-signature': `v1,${signature}` };
}

/** Returns the bytes of a `whsec_…` secret. */
const signingKey = (secret: string): Buffer => Buffer.from(secret.replace(/^whsec_/, ''), 'base64');

function outcomeOf(result: HttpResult, now: number): DeliveryOutcome {
  if (!result.ok) return retryLater(result.detail);
  const { status, headers, body } = result;
  if (status >= 200 && status <= 299) return { ok: true, detail: `HTTP ${status}` };
  const text = excerpt(body);
  const detail = `HTTP ${status}${text === '' ? '' : `: ${text}`}`;
  // 410: by Standard Webhooks, the receiver wants no more deliveries.
  if (status === 410) return { ok: false, detail, again: false };
  const afterMs = retryAfterMs(headers, now);
  return { ...retryLater(detail), ...(afterMs === null ? {} : { afterMs }) };
}

function retryLater(detail: string): DeliveryOutcome & { ok: false } {
  return { ok: false, detail, again: true };
}
