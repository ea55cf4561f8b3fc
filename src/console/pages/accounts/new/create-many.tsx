// The part of the dialog that creates many accounts: their names by a pattern or a list, with a preview.
import type { NewAccounts, NewAccountsResult } from '../../../api-types.js';
import { call } from '../../../lib/api.js';
import { controlOf } from '../../../lib/draft.js';
import { type TextKey, t } from '../../../lib/i18n.js';
import { type Preview, usePreview } from '../../../lib/load.js';
import { ScrollBox } from '../../../ui/basics.js';
import { AreaField, Checkbox, InputField, optionsOf, Segments, Select } from '../../../ui/form.js';
import { SmallTable } from '../../../ui/small-table.js';
import { Failure } from '../../../ui/states.js';
import { Skipped } from '../bulk/bulk-preview.js';
import { fieldLabel } from '../fields/field-words.js';
import type { Pasted, PastedLine, Separator } from './paste.js';
import { FIELD_NAMES, readPasted, SEPARATORS } from './paste.js';

export const NO_MANY_TEXTS = {
  source: 'pattern' as 'pattern' | 'list',
  pattern: 'player{001-020}',
  list: '',
  /** '': recognised. */
  separator: '' as Separator | '',
  /** Whether the first line of the list is a heading; '': recognised. */
  heading: '' as '' | 'yes' | 'no',
};
type ManyTexts = Readonly<typeof NO_MANY_TEXTS>;

interface ManyNamesProps {
  readonly values: ManyTexts;
  readonly onChange: (changes: Partial<ManyTexts>) => void;
  readonly preview: Preview<NewAccountsResult>;
}

export function ManyNames({ values, onChange, preview }: ManyNamesProps) {
  const { source } = values;
  const control = controlOf(values, onChange);
  return (
    <>
      <Segments
        {...control('source')}
        label={t('effective.source')}
        options={optionsOf(['pattern', 'list'], (of) => t(`create.${of}`))}
      />
      {source === 'pattern' ? (
        <InputField of="create.pattern" path="pattern" {...control('pattern')} autoFocus />
      ) : (
        <>
          <AreaField
            of="create.list"
            {...control('list')}
            rows={6}
            mono
            placeholder={'player01,secret01,QQ 10001,player@example.com\nplayer02'}
          />
          <HowRead values={values} onChange={onChange} preview={preview} />
        </>
      )}
      {preview.error ? (
        <Failure error={preview.error} />
      ) : (
        <NewPreview result={preview.result} isList={source === 'list'} />
      )}
    </>
  );
}

/** Reads the list as it was pasted, and as the operator says that it is to be read. */
export const readList = ({ list, separator, heading }: ManyTexts): Pasted =>
  readPasted(list, {
    separator: SEPARATORS.find((each) => each === separator),
    heading: heading === '' ? undefined : heading === 'yes',
  });

export function accountsOf({ lines }: Pasted): NonNullable<NewAccounts['list']> {
  return lines
    .filter(({ wrong }) => wrong === null)
    .map(({ username, password, remarks, email, telegram }) => ({
      username,
      password: password || undefined,
      remarks: remarks || undefined,
      contacts:
        email || telegram ? { email: email || undefined, telegram: telegram || undefined } : undefined,
    }));
}

const SEPARATOR_TEXTS = {
  '\t': 'create.separator.tab',
  ',': 'create.separator.comma',
  ';': 'create.separator.semicolon',
  ':': 'create.separator.colon',
  ' ': 'create.separator.blank',
} as const satisfies Record<Separator, TextKey>;

/** How the list was read: what separates its fields, whether it has a heading, the lines that are left out, and the fields of the first ones. */
function HowRead({ values, onChange, preview }: ManyNamesProps) {
  const pasted = readList(values);
  if (pasted.lines.length === 0 && pasted.hasHeading === null) return null;
  const refusals = new Map(preview.result?.skipped.map(({ username, reason }) => [username, reason]));
  const reasonOf = ({ wrong, username }: PastedLine) => wrong ?? refusals.get(username);
  const refused = pasted.lines.filter((each) => reasonOf(each) !== undefined);
  const names = FIELD_NAMES.filter(
    (name) => name === 'username' || name === 'password' || pasted.lines.some((each) => each[name] !== ''),
  );
  return (
    <>
      <div class="row wrap">
        <label class="row soft">
          {t('create.separator')}
          <Select
            {...controlOf(values, onChange)('separator')}
            options={optionsOf(['', ...SEPARATORS], (each) =>
              each === ''
                ? t('create.separator.found', { separator: t(SEPARATOR_TEXTS[pasted.separator]) })
                : t(SEPARATOR_TEXTS[each]),
            )}
          />
        </label>
        {pasted.hasHeading !== null && (
          <Checkbox
            checked={pasted.hasHeading}
            onChange={(isHeading) => onChange({ heading: isHeading ? 'yes' : 'no' })}
          >
            {t('create.heading')}
          </Checkbox>
        )}
      </div>
      {refused.length > 0 && (
        <div class="refused-lines" role="status">
          <strong class="bad-text">{t('create.refused', { n: refused.length })}</strong>
          <ScrollBox look="names" label={t('create.refused', { n: refused.length })}>
            <ul>
              {refused.slice(0, SHOWN_REFUSED).map((each) => (
                <li key={each.line}>
                  {t('create.refused.line', {
                    line: each.line,
                    name: each.username || '—',
                    reason: t(`skipped.${reasonOf(each) ?? 'failed'}`),
                  })}
                </li>
              ))}
            </ul>
            {refused.length > SHOWN_REFUSED && t('bulk.notListed', { n: refused.length - SHOWN_REFUSED })}
          </ScrollBox>
        </div>
      )}
      <ScrollBox label={t('create.read')}>
        <SmallTable
          rows={pasted.lines.slice(0, SHOWN_READ)}
          id={({ line }) => line}
          rowLook={(line) => (reasonOf(line) === undefined ? '' : 'refused')}
          columns={names.map((name) => [
            fieldLabel(name),
            (line: PastedLine) =>
              line[name] || <span class="faint">{name === 'password' ? t('create.random') : '—'}</span>,
            name === 'remarks' ? '' : 'whole',
          ])}
        />
      </ScrollBox>
    </>
  );
}

const SHOWN_READ = 8;
const SHOWN_REFUSED = 100;

/** What creating these accounts would do; nothing is written. */
export function useNewPreview(body: NewAccounts | null): Preview<NewAccountsResult> {
  const isEmpty = (body?.pattern ?? '') === '' && (body?.list ?? []).length === 0;
  return usePreview(
    isEmpty ? null : body,
    (asked, signal) => call('createAccounts', { body: { ...asked, dryRun: true }, signal }),
    300,
  );
}

/** `result`: null while the text is typed and read. The preview keeps its place then, so that no field below it moves. */
function NewPreview({ result, isList }: { result: NewAccountsResult | null; isList: boolean }) {
  const names = result?.usernames ?? ['…'];
  return (
    <div class="preview stack near" aria-busy={result === null || undefined}>
      {result ? <strong>{t('create.preview', { n: result.count })}</strong> : <span class="soft">…</span>}{' '}
      <span class="soft">
        {names.slice(0, 3).join(', ')}
        {names.length > 3 && ` … ${names.at(-1)}`}
      </span>
      {/* The lines of a list are named above. */}
      {result && !isList && <Skipped list={result.skipped} />}
    </div>
  );
}
