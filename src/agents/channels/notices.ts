// Sends notices by the channels: e-mail, Telegram and WeCom.
import type { DeliveryOutcome } from '../../core/agents/runs.js';
import type { NoticeChannel } from '../../core/notices/notice.js';
import type { NoticeSettings } from '../../core/notices/notice-settings.js';
import { oneLine, parseJson } from '../../core/text.js';
import type { Clock } from '../../core/time/clock.js';
import { once } from '../../core/time/turns.js';
import { callHttp, excerpt, retryAfterMs } from '../http-call.js';

/** A notice in the form that a channel sends. */
export interface NoticeMessage {
  /** The same at every attempt. */
  readonly id: string;
  readonly subject: string;
  readonly text: string;
  /** E-mail address or chat id; '' for a channel with only one receiver. */
  readonly to: string;
}

export type SendNotice = (message: NoticeMessage, signal: AbortSignal) => Promise<DeliveryOutcome>;

interface SenderDeps {
  /** Maximum duration of an attempt, in ms. */
  readonly timeoutMs: number;
  readonly now: Clock;
}

/** Returns null when the channel is not set up. */
export function createNoticeSender(
  channel: NoticeChannel,
  settings: NoticeSettings,
  deps: SenderDeps,
): SendNotice | null {
  switch (channel) {
    case 'email':
      return createEmailSender(settings.email, deps);
    case 'telegram':
      return createTelegramSender(settings.telegram, deps);
    case 'wecom':
      return createWecomSender(settings.wecom, deps);
  }
}

/** "1-4096 characters after entities parsing". */
const MAX_CHARACTERS = 4096;

function createTelegramSender(
  { baseUrl, token }: NoticeSettings['telegram'],
  deps: SenderDeps,
): SendNotice | null {
  if (token === null) return null;
  const url = `${baseUrl.replace(/\/+$/, '')}/bot${token}/sendMessage`;
  return async ({ to, text }, signal) => {
    const answer = await postJson(url, { chat_id: to, text: text.slice(0, MAX_CHARACTERS) }, signal, deps);
    if (!answer.ok) return answer;
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

function createWecomSender({ baseUrl, key }: NoticeSettings['wecom'], deps: SenderDeps): SendNotice | null {
  if (key === null) return null;
  const url = `${baseUrl.replace(/\/+$/, '')}/cgi-bin/webhook/send?key=${encodeURIComponent(key)}`;
  return async ({ text }, signal) => {
    const content = cut(text);
    const answer = await postJson(url, { msgtype: 'text', text: { content } }, signal, deps);
    if (!answer.ok) return answer;
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

const MAX_ANSWER_BYTES = 64 * 1024;

/**
 * Sends the request and reads the answer: `text` is its beginning, on one line. The result never contains the URL, which may contain
 * a secret. An answer that is no JSON object counts as an empty object. Without an answer, returns the outcome of the attempt.
 */
async function postJson(
  url: string,
  body: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
  { timeoutMs, now }: SenderDeps,
) {
  const result = await callHttp({
    method: 'POST',
    url,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    maxBytes: MAX_ANSWER_BYTES,
    signal,
    timeoutMs,
  });
  if (!result.ok) return { ok: false, detail: result.detail, again: true } as const;
  const { status, headers, body: answer } = result;
  const afterMs = retryAfterMs(headers, now());
  return { ok: true, status, json: readObject(answer), text: excerpt(answer), afterMs } as const;
}

function readObject(body: Buffer): Readonly<Record<string, unknown>> {
  const json = parseJson(body.toString('utf8'));
  return typeof json === 'object' && json !== null ? (json as Record<string, unknown>) : {};
}

const MAX_DETAIL = 300;
const detailOf = (text: string): string => oneLine(text).slice(0, MAX_DETAIL);

/** Loaded only where e-mail is set up, because the package is a sixth of the program. */
const loadMailer = once(() => import('nodemailer'));

/** Loads the package too. Returns null when e-mail is not set up. */
function createEmailSender(
  { host, port, security, user, password, from }: NoticeSettings['email'],
  { timeoutMs }: SenderDeps,
): SendNotice | null {
  if (host === null || from === '') return null;
  const loaded = loadMailer();
  // A sender that cannot load it says so at each attempt.
  loaded.catch(() => {});
  const openTransport = async () =>
    (await loaded).createTransport({
      host,
      port,
      secure: security === 'tls',
      requireTLS: security === 'starttls',
      ignoreTLS: security === 'none',
      ...(user === null ? {} : { auth: { user, pass: password ?? '' } }),
      disableFileAccess: true,
      disableUrlAccess: true,
    });
  return async ({ id, to, subject, text }, signal) => {
    const late = AbortSignal.timeout(timeoutMs);
    const opened = openTransport();
    try {
      // RFC 5322 §3.6.4: every attempt of a message has the same id, by which mailboxes detect repeats.
      const messageId = `<${id}@${from.slice(from.lastIndexOf('@') + 1).replace(/>$/, '')}>`;
      const until = AbortSignal.any([signal, late]);
      const sent = await (await opened).sendMail({ from, to, subject, text, messageId, signal: until });
      return { ok: true, detail: detailOf(sent.response) };
    } catch (error) {
      const detail = late.aborted ? `no answer within ${timeoutMs} ms` : detailOf(explain(error));
      return { ok: false, detail, again: isTemporary(error) };
    } finally {
      await opened.then(
        (transport) => transport.close(),
        () => {},
      );
    }
  };
}

/** Returns the server's response if there is one, otherwise the error message. */
function explain(error: unknown): string {
  const { response, message } = error as { response?: unknown; message?: unknown };
  return typeof response === 'string' && response !== '' ? response : String(message ?? error);
}

/** RFC 5321 §4.2.1: a 5yz reply is permanent. Errors without a reply are temporary. */
function isTemporary(error: unknown): boolean {
  const { responseCode } = error as { responseCode?: unknown };
  return typeof responseCode !== 'number' || responseCode < 500;
}
