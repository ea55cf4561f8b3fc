// The length of user names and passwords: SOCKS carries at most 255 bytes of each (RFC 1929 §2).
import { t } from '../../../lib/i18n.js';

const MAX_BYTES = 255;
const bytesOf = (text: string): number => new TextEncoder().encode(text).length;

export const tooManyBytes = (text: string): boolean => bytesOf(text) > MAX_BYTES;

/** The error of a field whose text is too long: it says so, and cuts nothing off. undefined: the text fits. */
export const lengthError = (text: string): string | undefined =>
  tooManyBytes(text) ? t('account.tooLong', { n: bytesOf(text), max: MAX_BYTES }) : undefined;
