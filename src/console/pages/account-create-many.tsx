// The part of the dialog that creates many accounts: their names by a pattern or a list, with a preview.
import { useEffect, useState } from 'preact/hooks';
import type { NewAccounts, NewAccountsResult } from '../api-types.js';
import { call } from '../lib/api.js';
import { t } from '../lib/i18n.js';
import { fieldsOf } from '../lib/paste.js';
import { useSettled } from '../ui/basics.js';
import { Area, Field, Input, Segments } from '../ui/form.js';
import { Failure } from '../ui/states.js';
import { Skipped } from './bulk-preview.js';

export interface ManyTexts {
  readonly source: 'pattern' | 'list';
  readonly pattern: string;
  readonly list: string;
}

interface Preview {
  readonly result: NewAccountsResult | null;
  readonly error: unknown;
}

export function ManyNames({
  values: { source, pattern, list },
  onChange,
  preview,
}: {
  readonly values: ManyTexts;
  readonly onChange: (changes: Partial<ManyTexts>) => void;
  readonly preview: Preview;
}) {
  return (
    <>
      <Segments
        value={source}
        label={t('create.source')}
        onChange={(next) => onChange({ source: next })}
        options={[
          { value: 'pattern', label: t('create.pattern') },
          { value: 'list', label: t('create.list') },
        ]}
      />
      {source === 'pattern' ? (
        <Field path="pattern" label={t('create.pattern')} hint={t('create.pattern.hint')}>
          <Input value={pattern} onInput={(text) => onChange({ pattern: text })} autoFocus />
        </Field>
      ) : (
        <Field label={t('create.list')} hint={t('create.list.hint')}>
          <Area
            value={list}
            onInput={(text) => onChange({ list: text })}
            rows={6}
            mono
            placeholder={'player01,secret01,QQ 10001,player@example.com\nplayer02'}
          />
        </Field>
      )}
      {preview.error ? <Failure error={preview.error} /> : <NewPreview result={preview.result} />}
    </>
  );
}

/** One account per line: user name, password, remarks, e-mail, Telegram, separated by commas or tabs. Only the user name is required. */
export function parseList(text: string): NonNullable<NewAccounts['list']> {
  return text
    .split(/\r?\n/)
    .map(fieldsOf)
    .flatMap(([username = '', password = '', remarks = '', email = '', telegram = '']) => {
      if (username === '') return [];
      const contacts = { ...(email ? { email } : {}), ...(telegram ? { telegram } : {}) };
      return {
        username,
        ...(password ? { password } : {}),
        ...(remarks ? { remarks } : {}),
        ...(email || telegram ? { contacts } : {}),
      };
    });
}

/** What creating the accounts of `body` would do; nothing is written. */
export function usePreview(body: NewAccounts | null): Preview {
  const current = JSON.stringify(body);
  const question = useSettled(current, 300);
  const [state, setState] = useState<Preview & { readonly question: string }>({
    question: '',
    result: null,
    error: null,
  });
  useEffect(() => {
    const asked = JSON.parse(question) as NewAccounts | null;
    if (!asked || (asked.pattern ?? '') === '' ? (asked?.list?.length ?? 0) === 0 : false) return;
    const abort = new AbortController();
    call('createAccounts', { body: { ...asked, dryRun: true }, signal: abort.signal }).then(
      (result) => setState({ question, result, error: null }),
      (error: unknown) => abort.signal.aborted || setState({ question, result: null, error }),
    );
    return () => abort.abort();
  }, [question]);
  // A result of another text does not apply to this one.
  return state.question === current ? state : { result: null, error: null };
}

/** `result`: null while the text is typed and read. The preview keeps its place then, so that no field below it moves. */
function NewPreview({ result }: { result: NewAccountsResult | null }) {
  const names = result?.usernames ?? [];
  if (!result)
    return (
      <div class="preview" aria-busy="true">
        <span class="soft">…</span> <span class="soft">…</span>
      </div>
    );
  return (
    <div class="preview">
      <strong>{t('create.preview', { n: result.count })}</strong>{' '}
      <span class="soft">
        {names.slice(0, 3).join(', ')}
        {names.length > 3 && ` … ${names.at(-1)}`}
      </span>
      <Skipped list={result.skipped} />
    </div>
  );
}
