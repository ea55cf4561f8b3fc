// Tags on the command line: options that may be given several times, `--tag vip --tag shop-2`.
import { InvalidArgumentError } from 'commander';
import { isValidTag, TAG_RULE } from '../core/accounts/tags.js';

/** For commander: adds one more tag to those given before. */
export function collectTag(tag: string, before: readonly string[] = []): readonly string[] {
  if (!isValidTag(tag)) throw new InvalidArgumentError(`${TAG_RULE.replace(/^a/, 'A')}.`);
  return [...before, tag];
}

/** Whether an account has every one of them. */
export function hasTags(tags: readonly string[], wanted: readonly string[] = []): boolean {
  return wanted.every((tag) => tags.includes(tag));
}
