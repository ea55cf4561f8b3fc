// The WeCom (企业微信) channel: a message by the robot of a group (https://developer.work.weixin.qq.com/document/path/91770).
import type { NoticeSettings } from '../../core/notices/notice-settings.js';
import { postJson } from './post-json.js';
import type { SenderDeps, SendNotice } from './send-notice.js';

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
