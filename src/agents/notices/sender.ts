// Creates the sender of a channel. A sender makes one attempt and returns the outcome with the receiver's answer. It never rejects.
import type { NoticeChannel } from '../../core/notices/notice.js';
import type { NoticeSettings } from '../../core/notices/notice-settings.js';
import { createSignedPost } from '../channels/http.js';
import { createTelegramSender, createWecomSender } from './chats.js';
import { createEmailSender } from './email.js';
import type { SenderDeps, SendNotice } from './send-notice.js';

/** Returns null when the channel is not set up. */
export function createNoticeSender(
  channel: NoticeChannel,
  settings: NoticeSettings,
  deps: SenderDeps,
): SendNotice | null {
  switch (channel) {
    case 'webhook': {
      const { url, secret } = settings.webhook;
      if (url === null) return null;
      const post = createSignedPost({ url, secret, ...deps });
      return ({ id, body }, signal) => post(id, JSON.stringify(body), signal);
    }
    case 'email':
      return createEmailSender(settings.email, deps);
    case 'telegram':
      return createTelegramSender(settings.telegram, deps);
    case 'wecom':
      return createWecomSender(settings.wecom, deps);
  }
}
