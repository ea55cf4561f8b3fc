// Tags of accounts: short words for grouping.
import { hasControl } from '../../text.js';

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
