// The rules of contacts and of tags.
import { hasControl } from '../../text.js';

export const CONTACT_LANGUAGES = ['zh', 'en'] as const;

export interface Contacts {
  readonly email: string | null;
  /** Id of the chat with the operator's bot, or the name of a channel. */
  readonly telegram: string | null;
  /** null: the language of the notice settings. */
  readonly language: (typeof CONTACT_LANGUAGES)[number] | null;
}

/** The shared value of accounts without contacts, which are most accounts. */
export const NO_CONTACTS: Contacts = { email: null, telegram: null, language: null };

const MAIL_CHARS = 254;
const MAIL = /^[^\s@<>()[\]\\,;:"\p{C}]+@[^\s@<>()[\]\\,;:"\p{C}]+$/u;

/** Returns whether a text is one e-mail address without a display name (RFC 5321 §4.5.3.1.3: 254 characters). */
export function isMailAddress(text: string): boolean {
  return text.length <= MAIL_CHARS && MAIL.test(text);
}

/** Returns whether a text is the id of a chat or group, or the name of a public channel. */
export function isChatId(text: string): boolean {
  return /^-?\d{1,19}$/.test(text) || /^@[A-Za-z]\w{3,63}$/.test(text);
}

/** Returns the first invalid part; null: all parts are valid. */
export function wrongContact({
  email,
  telegram,
}: { readonly [K in 'email' | 'telegram']?: string | null | undefined }): 'email' | 'telegram' | null {
  if (email != null && !isMailAddress(email)) return 'email';
  return telegram != null && !isChatId(telegram) ? 'telegram' : null;
}

/** Applies a change. A part that is undefined stays unchanged. */
export function changedContacts(contacts: Contacts, change: Partial<Contacts> | undefined): Contacts {
  if (change === undefined) return contacts;
  const { email = contacts.email, telegram = contacts.telegram, language = contacts.language } = change;
  const next = { email, telegram, language };
  return Object.values(next).every((value) => value === null) ? NO_CONTACTS : next;
}

/** Shortens an e-mail address or chat id for the audit log, which contains only its beginning: `a…@example.com`, `12…`. */
export function maskedContact(contact: string): string {
  const at = contact.lastIndexOf('@');
  // A chat id may be the name of a channel: `@name`.
  return at > 0 ? `${contact.slice(0, 1)}…${contact.slice(at)}` : `${contact.slice(0, 2)}…`;
}

/** Of one account. */
export const MAX_TAGS = 16;
export const MAX_TAG_CHARS = 32;

// Separators of tags in fields, files and URLs.
const SEPARATORS = /[,;，；、]/;

/** What a valid tag is, for an error. */
export const TAG_RULE = `a tag is 1 to ${MAX_TAG_CHARS} characters without commas, semicolons and control characters`;

/** Whether `tag` is valid: no surrounding white space and no separators. */
export function isValidTag(tag: string): boolean {
  return (
    tag !== '' &&
    tag.length <= MAX_TAG_CHARS &&
    tag.trim() === tag &&
    !SEPARATORS.test(tag) &&
    !hasControl(tag) &&
    tag.isWellFormed()
  );
}

/** Whether `tags` is a valid list of tags without duplicates. */
export function areValidTags(tags: readonly string[]): boolean {
  return tags.length <= MAX_TAGS && tags.every(isValidTag);
}

/** Removes duplicates and sorts, so that equal sets are equal lists. */
export function uniqueTags(tags: Iterable<string>): readonly string[] {
  return [...new Set(tags)].sort();
}

/** Splits a text such as `vip, shop 2；monthly` into tags without validation. */
export function tagsOfText(text: string): string[] {
  return text
    .split(SEPARATORS)
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '');
}

/** The text for files and tables; `tagsOfText` parses it. */
export const textOfTags = (tags: readonly string[]): string => tags.join(', ');

/** The tags after adding some and removing some; a tag in both is removed. */
export function changedTags(
  tags: readonly string[],
  { add, remove }: { readonly add: readonly string[]; readonly remove: readonly string[] },
): readonly string[] {
  return uniqueTags([...tags, ...add].filter((tag) => !remove.includes(tag)));
}
