// Names that users chose, in the texts of notices. A stranger must not use them to send a link from the operator's mailbox.
import { withoutUnprintable } from '../text.js';

/** A character by which mail clients and messengers find addresses in text, between two others, or `@` anywhere. */
const LINKING = /(?<=\S)[.。．｡:](?=\S)|@/gu;

/**
 * Returns `text` so that no client makes a link of it, cut to `maxLength` characters: `http://a.example` becomes
 * `http[:]//a[.]example`. A text without addresses stays as it is.
 */
export function withoutLinks(text: string, maxLength: number): string {
  const shown = withoutUnprintable(text);
  const chars = [...shown];
  const cut = chars.length > maxLength ? `${chars.slice(0, maxLength).join('')}…` : shown;
  return cut.replace(LINKING, '[$&]');
}
