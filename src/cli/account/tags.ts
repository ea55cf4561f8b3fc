// Tags on the command line: repeatable options such as `--tag vip --tag shop-2`.
import { InvalidArgumentError } from 'commander';
import { isValidTag, TAG_RULE } from '../../core/accounts/fields/tags.js';

/** Commander's parser for a repeatable option: appends `tag` to the tags given so far. */
export function collectTag(tag: string, before: readonly string[] = []): readonly string[] {
  if (!isValidTag(tag)) throw new InvalidArgumentError(`${TAG_RULE.replace(/^a/, 'A')}.`);
  return [...before, tag];
}

/** Whether `tags` contains all of `wanted`. */
export function hasTags(tags: readonly string[], wanted: readonly string[] = []): boolean {
  return wanted.every((tag) => tags.includes(tag));
}
