// A form field for tags: words separated by commas, and buttons for tags in use.
import type { Controlled } from '../../../lib/draft.js';
import { t } from '../../../lib/i18n.js';
import { useLoad } from '../../../lib/load.js';
import { Button } from '../../../ui/basics.js';
import { Field, Input } from '../../../ui/form.js';

/** The most tags that the daemon accepts: src/core/accounts/fields/contacts.ts. */
const MAX_TAGS = 16;
const MAX_TAG_CHARS = 32;
/** The number of tags in use that the field offers: those with the most accounts. */
const OFFERED = 12;

/** Returns the tags of a text; undefined while a tag is too long or there are too many tags. */
export function readTags(text: string): readonly string[] | undefined {
  const tags = text.split(/[,;，；、]/).map((tag) => tag.trim());
  const named = [...new Set(tags)].filter((tag) => tag !== '').sort();
  return named.length <= MAX_TAGS && named.every((tag) => tag.length <= MAX_TAG_CHARS) ? named : undefined;
}

export const tagsText = (tags: readonly string[]): string => tags.join(', ');

interface Props extends Controlled<string> {
  readonly label: string;
  /** Whether the daemon adds the tags to accounts, or removes them. */
  readonly isRemoved?: boolean;
  readonly autoFocus?: boolean;
}

export function TagField({ label, value, onInput, isRemoved = false, autoFocus = false }: Props) {
  const { data } = useLoad('listTags', {});
  const given = readTags(value);
  const offered = (data?.items ?? [])
    .filter(({ tag }) => !given?.includes(tag))
    .toSorted((a, b) => b.accounts - a.accounts)
    .slice(0, OFFERED);
  return (
    <div class="stack tight">
      <Field path="tags" label={label} hint={t('tags.hint')} error={given ? undefined : t('tags.wrong')}>
        <Input value={value} onInput={onInput} autoFocus={autoFocus} />
      </Field>
      {offered.length > 0 && given && (
        <fieldset class="chips" aria-label={t('tags.known')}>
          {offered.map(({ tag }) => (
            <Button key={tag} kind="chip" onClick={() => onInput(tagsText([...given, tag].sort()))}>
              {isRemoved ? '−' : '+'} {tag}
            </Button>
          ))}
        </fieldset>
      )}
    </div>
  );
}
