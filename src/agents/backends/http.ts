// The `http` agent: sends the input as a JSON POST. The answer is `{"reply": "…"}` or plain text.
import type { Agent, AgentOutput } from '../../core/agents/runs.js';
import type { Clock } from '../../core/clock.js';
import { callHttp, excerpt, type HttpCall, type HttpResult, retryAfterMs } from '../http-call.js';
import { callUntilStarted } from './reply.js';

export function createHttpAgent(options: {
  readonly url: string;
  /** Sent as `Authorization: Bearer`; null: no key. Read at every run, because a reload may change it. */
  readonly apiKey: () => string | null;
  readonly maxReplyBytes: number;
  readonly now: Clock;
}): Agent {
  return {
    async run(input, signal) {
      const result = await callWithRetries(
        {
          method: 'POST',
          url: options.url,
          headers: {
            'content-type': 'application/json',
            accept: 'application/json, text/plain',
            // The server can distinguish a repeated attempt of a run from a new run.
            'idempotency-key': input.runId,
            ...bearer(options.apiKey()),
          },
          body: JSON.stringify(input),
          maxBytes: options.maxReplyBytes,
          signal,
        },
        options.now,
      );
      if (!result.ok) return { ok: false, error: result.detail };
      return readReply(result);
    },
  };
}

function readReply({ status, headers, body }: Extract<HttpResult, { ok: true }>): AgentOutput {
  if (status < 200 || status > 299) return { ok: false, error: statusFault(status, body) };
  const text = body.toString('utf8').replaceAll('\0', '\uFFFD');
  if (!/^application\/(?:[\w.-]+\+)?json\b/i.test(headers['content-type'] ?? ''))
    return { ok: true, reply: text };
  const reply = replyOf(text);
  if (reply !== null) return { ok: true, reply };
  return { ok: false, error: `the answer is JSON without a "reply" text: ${excerpt(body)}` };
}

function replyOf(text: string): string | null {
  // An agent without a reply (after a wake, for example) may answer with an empty body.
  if (text.trim() === '') return '';
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || !('reply' in value)) return null;
    if (value.reply === null) return '';
    return typeof value.reply === 'string' ? value.reply.replaceAll('\0', '\uFFFD') : null;
  } catch {
    return null;
  }
}

/** Returns the error text of a refused request. */
export function statusFault(status: number, body: Buffer): string {
  const text = excerpt(body);
  const meaning = status >= 300 && status <= 399 ? ' (redirects are not followed)' : '';
  return `HTTP ${status}${meaning}${text === '' ? '' : `: ${text}`}`;
}

export function bearer(key: string | null): Record<string, string> {
  return key === null ? {} : { authorization: `Bearer ${key}` };
}

/**
 * Sends the request again only when the run cannot have started: the connection was refused, or the server answered 429 or 503 with
 * Retry-After.
 */
export function callWithRetries(call: HttpCall, now: Clock): Promise<HttpResult> {
  return callUntilStarted(
    () => callHttp(call),
    (result) => {
      if (!result.ok) return !result.isSent;
      if (result.status !== 429 && result.status !== 503) return false;
      return retryAfterMs(result.headers, now()) ?? false;
    },
    call.signal,
  );
}
