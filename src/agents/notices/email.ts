// The e-mail channel: sends notices through an SMTP server.
import type { NoticeSettings } from '../../core/notices/notice-settings.js';
import { oneLine } from '../../core/text.js';
import type { SenderDeps, SendNotice } from './send-notice.js';

const MAX_DETAIL = 300;
const detailOf = (text: string): string => oneLine(text).slice(0, MAX_DETAIL);

/** Loaded only where e-mail is set up, because the package is a sixth of the program. */
let mailer: Promise<typeof import('nodemailer')> | null = null;

/** Loads the package too. Returns null when e-mail is not set up. */
export function createEmailSender(
  { host, port, security, user, password, from }: NoticeSettings['email'],
  { timeoutMs }: SenderDeps,
): SendNotice | null {
  if (host === null || from === '') return null;
  mailer ??= import('nodemailer');
  const loaded = mailer;
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
