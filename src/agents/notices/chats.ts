// The messengers that take a notice as JSON: Telegram (https://core.telegram.org/bots/api#sendmessage), and a WeCom (企业微信) group
// by its robot (https://developer.work.weixin.qq.com/document/path/91770).
import type { NoticeSettings } from '../../core/notices/notice-settings.js';
import { callHttp, excerpt, retryAfterMs } from '../http-call.js';
import type { SenderDeps, SendNotice } from './send-notice.js';

/** "1-4096 characters after entities parsing". */
const MAX_CHARACTERS = 4096;

export function createTelegramSender(
  { baseUrl, token }: NoticeSettings['telegram'],
  deps: SenderDeps,
): SendNotice | null {
  if (token === null) return null;
  const url = `${baseUrl.replace(/\/+$/, '')}/bot${token}/sendMessage`;
  return async ({ to, text }, signal) => {
    const answer = await postJson(url, { chat_id: to, text: text.slice(0, MAX_CHARACTERS) }, signal, deps);
    if (!answer.ok) return { ok: false, detail: answer.detail, again: true };
    const { status, json } = answer;
    const detail = `HTTP ${status}: ${json['description'] ?? answer.text}`;
    if (json['ok'] === true) return { ok: true, detail };
    // Of the 4xx statuses only 429 is temporary. For the others the chat, the bot or its token is wrong.
    const again = status === 429 || status >= 500 || json['ok'] === undefined;
    const { retry_after: seconds } = (json['parameters'] ?? {}) as { retry_after?: unknown };
    const afterMs = typeof seconds === 'number' ? seconds * 1000 : answer.afterMs;
    return { ok: false, detail, again, ...(afterMs === null ? {} : { afterMs }) };
  };
}

/** Maximum size of a text message's content, in bytes of UTF-8. */
const MAX_BYTES = 2048;
/** "api freq out of limit" and "system busy": these errors are temporary. */
const TEMPORARY_ERRORS = new Set([45009, -1]);

export function createWecomSender(
  { baseUrl, key }: NoticeSettings['wecom'],
  deps: SenderDeps,
): SendNotice | null {
  if (key === null) return null;
  const url = `${baseUrl.replace(/\/+$/, '')}/cgi-bin/webhook/send?key=${encodeURIComponent(key)}`;
  return async ({ text }, signal) => {
    const content = cut(text);
    const answer = await postJson(url, { msgtype: 'text', text: { content } }, signal, deps);
    if (!answer.ok) return { ok: false, detail: answer.detail, again: true };
    const { status, json } = answer;
    const detail = `HTTP ${status}: ${json['errmsg'] ?? answer.text}`;
    const code = json['errcode'];
    if (code === 0) return { ok: true, detail };
    return { ok: false, detail, again: typeof code !== 'number' || TEMPORARY_ERRORS.has(code) };
  };
}

/** Shortens a text to `MAX_BYTES`, at a character boundary. */
function cut(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= MAX_BYTES) return text;
  return new TextDecoder().decode(bytes.subarray(0, MAX_BYTES), { stream: true });
}

type JsonAnswer =
  | {
      readonly ok: true;
      readonly status: number;
      readonly json: Readonly<Record<string, unknown>>;
      /** The beginning of the answer, on one line. */
      readonly text: string;
      readonly afterMs: number | null;
    }
  | { readonly ok: false; readonly detail: string };

const MAX_ANSWER_BYTES = 64 * 1024;

/**
 * Sends the request and reads the answer. The result never contains the URL, which may contain a secret. An answer that is no JSON
 * object counts as an empty object.
 */
async function postJson(
  url: string,
  body: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
  { timeoutMs, now }: SenderDeps,
): Promise<JsonAnswer> {
  const result = await callHttp({
    method: 'POST',
    url,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    maxBytes: MAX_ANSWER_BYTES,
    signal,
    timeoutMs,
  });
  if (!result.ok) return { ok: false, detail: result.detail };
  const { status, headers } = result;
  return {
    ok: true,
    status,
    json: readObject(result.body),
    text: excerpt(result.body),
    afterMs: retryAfterMs(headers, now()),
  };
}

function readObject(body: Buffer): Readonly<Record<string, unknown>> {
  try {
    const json: unknown = JSON.parse(body.toString('utf8'));
    return typeof json === 'object' && json !== null ? (json as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
