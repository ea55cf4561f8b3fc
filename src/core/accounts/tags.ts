// Tags of accounts: short words by which an operator groups them.

/** Of one account. */
export const MAX_TAGS = 16;
export const MAX_TAG_CHARS = 32;

// They separate tags in fields, files and addresses.
const SEPARATORS = /[,;，；、]/;
const UNUSABLE = /[\u0000-\u001f\u007f-\u009f\u2028\u2029,;，；、]/;

/** What a valid tag is, for an error. */
export const TAG_RULE = `a tag is 1 to ${MAX_TAG_CHARS} characters without commas, semicolons and control characters`;

/** Whether `tag` may be kept: nothing around it, no separator in it. */
export function isValidTag(tag: string): boolean {
  return (
    tag !== '' &&
    tag.length <= MAX_TAG_CHARS &&
    tag.trim() === tag &&
    !UNUSABLE.test(tag) &&
    tag.isWellFormed()
  );
}

/** Whether an account may have these tags, each once. */
export function areValidTags(tags: readonly string[]): boolean {
  return tags.length <= MAX_TAGS && tags.every(isValidTag);
}

/** Each once, in one order, so that equal sets are equal lists. */
export function inOrder(tags: Iterable<string>): readonly string[] {
  return [...new Set(tags)].sort();
}

/** The tags of a text such as `vip, shop 2；monthly`, not yet checked. */
export function tagsOfText(text: string): string[] {
  return text
    .split(SEPARATORS)
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '');
}

/** How a file and a table show them; `tagsOfText` reads it. */
export const textOfTags = (tags: readonly string[]): string => tags.join(', ');

/** The tags after some were added and some removed; one that is both is removed. */
export function changedTags(
  tags: readonly string[],
  { add, remove }: { readonly add: readonly string[]; readonly remove: readonly string[] },
): readonly string[] {
  return inOrder([...tags, ...add].filter((tag) => !remove.includes(tag)));
}
