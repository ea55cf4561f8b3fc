// Agents behind HTTP servers: `http`, and `openai`, any server with the chat-completions API.
import type { Agent, AgentInput, AgentOutput, HistoryEntry } from '../../core/agents/runs.js';
import { parseJson } from '../../core/text.js';
import type { Clock } from '../../core/time/clock.js';
import type { AgentSettings } from '../context.js';
import { callHttp, excerpt, type HttpCall, type HttpResult, retryAfterMs } from '../http-call.js';
import { callUntilStarted, failed, tooLong } from './reply.js';

type HttpOptions<Type> = Omit<
  Extract<AgentSettings, { type: Type }>,
  'type' | 'apiKeyFile' | 'timeoutMs' | 'idleAfterMs' | 'channel'
> & {
  /** Sent as `Authorization: Bearer`; null: no key. Read at every run, because a reload may change it. */
  readonly apiKey: () => string | null;
  readonly now: Clock;
};

/** Sends the input as a JSON POST. The answer is `{"reply": "…"}` or plain text. */
export function createHttpAgent(options: HttpOptions<'http'>): Agent {
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
      return result.ok ? readReply(result) : failed(result.detail);
    },
  };
}

function readReply({ status, headers, body }: Extract<HttpResult, { ok: true }>): AgentOutput {
  if (status < 200 || status > 299) return failed(statusFault(status, body));
  const text = body.toString('utf8').replaceAll('\0', '\uFFFD');
  if (!/^application\/(?:[\w.-]+\+)?json\b/i.test(headers['content-type'] ?? ''))
    return { ok: true, reply: text };
  const reply = replyOf(text);
  if (reply !== null) return { ok: true, reply };
  return failed(`the answer is JSON without a "reply" text: ${excerpt(body)}`);
}

function replyOf(text: string): string | null {
  // An agent without a reply (after a wake, for example) may answer with an empty body.
  if (text.trim() === '') return '';
  const value = parseJson(text);
  if (typeof value !== 'object' || value === null || !('reply' in value)) return null;
  if (value.reply === null) return '';
  return typeof value.reply === 'string' ? value.reply.replaceAll('\0', '\uFFFD') : null;
}

/** Returns the error text of a refused request. */
function statusFault(status: number, body: Buffer): string {
  const text = excerpt(body);
  const meaning = status >= 300 && status <= 399 ? ' (redirects are not followed)' : '';
  return `HTTP ${status}${meaning}${text === '' ? '' : `: ${text}`}`;
}

const bearer = (key: string | null): Record<string, string> =>
  key === null ? {} : { authorization: `Bearer ${key}` };

/**
 * Sends the request again only when the run cannot have started: the connection was refused, or the server answered 429 or 503 with
 * Retry-After.
 */
function callWithRetries(call: HttpCall, now: Clock): Promise<HttpResult> {
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

export type OpenAiOptions = HttpOptions<'openai'>;

// A response is JSON around the reply. Escapes may make the reply several times as long.
const ENVELOPE_FACTOR = 6;

/** Each request contains the session's history. */
export function createOpenAiAgent(options: OpenAiOptions): Agent {
  const base = options.baseUrl.replace(/\/+$/, '');
  const call = (
    method: 'GET' | 'POST',
    path: string,
    body: unknown,
    signal: AbortSignal,
  ): Promise<HttpResult> =>
    callWithRetries(
      {
        method,
        url: `${base}${path}`,
        headers: {
          accept: 'application/json',
          ...(body === null ? {} : { 'content-type': 'application/json' }),
          ...bearer(options.apiKey()),
        },
        body: body === null ? null : JSON.stringify(body),
        maxBytes: options.maxReplyBytes * ENVELOPE_FACTOR,
        signal,
      },
      options.now,
    );

  return {
    async run(input, signal) {
      if (input.kind === 'wake') return readWake(await call('GET', '/models', null, signal), options);
      const body = {
        model: options.model,
        messages: messagesOf(input, options),
        max_tokens: options.maxTokens,
        stream: false,
      };
      return readAnswer(await call('POST', '/chat/completions', body, signal), options);
    },
  };
}

function messagesOf(input: AgentInput, options: OpenAiOptions): { role: string; content: string }[] {
  const system = options.system === null ? [] : [{ role: 'system', content: options.system }];
  const history = newest(input.history, options.historyMessages, options.historySizeBytes);
  return [...system, ...history, { role: 'user', content: input.message ?? '' }];
}

/** Returns the newest entries within both limits. The first one is a user's message, because servers expect that. */
export function newest(
  history: readonly HistoryEntry[],
  maxMessages: number,
  maxBytes: number,
): readonly HistoryEntry[] {
  let start = history.length;
  let bytes = 0;
  for (let i = history.length - 1; i >= 0 && history.length - i <= maxMessages; i--) {
    bytes += Buffer.byteLength(history[i]?.content ?? '');
    if (bytes > maxBytes) break;
    if (history[i]?.role === 'user') start = i;
  }
  return history.slice(start);
}

/** A wake has no message. It only checks that the server answers and accepts the key. */
function readWake(result: HttpResult, options: OpenAiOptions): AgentOutput {
  if (!result.ok) return failed(result.detail);
  // Some servers do not list their models. They are available nevertheless.
  if (result.status === 404 || result.status === 405) return { ok: true, reply: '' };
  if (result.status < 200 || result.status > 299) return failed(refusalOf(result, options));
  return { ok: true, reply: '' };
}

function readAnswer(result: HttpResult, options: OpenAiOptions): AgentOutput {
  if (!result.ok) return failed(result.detail);
  if (result.status < 200 || result.status > 299) return failed(refusalOf(result, options));
  const reply = contentOf(result.body);
  if (reply === null) return failed(`the answer is not a chat completion: ${excerpt(result.body)}`);
  if (reply.trim() === '') return failed('the model returned an empty answer');
  if (Buffer.byteLength(reply) > options.maxReplyBytes) return failed(tooLong(options.maxReplyBytes));
  return { ok: true, reply };
}

/** Returns `choices[0].message.content`, or the model's refusal; null when there is neither. */
function contentOf(body: Buffer): string | null {
  const message = member(member(member(parseJson(body.toString('utf8')), 'choices'), 0), 'message');
  const text = member(message, 'content') ?? member(message, 'refusal');
  return typeof text === 'string' ? text.replaceAll('\0', '\uFFFD') : null;
}

function member(value: unknown, key: string | number): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as Record<string | number, unknown>)[key] ?? undefined;
}

/** Returns why the server refused, for the operator. The text omits the key, which some servers quote. */
function refusalOf({ status, body }: Extract<HttpResult, { ok: true }>, options: OpenAiOptions): string {
  const fault = statusFault(status, Buffer.from(messageOf(body)));
  const key = options.apiKey();
  const safe = key === null ? fault : fault.replaceAll(key, '(hidden)');
  const hint = HINTS[status]?.(options);
  return hint === undefined ? safe : `${hint} (${safe})`;
}

const HINTS: Readonly<Record<number, (options: OpenAiOptions) => string>> = {
  400: () => 'the server does not accept the request',
  401: (options) =>
    options.apiKey() === null ? 'the server requires a key: set apiKeyFile' : 'the server refused the key',
  403: () => 'the key has no permission for this request',
  404: ({ model }) => `unknown model ${model}, or wrong baseUrl`,
  413: () => 'the conversation is too long for the server',
  429: () => 'the rate limit or the quota of the server is exceeded',
};

/** Returns `error.message` of an error response, or the response itself. */
function messageOf(body: Buffer): string {
  const text = body.toString('utf8');
  const error = member(parseJson(text), 'error');
  const message = member(error, 'message') ?? error;
  return typeof message === 'string' ? message : text;
}
