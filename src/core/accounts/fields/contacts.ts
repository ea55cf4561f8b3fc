// The contact addresses of an account's player, and the player's language.

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
  const { email, telegram, language } = change;
  const next = {
    email: email === undefined ? contacts.email : email,
    telegram: telegram === undefined ? contacts.telegram : telegram,
    language: language === undefined ? contacts.language : language,
  };
  return Object.values(next).every((value) => value === null) ? NO_CONTACTS : next;
}

/** Shortens an e-mail address or chat id for the audit log, which contains only its beginning: `a…@example.com`, `12…`. */
export function maskedContact(contact: string): string {
  const at = contact.lastIndexOf('@');
  // A chat id may be the name of a channel: `@name`.
  return at > 0 ? `${contact.slice(0, 1)}…${contact.slice(at)}` : `${contact.slice(0, 2)}…`;
}
