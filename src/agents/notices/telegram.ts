// The Telegram channel: `sendMessage` of a bot (https://core.telegram.org/bots/api#sendmessage).
import type { NoticeSettings } from '../../core/notices/notice-settings.js';
import { postJson } from './post-json.js';
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
